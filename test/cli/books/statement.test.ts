// A statement through the front door: a year ties to the satoshi, in every format; a row that is dropped is found by name.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import { describe, expect, onTestFinished } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { isInstalled } from '../../support/installed.js';
import { quickTime, svcpay, type Here } from '../../support/in-process.js';
import { test as base } from '../../support/svcpay.js';

/** A statement that does not tie is looked at again for eight seconds, which the clock of these tests passes over. */
const test = base.extend<{ books: Here & { readonly sandbox: Sandbox } }>({
  books: async ({ home, sandbox }, use) =>
    use({ home, sandbox, ...quickTime(), sleep: () => Promise.resolve() }),
});

type Row = Record<string, string>;

const rowsOf = (stdout: string): Row[] => parse(stdout, { columns: true });

describe('svcpay statement', () => {
  test('of a seeded year ties to the satoshi for every wallet', async ({ books }) => {
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

  test('of a month starts with the end of the previous one, in days of the time zone', async ({
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

  test('reports a deposit without a transaction, exits 6, and ties when it is given', async ({
    books,
  }) => {
    await books.sandbox.seed('history');
    await books.sandbox.fund('BTC', '0.1');
    const run = await svcpay(['statement', '-o', 'csv'], books);
    expect(run.exitCode).toBe(6);
    expect(run.stderr).toContain('BTC: the transactions add up to');
    expect(run.stderr).toContain('0.10000000 BTC more');
    expect(rowsOf(run.stdout).find(({ kind }) => kind === 'difference')).toMatchObject({
      wallet: 'BTC',
      in: '0.1',
      out: '0',
    });
    expect(await svcpay(['statement', '--opening', '0.1btc', '-o', 'csv'], books)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
  });

  test('reports a payment missing from the list', async ({ books }) => {
    await books.sandbox.seed('history');
    const invoice = await books.sandbox.invoice('1000sat');
    const { stdout } = await svcpay(['send', 'lightning', invoice, '--yes', '-q'], books);
    const txnId = stdout.trim();
    await books.sandbox.faults.add({ kind: 'missing-row', txn: txnId, times: 'always' });
    const run = await svcpay(['statement', '--json'], books);
    expect(run.error()).toMatchObject({ kind: 'books-differ', exitCode: 6 });
    expect(run.error().message).toContain(
      `0.00001003 BTC less, which is exactly ${txnId} (not in the list)`,
    );
  });

  test('refuses a reversed period, an unknown wallet, and a single wallet for a ledger', async ({
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
  ['hledger', ['hledger', '-f', 'FILE', 'check'], / = (2\.\d+) BTC/],
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
    'is accepted with its assertions, and refused if one is wrong by a satoshi',
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
});
