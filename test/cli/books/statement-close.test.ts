// A closed month: its file and hash, the comparison of a later run, and months that cannot be closed.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { createServer } from 'node:http';
import { describe, expect, onTestFinished } from 'vitest';
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

describe('svcpay statement close', () => {
  test('writes the month with its hash, verifies it, and shows each changed row', async ({
    around,
  }) => {
    await around.sandbox.seed('history', 3);
    const month = monthBefore(await around.sandbox.clock.now(), 1);
    const first = await close(around, month);
    expect(first.exitCode).toBe(0);
    const { file, sha256, rows } = first.json() as { file: string; sha256: string; rows: number };
    const text = readFileSync(file, 'utf8');
    expect(createHash('sha256').update(text).digest('hex')).toBe(sha256);
    expect(readFileSync(`${file}.sha256`, 'utf8')).toBe(`${sha256}  ${file.split('/').at(-1)}\n`);
    const lines: Record<string, string>[] = parse(text, { columns: true });
    expect(lines).toHaveLength(rows);
    expect(new Set(lines.map(({ date = '' }) => date.slice(0, 7)))).toEqual(new Set([month]));

    const again = await close(around, month);
    expect(again).toMatchObject({ exitCode: 0, stdout: first.stdout });
    expect(again.stderr).toContain('Unchanged');

    await around.sandbox.fund('BTC', '0.1');
    const changed = await close(around, month, '--opening', '0.1btc');
    expect(changed.exitCode).toBe(6);
    const changes = changed.json() as { change: string; row: string }[];
    expect(changes).toHaveLength(lines.filter(({ wallet }) => wallet === 'BTC').length);
    expect(changes[0]).toMatchObject({ change: 'changed', row: 'BTC opening' });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test("writes a file in the folder, whatever the account's name at the service", async ({
    home,
  }) => {
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
      '------evil-----2026-01-UTC.csv',
      '------evil-----2026-01-UTC.csv.sha256',
    ]);
  });

  test('detects a changed file', async ({ around }) => {
    await around.sandbox.seed('history', 3);
    const month = monthBefore(await around.sandbox.clock.now(), 1);
    const { file } = (await close(around, month)).json() as { file: string };
    appendFileSync(file, 'x');
    expect((await close(around, month)).error()).toMatchObject({
      kind: 'books-differ',
      exitCode: 6,
      message: expect.stringContaining('was changed after it was closed'),
    });
  });

  test('refuses a month that is not over, does not tie, or has a payment in flight', async ({
    around,
  }) => {
    const { sandbox } = around;
    await sandbox.seed('empty');
    await sandbox.fund('BTC', '0.1');
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
    expect((await close(around, month)).error()).toMatchObject({
      exitCode: 2,
      message: `${month} is not over yet.`,
    });
    await sandbox.clock.advance('2m');
    expect((await close(around, month)).error()).toMatchObject({
      exitCode: 6,
      kind: 'books-differ',
    });
    expect((await close(around, month, '--opening', '0.1btc')).error()).toMatchObject({
      exitCode: 8,
      txnId: stdout.trim(),
    });
    await sandbox.mine(6);
    expect(await close(around, month, '--opening', '0.1btc')).toMatchObject({ exitCode: 0 });
  });
});
