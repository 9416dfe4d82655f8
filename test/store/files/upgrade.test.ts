// Files and tables reach the next version step by step, wherever an upgrade is killed. Files of
// newer versions, development builds and other programs are left alone.
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
import { journalPart } from '../../../src/store/journal/schema.js';
import { journalIn, openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { sandboxFileIn } from '../../../src/sandbox/storage/schema.js';
import { account, fillHome, refs } from '../../support/filled-home.js';
import { svcpay } from '../../support/in-process.js';
import { upgradedWhereverKilled } from '../../support/killed-upgrade.js';
import { hasPostgres } from '../../support/postgres.js';
import { prepareTables } from '../../support/prepared-database.js';
import { usingPostgres } from '../../support/shared-postgres.js';
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

/** A copy of a file of version 1. */
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

describe('a journal file of version 1', () => {
  test('is upgraded by a second step with every payment, and a private copy is kept', () => {
    const path = fileOf('journal.db');
    openSqlite(nextJournalIn(path)).close();
    expect(rowsOf(path, upgradedRows)).toEqual(notes);
    expect(rowsOf(path, 'PRAGMA user_version')).toEqual([{ user_version: 2 }]);
    const all = 'SELECT * FROM payments JOIN attempts ON payment_id = id ORDER BY id';
    expect(rowsOf(copyOf(path, 1), all)).toEqual(rowsOf(join(filled, 'journal.db'), all));
    expect(statSync(copyOf(path, 1)).mode & 0o777).toBe(0o600);
  });

  test('is upgraded completely by the next process, wherever the previous one was killed', async () => {
    const died = await upgradedWhereverKilled(
      'test/store/fixtures/next-version.js#nextJournalIn',
      () => fileOf('journal.db'),
      async (path) => {
        openSqlite(nextJournalIn(path)).close();
        expect(rowsOf(path, upgradedRows)).toEqual(notes);
      },
    );
    expect(died).toBeGreaterThan(11);
  });
});

test('an inbox file of version 1 is upgraded by a second step with its backlog', () => {
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

/** The marks and the last versions of files that no release wrote. */
const developed = { journal: [0x7376706a, 5], inbox: [0x73767065, 3], sandbox: [0x73767073, 8] };

describe.each(files)('a %s file', (name, fileIn) => {
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

  test('of a newer version is not changed', () => {
    expectUnchanged(made('PRAGMA user_version = 99'), 'was written by a newer svcpay');
  });

  test.each([
    ['a development build', name],
    ['an early development build, without a mark', undefined],
  ] as const)('of %s is refused and not changed', (_which, of) => {
    const [mark, version] =
      of === undefined ? [0, 2] : (developed[of as keyof typeof developed] ?? []);
    const path = made(`PRAGMA application_id = ${mark}; PRAGMA user_version = ${version}`);
    expectUnchanged(path, 'was written by a development build or another program');
  });

  test('of another program is refused and not changed', () => {
    const path = join(newFolder(), 'file.db');
    const db = new Database(path);
    db.exec('CREATE TABLE notes (text TEXT)');
    db.close();
    expectUnchanged(path, 'was written by a development build or another program');
  });
});

test('a home of a development build is refused with exit 2 and what to do', async () => {
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
    expect.objectContaining({ kind: 'usage', hint: expect.stringContaining('Move it away') }),
  );
});

const server = usingPostgres();

function emptyDatabase(url = server().database()): Postgres {
  const database = postgresDatabase({ url, source: 'the test', clock: () => performance.now() });
  onTestFinished(() => database.close());
  return database;
}

describe.skipIf(!hasPostgres)('journal tables of version 1 in PostgreSQL', () => {
  test('are created only in a database that is meant to be new', async () => {
    const database = emptyDatabase();
    for (const action of [checkTables, upgradeTables])
      await expect(action(database, journalPart)).rejects.toThrow(
        expect.objectContaining({ kind: 'usage', next: { do: 'create-tables' } }),
      );
    await upgradeTables(database, journalPart, { isNew: true });
    // The second part belongs to a database that is known.
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

  test('are upgraded by a second step with every payment, after a notice', async () => {
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

  test('are upgraded once by two processes at once', async () => {
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

  test('stay as they are if the step fails', async () => {
    const database = await filledDatabase();
    const steps = [...journalPart.steps, 'DROP TABLE attempts; DROP TABLE nothing;'];
    await expect(upgradeTables(database, { ...journalPart, steps })).rejects.toThrow('nothing');
    await checkTables(database, journalPart);
    expect(await database.read((sql) => sql.all('SELECT 1 FROM attempts LIMIT 1'))).toHaveLength(1);
  });

  test('are asked for by a program that needs the next version', async () => {
    const database = await filledDatabase();
    await expect(checkTables(database, nextJournalPart)).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringContaining('has version 1; this program needs version 2'),
        next: { do: 'upgrade-database' },
      }),
    );
  });
});

test.skipIf(!hasPostgres)(
  'a database of a development build or another program is refused and not changed',
  async () => {
    const url = server().database();
    const name = new URL(url).pathname.slice(1);
    server().sql('CREATE SCHEMA svcpay; CREATE TABLE svcpay.versions (part TEXT)', name);
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
    expect(server().sql(tables, name).trim()).toBe('versions');
  },
);

describe('an emptied journal', () => {
  test.for([
    ['the settings tell of payments', true, ''],
    ['its log is still there', false, 'not empty'],
  ] as const)('is damaged if %s', ([_why, isKnown, log]) => {
    const path = fileOf('journal.db');
    writeFileSync(path, '');
    if (log !== '') writeFileSync(`${path}-wal`, log);
    expect(() => open(path, isKnown)).toThrow('is damaged (it was emptied)');
    expect(statSync(path).size).toBe(0);
  });

  test('is a new one without traces of an old one', async () => {
    const path = fileOf('journal.db');
    writeFileSync(path, '');
    const journal = open(path);
    expect(await journal.open(account)).toEqual([]);
    expect(existsSync(copyOf(path, 1))).toBe(false);
    await journal.close();
  });
});
