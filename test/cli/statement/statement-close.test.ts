// svcpay statement close writes a closed month with its hash, and later compares the month with
// the service.
import { appendFileSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import { createServer } from 'node:http';
import { describe, expect, onTestFinished } from 'vitest';
import { deposit } from '../../support/deposit.js';
import { svcpay, type Here } from '../../support/in-process.js';
import { test } from '../../support/svcpay.js';

const monthBefore = (now: number, months: number): string => {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1))
    .toISOString()
    .slice(0, 7);
};

const close = (around: Here, month: string, ...args: string[]) =>
  svcpay(
    [
      'statement',
      'close',
      month,
      '--folder',
      join(around.home, 'closed'),
      '--tz',
      'UTC',
      ...args,
      '--json',
    ],
    around,
  );

type Line = Record<string, string>;

const statementOf = async (around: Here, from: string, to: string): Promise<Line[]> => {
  const args = ['statement', '--from', from, '--to', to, '--tz', 'UTC', '-o', 'csv'];
  return parse((await svcpay(args, around)).stdout, { columns: true });
};

describe('svcpay statement close', () => {
  test('seals a closed month, and writes a change of it as a correction of the next month', async ({
    around,
  }) => {
    await around.sandbox.seed('history', 4);
    const now = await around.sandbox.clock.now();
    const [month, next] = [monthBefore(now, 2), monthBefore(now, 1)];
    const whole = await statementOf(around, month, month);
    const { txnId = '' } =
      whole.find(({ kind, wallet }) => kind === 'send' && wallet === 'BTC') ?? {};
    await around.sandbox.faults.add({
      kind: 'missing-row',
      txn: txnId,
      times: 'always',
    });
    const late = whole.find((row) => row.txnId === txnId);
    const amount = new Big(late?.out ?? 0).plus(late?.fee ?? 0);
    const quick = { ...around, sleep: () => Promise.resolve() };
    await svcpay(
      ['statement', 'adjust', '--on', `${month}-01`, '--yes', '--', `-${amount}btc`],
      quick,
    );
    const first = await close(quick, month);
    expect(first.exitCode).toBe(0);
    const { file, sha256, rows } = first.json() as { file: string; sha256: string; rows: number };
    const text = readFileSync(file, 'utf8');
    expect(createHash('sha256').update(text).digest('hex')).toBe(sha256);
    expect(readFileSync(`${file}.sha256`, 'utf8')).toBe(`${sha256}  ${file.split('/').at(-1)}\n`);
    expect(parse(text, { columns: true })).toHaveLength(rows);
    expect(await close(quick, month)).toMatchObject({ exitCode: 0, stdout: first.stdout });

    await around.sandbox.faults.clear();
    await svcpay(['statement', 'adjust', '--on', `${next}-01`, '--yes', `${amount}btc`], quick);
    const changed = await close(quick, month);
    expect(changed.error()).toMatchObject({
      exitCode: 10,
      kind: 'books-differ',
      message: expect.stringMatching(/^\d+ rows? changed since \d{4}-\d\d was closed on /),
    });
    expect(changed.json()).toContainEqual(
      expect.objectContaining({ change: 'added', row: `BTC ${txnId}` }),
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(readdirSync(join(around.home, 'closed'))).toHaveLength(2);

    const closing = (lines: Line[], kind: string) =>
      lines.find((row) => row.kind === kind && row.wallet === 'BTC')?.balance;
    const sealed: Line[] = parse(text, { columns: true });
    const after = await statementOf(quick, next, next);
    expect(closing(after, 'opening')).toBe(closing(sealed, 'closing'));
    const correction = after.filter(({ kind }) => kind === 'correction');
    expect(correction).toMatchObject([
      { txnId, date: `${next}-01`, out: amount.toFixed(), note: expect.stringContaining(month) },
    ]);
    expect(closing(await statementOf(quick, month, month), 'closing')).toBe(
      closing(sealed, 'closing'),
    );
    expect(await close(quick, next)).toMatchObject({ exitCode: 0 });
    expect(
      (await statementOf(quick, next, next)).filter(({ kind }) => kind === 'correction'),
    ).toEqual(correction);
  });

  test('never overwrites a file, adopts the same content, and restores a missing copy', async ({
    around,
  }) => {
    await around.sandbox.seed('history', 3);
    const month = monthBefore(await around.sandbox.clock.now(), 1);
    const { file } = (await close(around, month)).json() as { file: string };
    const text = readFileSync(file, 'utf8');
    unlinkSync(file);
    expect(await close(around, month)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(file, 'utf8')).toBe(text);
    appendFileSync(file, 'x');
    expect((await close(around, month)).error()).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('has different content'),
    });
    expect(readFileSync(file, 'utf8')).toBe(`${text}x`);
  });

  test('refuses an adjustment in a closed month and names the day to use', async ({ around }) => {
    await around.sandbox.seed('history', 3);
    const now = await around.sandbox.clock.now();
    const month = monthBefore(now, 1);
    expect(await close(around, month)).toMatchObject({ exitCode: 0 });
    const adjusted = await svcpay(
      ['statement', 'adjust', '0.1btc', '--on', `${month}-03`, '--yes', '--json'],
      around,
    );
    expect(adjusted.error()).toMatchObject({ exitCode: 2 });
    expect(adjusted.error().hint).toContain(`--on ${monthBefore(now, 0)}-01`);
  });

  test('closes months only in order and in one time zone', async ({ around }) => {
    await around.sandbox.seed('history', 4);
    const now = await around.sandbox.clock.now();
    const ago = (months: number): string => monthBefore(now, months);
    expect(await close(around, ago(3))).toMatchObject({ exitCode: 0 });
    const gap = await close(around, ago(1));
    expect(gap.error()).toMatchObject({
      exitCode: 2,
      message: `Not closed: ${ago(2)} must be closed first.`,
    });
    expect(gap.error().hint).toContain(`svcpay statement close ${ago(2)}`);
    expect((await close(around, ago(4))).error()).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(`is earlier than ${ago(3)}, the first closed month.`),
    });
    const elsewhere = ['statement', 'close', ago(2), '--tz', 'Asia/Tokyo', '--json'];
    expect((await svcpay(elsewhere, around)).error().message).toContain(
      'earlier months end at midnight in UTC',
    );
    // Without --tz, svcpay uses the time zone of the last closed month.
    expect(await svcpay(['statement', 'close', ago(2), '--json'], around)).toMatchObject({
      exitCode: 0,
    });
    expect(await close(around, ago(1))).toMatchObject({ exitCode: 0 });
  });

  test('names a transaction of a closed month that the service no longer lists', async ({
    around,
  }) => {
    await around.sandbox.seed('history', 3);
    const month = monthBefore(await around.sandbox.clock.now(), 1);
    const { file } = (await close(around, month)).json() as { file: string };
    const lines: Record<string, string>[] = parse(readFileSync(file, 'utf8'), { columns: true });
    const { txnId = '' } =
      lines.find(({ kind, wallet }) => kind === 'send' && wallet === 'BTC') ?? {};
    await around.sandbox.faults.add({ kind: 'missing-row', txn: txnId, times: 'always' });
    const quick = { ...around, sleep: () => Promise.resolve() };
    const statement = await svcpay(['statement', '--json'], quick);
    expect(statement.error().message).toContain(
      `exactly the amount of ${txnId} (no longer in the list)`,
    );
    const again = await close(quick, month);
    expect(again.exitCode).toBe(10);
    expect(again.json()).toContainEqual(
      expect.objectContaining({ change: 'removed', row: `BTC ${txnId}` }),
    );
    expect(readdirSync(join(around.home, 'closed'))).toHaveLength(2);
  });

  test('writes into its folder even if the account id contains a path', async ({ home }) => {
    const server = createServer((request, response) => {
      const token = {
        accessToken: 'x',
        expiredAt: Date.now() + 3_600_000,
        accountId: '../../evil/\u0000..',
      };
      request.resume();
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(request.method === 'POST' ? token : { data: [] }));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const run = await close({ home, sandbox: { url, apiKey: 'a', apiSecret: 'b' } }, '2026-01');
    expect(run).toMatchObject({ exitCode: 0 });
    expect(readdirSync(join(home, 'closed'))).toEqual([
      '..%2F..%2Fevil%2F%00..-2026-01.csv',
      '..%2F..%2Fevil%2F%00..-2026-01.csv.sha256',
    ]);
  });

  test('counts the differences that nobody has accepted', async ({ around }) => {
    await around.sandbox.seed('history', 2);
    const month = monthBefore(await around.sandbox.clock.now(), 1);
    expect((await close(around, month)).stderr).toMatch(
      /Not accepted: \d+ differences\. To list them: svcpay .*reconcile --month \S+/,
    );
  });

  test('refuses a month that has not ended, has an unexplained balance or has a payment in flight', async ({
    around,
  }) => {
    const { sandbox } = around;
    await sandbox.seed('empty');
    await deposit(around, '0.1');
    const now = new Date(await sandbox.clock.now());
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    const month = monthBefore(now.getTime(), 0);
    await sandbox.clock.advance(end - now.getTime() - 60_000);
    const { stdout } = await svcpay(
      [
        'send',
        'onchain',
        'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
        '10000sat',
        '--yes',
        '--no-wait',
        '-q',
      ],
      around,
    );
    const draft = await close(around, month);
    expect(draft.error()).toMatchObject({
      exitCode: 2,
      message: `Not closed: ${month} is not over yet.`,
    });
    expect(draft.stderr).toContain('No transaction explains the opening balance of BTC');
    expect(draft.stderr).toMatch(/1 transaction of \S+ is still in flight\. svcpay .*tx watch /);
    await sandbox.clock.advance('2m');
    expect((await close(around, month)).error()).toMatchObject({
      exitCode: 10,
      kind: 'books-differ',
    });
    await svcpay(['statement', 'adjust', '0.1btc', '--on', `${month}-01`, '--yes'], around);
    expect((await close(around, month)).error()).toMatchObject({
      exitCode: 8,
      txnId: stdout.trim(),
    });
    await sandbox.mine(6);
    expect(await close(around, month)).toMatchObject({ exitCode: 0 });
  });
});
