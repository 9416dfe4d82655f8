// A payment puts no more load on the shared database and the service than docs/scale.md states.
import { connect, createServer, type AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { svcpay } from '../../support/in-process.js';
import { hasPostgres } from '../../support/postgres.js';
import { sharedPostgres } from '../../support/shared-postgres.js';
import { test } from '../../support/svcpay.js';

const table = readFileSync(join(resolve(import.meta.dirname, '../../..'), 'docs/scale.md'), 'utf8');

/** The requests, transactions, writes and locks in a row of the table in docs/scale.md. */
function promised(what: string): number[] {
  const row = table.split('\n').find((line) => line.startsWith(`| ${what} |`)) ?? '';
  return row
    .split('|')
    .slice(2, 6)
    .map((cell) => parseInt(cell, 10));
}

/** Starts a database proxy that counts the queries of a connection. */
async function counted(url: string) {
  let sent = '';
  const { port } = new URL(url);
  const server = createServer((client) => {
    const database = connect(Number(port), '127.0.0.1');
    client.on('data', (bytes) => (sent += bytes.toString('latin1')));
    client.pipe(database).pipe(client);
    for (const socket of [client, database]) socket.on('error', () => undefined);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const times = (pattern: RegExp): number => [...sent.matchAll(pattern)].length;
  return {
    url: url.replace(`:${port}/`, `:${(server.address() as AddressInfo).port}/`),
    counts: () => {
      // Every transaction contains BEGIN ISOLATION, whether the client sends the transaction in one
      // message or in several messages.
      const transactions = sent.split(/BEGIN ISOLATION/).slice(1);
      const writes = transactions.filter((each) =>
        /INSERT INTO|UPDATE \w|DELETE FROM/.test(each),
      ).length;
      return [times(/COMMIT(?!TED)/g), writes, times(/pg_advisory_xact_lock/g)];
    },
    reset: () => void (sent = ''),
  };
}

test.skipIf(!hasPostgres)(
  'svcpay send needs no more requests, transactions and locks than docs/scale.md states',
  { timeout: 60_000 },
  async ({ around }) => {
    const server = await sharedPostgres();
    const database = await counted(server.database());
    const there = { ...around, env: { SVCPAY_DATABASE_URL: database.url } };
    const run = async (args: readonly string[]): Promise<void> =>
      expect(await svcpay(args, there)).toMatchObject({ exitCode: 0 });
    const cost = async (args: readonly string[]): Promise<number[]> => {
      const invoice = await around.sandbox.invoice('1000sat');
      const before = around.sandbox.requests().length;
      database.reset();
      await run(['send', 'lightning', invoice, ...args, '--yes', '-q']);
      const requests = around.sandbox
        .requests()
        .slice(before)
        .map(({ method }) => method);
      return [requests.lastIndexOf('PUT') + 1, ...database.counts()];
    };
    const noMore = (found: readonly number[], ...rows: readonly string[]): void => {
      const limits = rows
        .map(promised)
        .reduce((sums, row) => sums.map((sum, at) => sum + (row[at] ?? 0)));
      expect(found.map((each, at) => Math.max(each, limits[at] ?? 0))).toEqual(limits);
    };
    await run(['db', 'upgrade', '--new']);
    // Only for the first payment, svcpay also signs in and reads the list of transactions, so the
    // test does not compare the cost of this payment.
    await cost(['--no-wait', '--ref', 'first']);
    noMore(await cost(['--no-wait']), 'without `--ref`');
    noMore(await cost(['--no-wait', '--ref', 'own']), 'with `--ref`');
    noMore(await cost(['--ref', 'whole']), 'with `--ref`, until it has settled');
    await run(['limits', 'set', '--per-day', '1btc', '-q']);
    noMore(
      await cost(['--no-wait', '--ref', 'limited']),
      'with `--ref`',
      'additional work for a daily limit',
    );
  },
);
