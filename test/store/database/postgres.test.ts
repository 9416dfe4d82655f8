// Tests PostgreSQL as the database of the journal when the server sends unsolicited messages.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { postgresDatabase } from '../../../src/store/database/postgres.js';
import { hasPostgres } from '../../support/postgres.js';
import { usingPostgres } from '../../support/shared-postgres.js';

const server = usingPostgres();

const isReady = Buffer.from('5a0000000549', 'hex');

/** The message that PostgreSQL sends when an administrator terminates a connection. */
function ended(): Buffer {
  const fields = Buffer.from(
    'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0',
  );
  const head = Buffer.alloc(5, 'E');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/**
 * Starts a proxy in front of the PostgreSQL server. The proxy ends the first connection as soon as
 * the server is ready for queries.
 */
async function abrupt(url: string): Promise<string> {
  let isFirst = true;
  const door = createServer((client) => {
    const database = connect(server().port, '127.0.0.1');
    for (const socket of [client, database])
      socket.on('error', () => undefined).on('close', () => (client.destroy(), database.destroy()));
    client.on('data', (bytes) => database.write(bytes));
    database.on('data', (bytes) => {
      const isEnd = isFirst && bytes.includes(isReady);
      if (isEnd) isFirst = false;
      if (isEnd) client.end(Buffer.concat([bytes, ended()]));
      else client.write(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  onTestFinished(() => void door.close());
  return url.replace(`:${server().port}/`, `:${(door.address() as AddressInfo).port}/`);
}

test.skipIf(!hasPostgres)(
  'postgresDatabase opens a new connection if the server ends the first connection immediately',
  async () => {
    const database = postgresDatabase({
      url: await abrupt(server().database()),
      source: 'the test',
      clock: () => performance.now(),
    });
    onTestFinished(() => database.close());
    expect(await database.read((sql) => sql.all('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
  },
);

test('postgresDatabase waits for a host whose name cannot be resolved, as for a refused connection', async () => {
  let now = 0;
  const database = postgresDatabase({
    url: 'postgres://owner@name.invalid/svcpay',
    source: 'the test',
    clock: () => now,
    sleep: async (ms) => void (now += ms),
  });
  onTestFinished(() => database.close());
  await expect(database.read((sql) => sql.all('SELECT 1'))).rejects.toMatchObject({
    kind: 'temporary',
  });
  expect(now).toBeGreaterThan(10_000);
});

test.skipIf(!hasPostgres).for(['40001', '40P01'])(
  'postgresDatabase repeats a transaction that the server rolled back with the code %s',
  async (code) => {
    const database = postgresDatabase({
      url: server().database(),
      source: 'the test',
      clock: () => performance.now(),
    });
    onTestFinished(() => database.close());
    const raise = `DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''${code}''; END'`;
    let runs = 0;
    const work = database.transaction(async (sql) => {
      runs += 1;
      if (runs === 1) await sql.run(raise);
      return runs;
    });
    expect(await work).toBe(2);
  },
);
