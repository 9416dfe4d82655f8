// Files and tables reach the next version step by step, even if an upgrade is killed at any point.
// svcpay never changes files of newer versions, development builds and other programs.
import {
  existsSync,
  mkdtempSync,
  copyFileSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { postgresDatabase, type Postgres } from '../../../src/store/database/postgres.js';
import { checkTables, upgradeTables } from '../../../src/store/database/postgres-schema.js';
import { moveInto } from '../../../src/store/database/move.js';
import { inboxPart } from '../../../src/store/events/postgres-events.js';
import { eventsIn, openEventStore } from '../../../src/store/events/sqlite-events.js';
import { copyOf, openSqlite, type SqliteFile } from '../../../src/store/files/sqlite-file.js';
import type { Journal } from '../../../src/store/journal/journal.js';
import { journalIn, journalPart } from '../../../src/store/journal/schema.js';
import { openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { sandboxFileIn } from '../../../src/sandbox/database.js';
import { account, fillHome, refs } from '../../support/filled-home.js';
import { svcpay } from '../../support/in-process.js';
import { upgradedWhereverKilled } from '../../support/killed-upgrade.js';
import { hasPostgres } from '../../support/postgres.js';
import { prepareTables } from '../../support/prepared-database.js';
import { usingPostgres } from '../../support/shared-postgres.js';
import { runsAll } from '../../support/part.js';
import { nextInboxIn, nextJournalIn, nextJournalPart } from '../fixtures/next-version.js';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-upgrade-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let filled = '';
beforeAll(async () => {
  filled = mkdtempSync(join(tmpdir(), 'svcpay-upgrade-'));
  await fillHome(filled);
  return () => rmSync(filled, { recursive: true, force: true });
});

/** Copies a file of version 1. */
function fileOf(name: 'journal.db' | 'events.db'): string {
  const path = join(newFolder(), name);
  copyFileSync(join(filled, name), path);
  return path;
}

const open = (path: string, isKnown = false): Journal =>
  openJournal({ path, isAlive: () => true, now: () => Date.now(), isKnown });

function rowsOf(path: string, text: string): unknown[] {
  const db = new Database(path);
  const rows: unknown[] = db.prepare(text).all();
  db.close();
  return rows;
}

const notes = refs.map((ref) => ({ ref, note: `of ${ref}` }));
const upgradedRows =
  'SELECT ref, note FROM payments JOIN attempts ON payment_id = id ORDER BY payments.rowid';

describe('upgrade of a journal file from version 1', () => {
  test('upgrades every payment of the journal file and keeps a private copy of the file', () => {
    const path = fileOf('journal.db');
    openSqlite(nextJournalIn(path)).close();
    expect(rowsOf(path, upgradedRows)).toEqual(notes);
    expect(rowsOf(path, 'PRAGMA user_version')).toEqual([{ user_version: 2 }]);
    const all = 'SELECT * FROM payments JOIN attempts ON payment_id = id ORDER BY id';
    expect(rowsOf(copyOf(path, 1), all)).toEqual(rowsOf(join(filled, 'journal.db'), all));
    expect(statSync(copyOf(path, 1)).mode & 0o777).toBe(0o600);
  });

  test.runIf(runsAll)(
    'completes the upgrade in the next process wherever the previous process was killed',
    async () => {
      const died = await upgradedWhereverKilled(
        'test/store/fixtures/next-version.js#nextJournalIn',
        () => fileOf('journal.db'),
        async (path) => {
          openSqlite(nextJournalIn(path)).close();
          expect(rowsOf(path, upgradedRows)).toEqual(notes);
        },
      );
      expect(died).toBeGreaterThan(11);
    },
  );
});

test('openSqlite upgrades an inbox file of version 1 with its backlog', () => {
  const path = fileOf('events.db');
  openSqlite(nextInboxIn(path)).close();
  expect(rowsOf(path, 'SELECT note FROM events JOIN backlog ON event_id = id')).toEqual(
    [1, 2, 3].map(() => ({ note: 'of txn-coffee' })),
  );
});

const files: readonly (readonly [string, (path: string) => SqliteFile])[] = [
  ['journal', journalIn],
  ['inbox', eventsIn],
  ['sandbox', sandboxFileIn],
];

/**
 * For each SQLite file, the application id and the last file version that development builds of
 * svcpay wrote.
 */
const developed = { journal: [0x7376636a, 1], inbox: [0x73767065, 3], sandbox: [0x73767365, 1] };

describe.each(files)('openSqlite with the %s file', (name, fileIn) => {
  function made(change: string): string {
    const path = join(newFolder(), 'file.db');
    const db = openSqlite(fileIn(path));
    db.exec(change);
    db.close();
    return path;
  }

  function expectUnchanged(path: string, message: string): void {
    const whole = readFileSync(path);
    expect(() => openSqlite(fileIn(path))).toThrow(message);
    expect(readFileSync(path).equals(whole)).toBe(true);
    expect(existsSync(copyOf(path, 1))).toBe(false);
  }

  test('refuses a file of a newer version without changing the file', () => {
    expectUnchanged(made('PRAGMA user_version = 99'), 'was written by a newer svcpay');
  });

  test.each([
    ['a development build', name],
    ['an early development build that set no application id', undefined],
  ] as const)('refuses a file of %s without changing the file', (_which, of) => {
    const [mark, version] =
      of === undefined ? [0, 2] : (developed[of as keyof typeof developed] ?? []);
    const path = made(`PRAGMA application_id = ${mark}; PRAGMA user_version = ${version}`);
    expectUnchanged(path, 'was written by a development build or another program');
  });

  test('refuses a file of another program without changing the file', () => {
    const path = join(newFolder(), 'file.db');
    const db = new Database(path);
    db.exec('CREATE TABLE notes (text TEXT)');
    db.close();
    expectUnchanged(path, 'was written by a development build or another program');
  });
});

test('svcpay refuses the home of a development build with exit code 2 and a hint', async () => {
  const home = newFolder();
  await fillHome(home);
  for (const [file, [mark, version]] of [
    ['journal.db', developed.journal],
    ['events.db', developed.inbox],
  ] as const) {
    const db = new Database(join(home, file));
    db.exec(`PRAGMA application_id = ${mark}; PRAGMA user_version = ${version}`);
    db.close();
  }
  const run = await svcpay(['--sandbox', 'tx', 'pending', '--json'], { home });
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.error()).toMatchObject({
    message: expect.stringContaining(join(home, 'journal.db')),
    hint: expect.stringContaining('--new-journal'),
  });
  expect(() => openEventStore(join(home, 'events.db'), Date.now)).toThrow(
    expect.objectContaining({
      kind: 'usage',
      hint: expect.stringContaining('Move the event store to a different folder'),
    }),
  );
});

const server = usingPostgres();

function emptyDatabase(url = server().database()): Postgres {
  const database = postgresDatabase({ url, source: 'the test', clock: () => performance.now() });
  onTestFinished(() => database.close());
  return database;
}

describe.skipIf(!hasPostgres)('upgradeTables in PostgreSQL', () => {
  test('creates journal tables only in a database that is declared as new', async () => {
    const database = emptyDatabase();
    for (const action of [checkTables, upgradeTables])
      await expect(action(database, journalPart)).rejects.toThrow(
        expect.objectContaining({ kind: 'usage', next: { do: 'create-tables' } }),
      );
    await upgradeTables(database, journalPart, { isNew: true });
    // The inbox tables need no `isNew`, because the journal tables already identify the database
    // as a database of svcpay.
    await upgradeTables(database, inboxPart);
  });

  async function filledDatabase(url?: string): Promise<Postgres> {
    const database = emptyDatabase(url);
    for (const part of [journalPart, inboxPart]) await prepareTables(database, part);
    const home = newFolder();
    await fillHome(home);
    const both = {
      journal: journalIn(join(home, 'journal.db')),
      inbox: eventsIn(join(home, 'events.db')),
    };
    await moveInto(database, both, () => false, Date.now);
    return database;
  }
  const upgraded = 'SELECT ref, note FROM payments JOIN attempts ON payment_id = id ORDER BY id';

  test('announces the step of an upgrade, and upgrades every payment in the journal tables', async () => {
    const database = await filledDatabase();
    const announced: number[] = [];
    await upgradeTables(database, nextJournalPart, {
      onStep: (version) => void announced.push(version),
    });
    expect(announced).toEqual([1]);
    expect(await database.read((sql) => sql.all(upgraded))).toEqual(
      notes.toSorted((one, other) => (one.ref < other.ref ? -1 : 1)),
    );
    await expect(checkTables(database, journalPart)).rejects.toThrow('written by a newer svcpay');
    await expect(checkTables(database, inboxPart)).resolves.toMatchObject({ generation: 1 });
  });

  test('upgrades the journal tables once if two processes upgrade together', async () => {
    const url = server().database();
    const [one, other] = [await filledDatabase(url), emptyDatabase(url)];
    const announced: number[] = [];
    await Promise.all(
      [one, other].map((each) =>
        upgradeTables(each, nextJournalPart, {
          onStep: (version) => void announced.push(version),
        }),
      ),
    );
    expect(announced).toEqual([1]);
  });

  test('leaves the journal tables unchanged if a step fails', async () => {
    const database = await filledDatabase();
    const steps = [...journalPart.steps, 'DROP TABLE attempts; DROP TABLE nothing;'];
    await expect(upgradeTables(database, { ...journalPart, steps })).rejects.toThrow('nothing');
    await checkTables(database, journalPart);
    expect(await database.read((sql) => sql.all('SELECT 1 FROM attempts LIMIT 1'))).toHaveLength(1);
  });

  test('checkTables suggests an upgrade if the program needs a later version of the tables', async () => {
    const database = await filledDatabase();
    await expect(checkTables(database, nextJournalPart)).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringContaining('has version 1, but this program requires version 2'),
        next: { do: 'upgrade-database' },
      }),
    );
  });
});

