// Journal and inbox of a home moved into PostgreSQL: interrupted anywhere and run again, all of it is there once.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { moveInto, type Source } from '../../../src/store/database/move.js';
import { postgresDatabase, type Postgres } from '../../../src/store/database/postgres.js';
import { prepareTables } from '../../../src/store/database/postgres-schema.js';
import { inboxPart, openPostgresEvents } from '../../../src/store/events/postgres-events.js';
import { eventsIn } from '../../../src/store/events/sqlite-events.js';
import { journalPart, openPostgresJournal } from '../../../src/store/journal/postgres-journal.js';
import { journalIn, openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { svcpay } from '../../support/in-process.js';
import { hasPostgres, type Databases } from '../../support/postgres.js';
import { preparedDatabase } from '../../support/prepared-database.js';
import { sharedPostgres } from '../../support/shared-postgres.js';

let server: Databases;
beforeAll(async () => {
  if (hasPostgres) server = await sharedPostgres();
}, 60_000);
afterAll(() => server?.stop());

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-move-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const name of ['journal', 'events']) copyFileSync(resolve(import.meta.dirname, `../fixtures/${name}-1.db`), join(home, `${name}.db`));
  return home;
}

function sourceOf(home: string): Source {
  return { journal: journalIn(join(home, 'journal.db')), inbox: eventsIn(join(home, 'events.db')) };
}

async function emptyDatabase(): Promise<Postgres> {
  const database = postgresDatabase({ url: server.database(), source: 'the test', clock: () => performance.now() });
  onTestFinished(() => database.close());
  for (const part of [journalPart, inboxPart]) await prepareTables(database, 'the test', part);
  return database;
}

const nobody = (): boolean => false;
const scope = 'http://127.0.0.1:37299 ne01-e84b64ed';

async function isThere(database: Postgres): Promise<void> {
  const journal = openPostgresJournal(database, nobody);
  expect((await journal.open(scope)).map(({ ref, step }) => [ref, step])).toEqual([['in-doubt', 'confirmed'], ['going', 'confirmed']]);
  const { leases } = openPostgresEvents(database);
  expect(await leases.take('http://127.0.0.1:9/hooks', 'one', 10)).toHaveLength(3);
  const counts = await database.read((sql) => sql.all('SELECT (SELECT count(*) FROM intents) AS payments, (SELECT count(*) FROM events) AS events'));
  expect(counts).toEqual([{ payments: 6, events: 3 }]);
}

describe.skipIf(!hasPostgres)('moving into a database', () => {
  test('is the same once and twice', async () => {
    const database = await emptyDatabase();
    const source = sourceOf(newHome());
    expect(await moveInto(database, source, nobody)).toEqual({ payments: 6, events: 3 });
    await moveInto(database, source, nobody);
    await isThere(database);
  });

  test('is done by the next run, wherever the one before was interrupted', async () => {
    const source = sourceOf(newHome());
    for (let allowed = 0; ; allowed += 1) {
      const database = await emptyDatabase();
      let left = allowed;
      const breaking: Postgres = {
        ...database,
        transaction: (action, options) => ((left -= 1) < 0 ? Promise.reject(new Error('interrupted')) : database.transaction(action, options)),
      };
      const isWhole = await moveInto(breaking, source, nobody).then(() => true, () => false);
      await moveInto(database, source, nobody);
      await isThere(database);
      if (isWhole) break;
    }
  });

  test('lets nobody begin a payment in the file who has it open still', async () => {
    const source = sourceOf(newHome());
    const journal = openJournal({ path: source.journal.path, isAlive: nobody, now: () => Date.now(), isKnown: true });
    onTestFinished(() => journal.close());
    const { id: _id, ...paid } = (await journal.find(scope, 'coffee')) ?? { id: '' };
    await moveInto(await emptyDatabase(), source, nobody);
    const draft = { ...paid, id: 'new', ref: 'tea', onceKey: null } as Parameters<typeof journal.begin>[0];
    await expect(journal.begin(draft)).rejects.toThrow('its payments were moved into a database');
  });

  test('stops where another payment has the reference', async () => {
    const database = await emptyDatabase();
    const home = newHome();
    await moveInto(database, sourceOf(home), nobody);
    await database.transaction((sql) => sql.run(`UPDATE intents SET id = 'other', txn_id = 'other' WHERE ref = 'coffee'`));
    await expect(moveInto(database, sourceOf(home), nobody)).rejects.toThrow('coffee differs from the payment');
  });

  test('leaves a home that does not pay from its files any more', async () => {
    const home = newHome();
    const env = { SVCPAY_DATABASE_URL: server.database() };
    expect(await svcpay(['db', 'move', '--json'], { home, env })).toMatchObject({ exitCode: 0 });
    expect((await svcpay(['db', 'status', '--json'], { home, env })).json()).toMatchObject([
      { part: 'journal', version: 4, needed: 4 },
      { part: 'inbox', version: 3, needed: 3 },
    ]);
    const run = await svcpay(['--sandbox', 'tx', 'pending', '--json'], { home });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error().message).toContain('moved into the database');
  });

  test('comes before a home pays out of the database', async () => {
    const here = { home: newHome(), env: { SVCPAY_DATABASE_URL: await preparedDatabase(server) } };
    const pay = ['--sandbox', 'send', 'onchain', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', '1000sat', '--yes', '--no-wait', '--json'];
    const run = await svcpay(pay, here);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({ message: expect.stringContaining('not in the database'), hint: expect.stringContaining('svcpay db move') });
    expect(await svcpay(['db', 'move'], here)).toMatchObject({ exitCode: 0 });
    expect(await svcpay(pay, here)).toMatchObject({ exitCode: 0 });
  });

  test('need not be for what was only played in the embedded sandbox', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svcpay-move-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const pay = ['--sandbox', 'send', 'onchain', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', '1000sat', '--yes', '--no-wait', '--json'];
    expect(await svcpay(pay, { home })).toMatchObject({ exitCode: 0 });
    expect(await svcpay(pay, { home, env: { SVCPAY_DATABASE_URL: await preparedDatabase(server) } })).toMatchObject({ exitCode: 0 });
  });
});
