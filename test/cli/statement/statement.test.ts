// Tests that svcpay statement adds up a year of transactions to the satoshi in every format, and
// names a missing transaction by its id.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import { describe, expect, onTestFinished } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/server.js';
import { deposit } from '../../support/deposit.js';
import { isInstalled } from '../../support/installed.js';
import { quickTime, svcpay, type Here } from '../../support/in-process.js';
import { test as base } from '../../support/svcpay.js';

/**
 * If the transactions do not add up to the balances, svcpay repeats both reads for up to 8 s, with
 * pauses that these tests skip.
 */
const test = base.extend<{ books: Here & { readonly sandbox: Sandbox } }>({
  books: async ({ home, sandbox }, use) =>
    use({ home, sandbox, ...quickTime(), sleep: () => Promise.resolve() }),
});

type Row = Record<string, string>;

const rowsOf = (stdout: string): Row[] => parse(stdout, { columns: true });

describe('svcpay statement', () => {
  test('lists a year of transactions that add up exactly to the balance of every wallet', async ({
    books,
  }) => {
    await books.sandbox.seed('history', 12);
    const run = await svcpay(['statement', '-o', 'csv'], books);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    const rows = rowsOf(run.stdout);
    const { accounts } = await books.sandbox.status();
    for (const { ccy, amount } of accounts[0]?.wallets ?? []) {
      const own = rows.filter(({ wallet }) => wallet === ccy);
      let balance = new Big(0);
      for (const row of own) {
        balance = balance
          .plus(row['in'] ?? 0)
          .minus(row['out'] ?? 0)
          .minus(row['fee'] ?? 0);
        expect(row['balance']).toBe(balance.toFixed());
      }
      expect([own[0]?.['kind'], own.at(-1)?.['kind'], own.at(-1)?.['balance']]).toEqual([
        'opening',
        'closing',
        new Big(amount).toFixed(),
      ]);
    }
    expect(new Set(rows.map(({ kind }) => kind))).toEqual(
      new Set(['opening', 'receive', 'send', 'swap', 'closing']),
    );
    expect(rows.length).toBeGreaterThan(250);
  });

  test('reads a settlement time once, and shows each row at the same time in every period', async ({
    books,
  }) => {
    await books.sandbox.seed('history', 6);
    const reads = (): number =>
      books.sandbox.requests('GET').filter(({ path }) => /\/transaction\/[^/?]+$/.test(path))
        .length;
    const whole = await svcpay(['statement', '--tz', 'UTC', '-o', 'csv'], books);
    const once = reads();
    expect(once).toBeGreaterThan(0);
    const all = rowsOf(whole.stdout).filter(({ txnId }) => txnId);
    const months = [...new Set(all.map(({ date = '' }) => date.slice(0, 7)))].toSorted();
    const parts: Row[] = [];
    for (const month of months) {
      const args = ['statement', '--from', month, '--to', month, '--tz', 'UTC', '-o', 'csv'];
      parts.push(...rowsOf((await svcpay(args, books)).stdout).filter(({ txnId }) => txnId));
    }
    expect(reads()).toBe(once);
    const sorted = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).toSorted();
    expect(sorted(parts)).toEqual(sorted(all));
  });

  test('starts a month with the closing balance of the previous month, in the given time zone', async ({
    books,
  }) => {
    await books.sandbox.seed('history', 3);
    const now = new Date(await books.sandbox.clock.now());
    const month = (ago: number): string =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1))
        .toISOString()
        .slice(0, 7);
    const statement = async (which: string): Promise<Row[]> =>
      rowsOf(
        (
          await svcpay(
            [
              'statement',
              '--from',
              which,
              '--to',
              which,
              '--tz',
              'Asia/Tokyo',
              '--wallet',
              'BTC',
              '-o',
              'csv',
            ],
            books,
          )
        ).stdout,
      );
    const [before, after] = [await statement(month(2)), await statement(month(1))];
    expect(after[0]?.['balance']).toBe(before.at(-1)?.['balance']);
    expect([after[0]?.['date'], after.at(-1)?.['date']?.slice(0, 7)]).toEqual([
      `${month(1)}-01`,
      month(1),
    ]);
    const days = [...before, ...after].filter(({ time }) => time !== '');
    for (const { date, time = '' } of days)
      expect(new Date(Date.parse(time) + 9 * 3_600_000).toISOString().slice(0, 10)).toBe(date);
  });

  test('reports no difference in the books of a new sandbox, even after sandbox fund', async ({
    books,
  }) => {
    expect(await svcpay(['statement', '-o', 'csv'], books)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(await svcpay(['sandbox', 'fund', '0.01btc'], books)).toMatchObject({ exitCode: 0 });
    expect(await svcpay(['statement', '-o', 'csv'], books)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
  });

  test('exits 10 until svcpay statement adjust records an unexplained opening balance', async ({
    books,
  }) => {
    await books.sandbox.seed('history');
    await deposit(books, '0.1');
    const run = await svcpay(['statement', '-o', 'csv'], books);
    expect(run.exitCode).toBe(10);
    expect(run.stderr).toMatch(/BTC {4}opening, not explained by a transaction +0\.10000000/);
    const [, opening, first] = rowsOf(run.stdout).filter(({ wallet }) => wallet === 'BTC');
    expect(opening).toMatchObject({ kind: 'adjustment', in: '0.1', note: 'opening balance' });
    const [, command = ''] = /svcpay (statement adjust 0\.1btc --on \S+)/.exec(run.stderr) ?? [];
    const adjust = [...command.split(' '), '--note', 'opening balance'];
    expect(adjust).toContain(first?.['date']);
    expect(await svcpay(adjust, books)).toMatchObject({ exitCode: 9, stdout: '' });
    const recorded = await svcpay([...adjust, '--yes', '--json'], books);
    expect(recorded.json()).toMatchObject([{ wallet: 'BTC', amount: 0.1 }]);
    const after = await svcpay(['statement', '-o', 'csv'], books);
    expect(after).toMatchObject({ exitCode: 0, stderr: '' });
    const closing = ({ kind, wallet, balance }: Row) => kind === 'closing' && [wallet, balance];
    expect(rowsOf(after.stdout).map(closing)).toEqual(rowsOf(run.stdout).map(closing));
  });

  test('reports when a difference arose, and prints a command that records an adjustment for the difference', async ({
    books,
  }) => {
    await books.sandbox.seed('history');
    expect(await svcpay(['statement', '-q'], books)).toMatchObject({ exitCode: 0 });
    await deposit(books, '0.01');
    const run = await svcpay(['statement', '-o', 'csv'], books);
    expect(run.exitCode).toBe(10);
    expect(run.stderr).toMatch(
      /0\.01000000 BTC more than the transactions explain, arose after 20\d\d-\d\d-\d\d \d\d:\d\d, when it last tied/,
    );
    expect(rowsOf(run.stdout).find(({ kind }) => kind === 'difference')).toMatchObject({
      wallet: 'BTC',
      in: '0.01',
      out: '0',
    });
    const [, command = ''] =
      /svcpay (statement adjust 0\.01btc --on \S+ --note deposit)/.exec(run.stderr) ?? [];
    expect(await svcpay([...command.split(' '), '--yes'], books)).toMatchObject({ exitCode: 0 });
    const explained = await svcpay(['statement', '-o', 'csv'], books);
    expect(explained).toMatchObject({ exitCode: 0, stderr: '' });
    expect(rowsOf(explained.stdout).find(({ kind }) => kind === 'adjustment')).toMatchObject({
      in: '0.01',
      note: 'deposit',
      date: / --on (\S+)/.exec(command)?.[1],
    });
  });

  test('requires the day of an adjustment unless the wallet added up today', async ({ books }) => {
    expect(await svcpay(['statement'], books)).toMatchObject({ exitCode: 0 });
    await books.sandbox.clock.advance('72h');
    await deposit(books, '0.01');
    const adjust = ['statement', 'adjust', '0.01btc', '--yes', '--json'];
    const refused = (await svcpay(adjust, books)).error();
    expect(refused).toMatchObject({ exitCode: 2, message: expect.stringContaining('between') });
    const [, first = ''] = /--on (\S+)/.exec(refused.hint ?? '') ?? [];
    expect(await svcpay([...adjust, '--on', first], books)).toMatchObject({ exitCode: 0 });
  });

  test('accepts a counter-entry for an adjustment, and refuses an invalid adjustment', async ({
    books,
  }) => {
    const adjust = (...args: string[]) =>
      svcpay(['statement', 'adjust', '--yes', '--json', ...args], books);
    expect(await adjust('0.01btc', '--on', '2026-01-02')).toMatchObject({ exitCode: 0 });
    expect(await svcpay(['statement'], books)).toMatchObject({ exitCode: 10 });
    const counter = await adjust('--on', '2026-01-02', '--note', 'undone', '--', '-0.01btc');
    expect(counter.json()).toMatchObject([{ wallet: 'BTC', amount: -0.01, note: 'undone' }]);
    expect(await svcpay(['statement'], books)).toMatchObject({ exitCode: 0, stderr: '' });
    for (const [exitCode, ...args] of [
      [5, '1kes'],
      [2, '0.01btc', '--on', '2100-01-01'],
      [2, '0.01btc', '--on', '2026-01'],
      [2, '--', '--1btc'],
      [2, '0btc'],
    ] as const)
      expect(await adjust(...args)).toMatchObject({ exitCode, stdout: '' });
  });

  test('reports no difference after a sandbox reset has deleted the recorded entries', async ({
    books,
  }) => {
    await svcpay(['statement', 'adjust', '0.01btc', '--on', '2026-01-02', '--yes'], books);
    expect(await svcpay(['sandbox', 'reset', '--yes'], books)).toMatchObject({ exitCode: 0 });
    expect(await svcpay(['statement'], books)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('lists a received payment in the month of its settlement, and shows its creation time in another column', async ({
    books,
  }) => {
    const { sandbox } = books;
    const now = new Date(await sandbox.clock.now());
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    await sandbox.clock.advance(end - now.getTime() - 60_000);
    const asked = await svcpay(['receive', 'onchain', '10000sat', '--json'], books);
    const { txnId } = asked.json() as { txnId: string };
    await sandbox.clock.advance('30m');
    await sandbox.pay(txnId);
    await sandbox.mine(6);
    const month = (at: number): string => new Date(at).toISOString().slice(0, 7);
    const of = async (which: string): Promise<Row[]> => {
      const period = ['--from', which, '--to', which, '--tz', 'UTC', '--wallet', 'BTC'];
      const run = await svcpay(['statement', ...period, '-o', 'csv'], books);
      expect(run).toMatchObject({ exitCode: 0, stderr: '' });
      return rowsOf(run.stdout);
    };
    const [before, after] = [await of(month(end - 1)), await of(month(end))];
    expect(before.map(({ kind }) => kind)).toEqual(['opening', 'closing']);
    expect(before.at(-1)?.['balance']).toBe('1');
    expect(after.map(({ kind }) => kind)).toEqual(['opening', 'receive', 'closing']);
    expect(after[1]).toMatchObject({ txnId, in: '0.0001' });
    expect(after[1]?.['time']?.slice(0, 7)).toBe(month(end));
    expect(after[1]?.['created']?.slice(0, 7)).toBe(month(end - 1));
    const reads = sandbox.requests('GET', `/api/v2/transaction/${txnId}`).length;
    await svcpay(['statement', '-q'], books);
    expect(sandbox.requests('GET', `/api/v2/transaction/${txnId}`)).toHaveLength(reads);
  });

  test('reports a payment that is missing from the list', async ({ books }) => {
    await books.sandbox.seed('history');
    const invoice = await books.sandbox.invoice('1000sat');
    const { stdout } = await svcpay(['send', 'lightning', invoice, '--yes', '-q'], books);
    const txnId = stdout.trim();
    await books.sandbox.faults.add({ kind: 'missing-row', txn: txnId, times: 'always' });
    const run = await svcpay(['statement', '--json'], books);
    expect(run.error()).toMatchObject({ kind: 'books-differ', exitCode: 10 });
    expect(run.error().message).toContain(
      `0.00001003 BTC less than the transactions explain. The difference is exactly the amount of ${txnId} (not in the list)`,
    );
  });

  test('shows the sums of the columns, which fees splits by method', async ({ books }) => {
    await books.sandbox.seed('history', 3);
    const run = await svcpay(['statement', '--month', 'last', '--json'], books);
    const lines = run.json() as { kind: string; wallet: string; totals?: { fee: number } }[];
    const fees = (await svcpay(['fees', 'last', '--json'], books)).json() as {
      wallet: string;
      fee: number;
    }[];
    for (const { kind, wallet, totals } of lines) {
      if (kind !== 'closing') continue;
      const of = fees.filter((row) => row.wallet === wallet);
      const sum = of.reduce((total, { fee }) => total.plus(fee), new Big(0));
      expect(`${sum.toFixed()} ${wallet}`).toBe(
        `${new Big(totals?.fee ?? -1).toFixed()} ${wallet}`,
      );
    }
    expect(fees.length).toBeGreaterThan(2);
    const sums = (await svcpay(['statement', 'totals', '--json'], books)).json() as Record<
      'fee' | 'serviceFee' | 'networkFee',
      number
    >[];
    for (const { fee, serviceFee, networkFee } of sums)
      expect(new Big(serviceFee).plus(networkFee).toFixed()).toBe(new Big(fee).toFixed());
    const listed = await svcpay(['tx', 'list', '--month', 'last', '--all', '--json'], books);
    const ids = new Set((listed.json() as { txnId: string }[]).map(({ txnId }) => txnId));
    expect(ids.size).toBeGreaterThan(20);
    expect(await svcpay(['tx', 'list', '--month', 'last', '--time', '7d'], books)).toMatchObject({
      exitCode: 2,
    });
  });

  test('refuses a reversed period, an unknown wallet, and --wallet with a ledger format', async ({
    books,
  }) => {
    for (const [args, exitCode] of [
      [['--from', '2026-10', '--to', '2026-09'], 2],
      [['--wallet', 'KES'], 5],
      [['-o', 'hledger', '--wallet', 'BTC'], 2],
      [['--tz', 'Mars/Base'], 2],
    ] as const) {
      expect(await svcpay(['statement', ...args], books)).toMatchObject({ exitCode, stdout: '' });
    }
  });
});

describe.each([
  ['hledger', ['hledger', '-f', 'FILE', 'check', '--strict'], / = (2\.\d+) BTC/],
  ['beancount', ['bean-check', 'FILE'], / (2\.\d+) ~ 0 BTC/],
] as const)('svcpay statement -o %s', (format, [program, ...args], assertion) => {
  const checked = (text: string): number | null => {
    const folder = mkdtempSync(join(tmpdir(), 'svcpay-statement-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, `books.${format}`);
    writeFileSync(file, text);
    return spawnSync(
      program,
      args.map((each) => (each === 'FILE' ? file : each)),
    ).status;
  };

  test.skipIf(!isInstalled(program))(
    'writes balances that the ledger program verifies to the satoshi',
    async ({ books }) => {
      await books.sandbox.seed('history', 2);
      const { stdout, exitCode } = await svcpay(
        ['statement', '-o', format, '--from', '2020-01'],
        books,
      );
      expect([exitCode, checked(stdout)]).toEqual([0, 0]);
      const wrong = stdout.replace(assertion, (text, amount: string) =>
        text.replace(amount, new Big(amount).plus('0.00000001').toFixed(8)),
      );
      expect(wrong).not.toBe(stdout);
      expect(checked(wrong)).not.toBe(0);
    },
  );

  test.skipIf(!isInstalled(program))(
    'writes consecutive months as parts of one file that the ledger program accepts, unless a balance is unexplained',
    async ({ books }) => {
      await books.sandbox.seed('history', 3);
      const now = new Date(await books.sandbox.clock.now());
      const month = (ago: number): string =>
        new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1))
          .toISOString()
          .slice(0, 7);
      const of = async (...period: string[]): Promise<string> => {
        const run = await svcpay(['statement', '-o', format, '--tz', 'UTC', ...period], books);
        expect(run).toMatchObject({ exitCode: 0, stderr: '' });
        return run.stdout;
      };
      const parts = [
        await of('--to', month(2)),
        await of('--month', month(1)),
        await of('--from', month(0)),
      ];
      expect(checked(parts.join(''))).toBe(0);
      // A file for hledger contains its opening balances.
      expect(checked(parts[1] ?? '') === 0).toBe(format === 'hledger');

      await deposit(books, '0.1');
      const run = await svcpay(['statement', '-o', format], books);
      expect(run.exitCode).toBe(10);
      expect(checked(run.stdout)).not.toBe(0);
    },
  );
});