test.skipIf(!hasPostgres)(
  'upgradeTables refuses a database of another program without changing the database',
  async () => {
    const url = server().database();
    const name = new URL(url).pathname.slice(1);
    server().sql(
      'CREATE SCHEMA svcpay; CREATE TABLE svcpay.identity (id TEXT); ' +
        'CREATE TABLE svcpay.submissions (account TEXT); CREATE TABLE svcpay.parts (part TEXT)',
      name,
    );
    const database = emptyDatabase(url);
    for (const action of [checkTables, upgradeTables])
      await expect(action(database, journalPart)).rejects.toThrow(
        expect.objectContaining({
          kind: 'usage',
          message: expect.stringContaining('a development build or another program'),
          hint: 'Use a new database',
        }),
      );
    const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'svcpay'";
    expect(server().sql(tables, name).trim().split('\n').toSorted()).toEqual([
      'identity',
      'parts',
      'submissions',
    ]);
  },
);

describe('journal with an emptied file', () => {
  test.for([
    ['the settings record earlier payments', true, ''],
    ['its write-ahead log still exists', false, 'not empty'],
  ] as const)('reports an emptied journal file as damaged if %s', ([_why, isKnown, log]) => {
    const path = fileOf('journal.db');
    writeFileSync(path, '');
    if (log !== '') writeFileSync(`${path}-wal`, log);
    expect(() => open(path, isKnown)).toThrow('is damaged (it was emptied)');
    expect(statSync(path).size).toBe(0);
  });

  test('treats an empty journal file as new if no trace of an earlier journal exists', async () => {
    const path = fileOf('journal.db');
    writeFileSync(path, '');
    const journal = open(path);
    expect(await journal.open(account)).toEqual([]);
    expect(existsSync(copyOf(path, 1))).toBe(false);
    await journal.close();
  });
});
