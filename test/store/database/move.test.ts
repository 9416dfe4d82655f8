// svcpay db move copies the journal and the inbox of a home into PostgreSQL. If svcpay db move is
// interrupted at any step, the database contains each row exactly once after a second run.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { moveInto, type HomeFiles } from '../../../src/store/database/move.js';
import { postgresDatabase, type Postgres } from '../../../src/store/database/postgres.js';
import { inboxPart, openPostgresEvents } from '../../../src/store/events/postgres-events.js';
import { eventsIn } from '../../../src/store/events/sqlite-events.js';
import type { Spend } from '../../../src/store/journal/journal.js';
import type { PaymentDraft } from '../../../src/store/journal/payment.js';
import { journalIn, journalPart } from '../../../src/store/journal/schema.js';
import { openSqlJournal } from '../../../src/store/journal/sql-journal.js';
import { findHome, journalFile } from '../../../src/store/files/home.js';
import { holdsPayments, openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { embeddedUrl } from '../../../src/store/profile/settings.js';
import { account, fillHome } from '../../support/filled-home.js';
import { svcpay } from '../../support/in-process.js';
import { hasPostgres } from '../../support/postgres.js';
import { preparedDatabase, prepareTables } from '../../support/prepared-database.js';
import { usingPostgres } from '../../support/shared-postgres.js';

const server = usingPostgres();

async function newHome(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-move-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  await fillHome(home);
  return home;
}

function filesOf(home: string): HomeFiles {
  return { journal: journalIn(join(home, 'journal.db')), inbox: eventsIn(join(home, 'events.db')) };
}

async function emptyDatabase(): Promise<Postgres> {
  const database = postgresDatabase({
    url: server().database(),
    source: 'the test',
    clock: () => performance.now(),
  });
  onTestFinished(() => database.close());
  for (const part of [journalPart, inboxPart]) await prepareTables(database, part);
  return database;
}

const nobody = (): boolean => false;
const scope = account;

const sorted = (spends: readonly Spend[]): Spend[] =>
  spends.toSorted((one, other) => (one.ccy < other.ccy ? -1 : 1));

async function isThere(database: Postgres, home: string): Promise<void> {
  const [journal, file] = [
    openSqlJournal(database, nobody),
    openJournal({ path: join(home, 'journal.db'), isAlive: nobody, now: () => 0 }),
  ];
  onTestFinished(() => file.close());
  const unfinished = await file.open(scope);
  expect(unfinished.length).toBeGreaterThan(4);
  expect(await journal.open(scope)).toEqual(unfinished);
  expect(sorted(await journal.spent(account, undefined))).toEqual(
    sorted(await file.spent(account, undefined)),
  );
  const events = openPostgresEvents(database);
  expect(await events.lease('http://127.0.0.1:9/hooks', 'one').take(10)).toHaveLength(3);
  const counts = await database.read((sql) =>
    sql.all(`SELECT (SELECT count(*) FROM payments) AS payments,
    (SELECT count(*) FROM attempts) AS attempts, (SELECT count(*) FROM events) AS events`),
  );
  expect(counts).toEqual([{ payments: 10, attempts: 10, events: 3 }]);
}

const payOnce = [
  '--sandbox',
  'send',
  'onchain',
  'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
  '1000sat',
  '--yes',
  '--no-wait',
  '--json',
];

describe.skipIf(!hasPostgres)('moveInto', () => {
  test('moves every payment and event once even if the move is repeated', async () => {
    const database = await emptyDatabase();
    const home = await newHome();
    expect(await moveInto(database, filesOf(home), nobody, Date.now)).toEqual({
      payments: 10,
      events: 3,
    });
    await moveInto(database, filesOf(home), nobody, Date.now);
    await isThere(database, home);
  });

  test('completes an interrupted move in the next run', async () => {
    const home = await newHome();
    const files = filesOf(home);
    for (let allowed = 0; ; allowed += 1) {
      const database = await emptyDatabase();
      let left = allowed;
      const breaking: Postgres = {
        ...database,
        transaction: (action, options) =>
          (left -= 1) < 0
            ? Promise.reject(new Error('interrupted'))
            : database.transaction(action, options),
      };
      const isWhole = await moveInto(breaking, files, nobody, Date.now).then(
        () => true,
        () => false,
      );
      await moveInto(database, files, nobody, Date.now);
      await isThere(database, home);
      if (isWhole) break;
    }
  });

  test('refuses while another process works on a payment', async () => {
    const files = filesOf(await newHome());
    const journal = openJournal({ path: files.journal.path, isAlive: nobody, now: () => 0 });
    onTestFinished(() => journal.close());
    const { id } = (await journal.find(scope, 'coffee')) ?? { id: '' };
    await journal.claim(id, 'other/1');
    await expect(moveInto(await emptyDatabase(), files, () => true, Date.now)).rejects.toThrow(
      'Nothing was moved: another process is working on a payment of this home.',
    );
  });

  test('makes the journal file refuse payments of a process that still has the file open', async () => {
    const files = filesOf(await newHome());
    const journal = openJournal({
      path: files.journal.path,
      isAlive: nobody,
      now: () => Date.now(),
      isKnown: true,
    });
    onTestFinished(() => journal.close());
    const paid = await journal.find(scope, 'coffee');
    await moveInto(await emptyDatabase(), files, nobody, Date.now);
    const asked = { ...paid, id: 'new', ref: 'tea', idempotencyKey: null, request: '{}' };
    const draft = asked as PaymentDraft;
    await expect(journal.begin(draft)).rejects.toThrow('its payments were moved into a database');
  });

  test('updates only payments that are newer in the file than in the database', async () => {
    const database = await emptyDatabase();
    const home = await newHome();
    await moveInto(database, filesOf(home), nobody, Date.now);
    const change = (text: string): Promise<unknown> => database.transaction((sql) => sql.run(text));
    await change(
      `UPDATE payments SET updated_at = updated_at + CASE ref WHEN 'going' THEN 1 ELSE -1 END WHERE ref IN ('going', 'submitting')`,
    );
    await change(
      `UPDATE attempts SET txn_state = 'there' WHERE payment_id IN (SELECT id FROM payments WHERE ref IN ('going', 'submitting'))`,
    );
    await moveInto(database, filesOf(home), nobody, Date.now);
    const journal = openSqlJournal(database, nobody);
    expect((await journal.find(scope, 'going'))?.attempts).toMatchObject([{ txnState: 'there' }]);
    expect((await journal.find(scope, 'submitting'))?.attempts).toMatchObject([
      { txnState: 'quoted' },
    ]);
  });

  test('stops the move if a different payment in the database has the same reference', async () => {
    const database = await emptyDatabase();
    const home = await newHome();
    await moveInto(database, filesOf(home), nobody, Date.now);
    const rename = `UPDATE payments SET ref = CASE ref WHEN 'coffee' THEN 'moved' ELSE 'coffee' END WHERE ref = '`;
    for (const ref of ['coffee', 'error'])
      await database.transaction((sql) => sql.run(`${rename}${ref}'`));
    await expect(moveInto(database, filesOf(home), nobody, Date.now)).rejects.toThrow(
      'different payment with the reference coffee',
    );
  });

  test('refuses to use the journal file of a home after svcpay db move', async () => {
    const home = await newHome();
    const env = { SVCPAY_DATABASE_URL: await preparedDatabase(server()) };
    expect(await svcpay(['db', 'move', '--json'], { home, env })).toMatchObject({ exitCode: 0 });
    expect((await svcpay(['db', 'status', '--json'], { home, env })).json()).toMatchObject([
      { part: 'journal', version: 1, needed: 1 },
      { part: 'inbox', version: 1, needed: 1 },
    ]);
    const run = await svcpay(['--sandbox', 'tx', 'pending', '--json'], { home });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error().message).toContain('are in the database');
  });

  test('requires svcpay db move before a home with a journal pays with the database', async () => {
    const here = {
      home: await newHome(),
      env: { SVCPAY_DATABASE_URL: await preparedDatabase(server()) },
    };
    const run = await svcpay(payOnce, here);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error()).toMatchObject({
      message: expect.stringContaining('not in the database'),
      hint: 'Move the payments first: svcpay --sandbox db move',
    });
    expect(await svcpay(['--sandbox', 'db', 'move'], here)).toMatchObject({ exitCode: 0 });
    expect(await svcpay(payOnce, here)).toMatchObject({ exitCode: 0 });
  });

  test('ignores sandbox payments in the journal file until the next payment to the sandbox, which requires svcpay db move', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svcpay-move-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    expect(await svcpay(payOnce, { home })).toMatchObject({ exitCode: 0 });
    const path = journalFile(findHome({ SVCPAY_HOME: home }));
    expect([holdsPayments(path, undefined), holdsPayments(path, embeddedUrl)]).toEqual([
      true,
      false,
    ]);
    const env = { SVCPAY_DATABASE_URL: await preparedDatabase(server()) };
    const refused = await svcpay(payOnce, { home, env });
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.error().hint).toContain('svcpay --sandbox db move');
    expect(await svcpay(['--sandbox', 'db', 'move'], { home, env })).toMatchObject({ exitCode: 0 });
    expect(await svcpay([...payOnce, '--again'], { home, env })).toMatchObject({ exitCode: 0 });
  });
});
