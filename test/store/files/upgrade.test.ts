// Files and tables of earlier versions are upgraded step by step, wherever an upgrade was killed; newer files are left alone.
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'libsql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { copyOf } from '../../../src/store/files/sqlite-file.js';
import { openEventStore } from '../../../src/store/events/sqlite-events.js';
import { places } from '../../../src/store/database/rows.js';
import { postgresDatabase } from '../../../src/store/database/postgres.js';
import { upgradeTables } from '../../../src/store/database/postgres-schema.js';
import type { Journal } from '../../../src/store/journal/journal.js';
import { status, type Payment, type PaymentDraft } from '../../../src/store/journal/payment.js';
import { journalPart, openPostgresJournal } from '../../../src/store/journal/postgres-journal.js';
import { openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { hasPostgres } from '../../support/postgres.js';
import { sharedPostgres } from '../../support/shared-postgres.js';
import { upgradedWhereverKilled } from '../../support/killed-upgrade.js';

const fixture = (name: string): string => resolve(import.meta.dirname, '../fixtures', name);

function fileOf(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-upgrade-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name.replace(/-\d/, ''));
  copyFileSync(fixture(name), path);
  return path;
}

const open = (path: string, isKnown = false): Journal =>
  openJournal({ path, isAlive: () => true, now: () => Date.now(), isKnown });

function rowsOf(path: string): unknown[] {
  const db = new Database(path);
  const columns =
    'id, scope, ref, kind, request, once_key, consent, attempt, step, txn_id, txn_state, approved_total, closed';
  const rows: unknown[] = db.prepare(`SELECT ${columns} FROM intents ORDER BY id`).all();
  db.close();
  return rows;
}

const account = 'ne01-e84b64ed';
/** The payments of each version: status, and state, approved total and submission of each attempt. */
const ofVersion1: Record<string, string> = {
  coffee: 'paid: paid 0.00005013 at 1795273192653',
  'coffee-again': 'failed: failed 0.00005013 at 1795273194369',
  'swap-1': 'paid: paid 10.025 at 1795273195343',
  'looked-at': 'abandoned: quoted',
  'in-doubt': 'in-flight: in-flight 6.01 at 1795273198100',
  going: 'in-flight: in-flight 7.012 at 1795273202460',
};
const ofVersion2: Record<string, string> = {
  ...ofVersion1,
  'of-version-2': 'in-flight: in-flight 0.5 at 1763700000000',
};
const ofVersion3: Record<string, string> = {
  ...ofVersion2,
  'only-requested': 'open: requested',
  declined: 'abandoned: requested',
  'h-quoted': 'open: quoted',
  submitting: 'in-flight: submitting 0.1 at 1763800004040',
  'expired-after': 'unknown: unknown 0.2 at 1763800005060',
  'final-expired-after': 'unknown: unknown 0.3 at 1763800006090',
  lapsed: 'abandoned: lapsed',
  error: 'failed: error 0.4 at 1763800008140',
  rejected: 'failed: failed 0.5 at 1763800009170',
  refused: 'abandoned: quoted 0.6',
  'tried-again': 'paid: unknown 0.7 at 1763800011230, 2 paid 0.8 at 1763800011260',
  'h-doubtful': 'unknown: unknown 0.9 at 1763800012290, 2 requested',
  'third-try': 'unknown: unknown 0.01 at 1763800013330, 2 unknown 0.02 at 1763800013360, 3 quoted',
  elsewhere: 'in-flight: in-flight',
  back: 'in-flight: in-flight 0.03 at 1763800015420',
  twice: 'open: quoted',
};
const versions = [
  ['journal-1.db', { version: 1, payments: ofVersion1, spends: 4, stride: 1 }],
  ['journal-2.db', { version: 2, payments: ofVersion2, spends: 6, stride: 4 }],
  ['journal-3.db', { version: 3, payments: ofVersion3, spends: 26, stride: 4 }],
] as const;

function summary(payment: Payment): string {
  const attempts = payment.attempts.map(({ number, state, approvedTotal, submittedAt }) =>
    [number > 1 && number, state, approvedTotal, submittedAt && `at ${submittedAt}`]
      .filter(Boolean)
      .join(' '),
  );
  return `${status(payment)}: ${attempts.join(', ')}`;
}

const isWhole =
  ([, { payments, spends }]: (typeof versions)[number]) =>
  async (path: string): Promise<void> => {
    const journal = open(path);
    const found = await Promise.all(
      Object.keys(payments).map(async (ref) => [ref, summary((await journal.find(account, ref))!)]),
    );
    expect(Object.fromEntries(found)).toEqual(payments);
    const unfinished = (await journal.open(account)).map(({ ref }) => ref);
    expect(unfinished.toSorted()).toEqual(
      Object.keys(payments)
        .filter((ref) => /^(open|in-flight|unknown)/.test(payments[ref] ?? ''))
        .toSorted(),
    );
    expect(await journal.spent(account, { lengthMs: 1, earliest: 1, latest: 1 })).toHaveLength(
      spends,
    );
    await journal.close();
  };

describe.each(versions)('an earlier %s', (name, about) => {
  test('is upgraded with every payment, and its copy kept', async () => {
    const path = fileOf(name);
    await isWhole([name, about] as (typeof versions)[number])(path);
    expect(rowsOf(copyOf(path, about.version))).toEqual(rowsOf(fixture(name)));
    expect([path, copyOf(path, about.version)].map((each) => statSync(each).mode & 0o777)).toEqual([
      0o644, 0o600,
    ]);
  });

  test('has the payments of an account under one scope, whatever the host name', async () => {
    const journal = open(fileOf(name));
    const paid = await journal.find(account, 'coffee');
    expect(paid).toMatchObject({
      account,
      scope: account,
      attempts: [{ state: 'paid', txnState: 'completed' }],
    });
    const draft = { ...paid, id: 'new', ref: 'other' } as PaymentDraft;
    expect(await journal.begin(draft)).toMatchObject({ found: 'once', payment: { ref: 'coffee' } });
    await journal.close();
  });

  test('is upgraded completely by the next process, wherever the previous one was killed', async () => {
    const file = 'src/store/journal/sqlite-journal.ts#journalIn';
    const died = await upgradedWhereverKilled(
      file,
      () => fileOf(name),
      isWhole([name, about] as (typeof versions)[number]),
      about.stride,
    );
    expect(died * about.stride).toBeGreaterThan(11);
  });
});

test('payments of two hosts with one reference are both kept, separate from the sandbox', async () => {
  const journal = open(fileOf('journal-3.db'));
  expect(await journal.find(account, 'twice')).toMatchObject({ fingerprint: 'f-twice' });
  expect(await journal.find(`https://pay.example ${account}`, 'twice')).toMatchObject({
    fingerprint: 'alias',
  });
  expect(await journal.find(`http://sandbox.localhost ${account}`, 'twice')).toMatchObject({
    fingerprint: 'sandbox',
  });
  await journal.close();
});

test('a journal that was moved into a database stays closed after an upgrade', async () => {
  const path = fileOf('journal-3.db');
  const db = new Database(path);
  db.exec(`CREATE TRIGGER moved_before_INSERT BEFORE INSERT ON intents BEGIN SELECT RAISE(ABORT, 'its payments were moved into a database'); END;
    CREATE TRIGGER moved_before_UPDATE BEFORE UPDATE ON intents BEGIN SELECT RAISE(ABORT, 'its payments were moved into a database'); END;`);
  db.close();
  const journal = open(path);
  const { id: _id, ...paid } = (await journal.find(account, 'coffee'))!;
  await expect(
    journal.begin({ ...paid, id: 'new', ref: 'new', idempotencyKey: null }),
  ).rejects.toThrow('moved into a database');
  await expect(
    journal.claim((await journal.find(account, 'going'))?.id ?? '', 'one'),
  ).rejects.toThrow('moved into a database');
  await journal.close();
});

describe.skipIf(!hasPostgres)('journal tables of an earlier version in PostgreSQL', () => {
  test.each([2, 3])('are upgraded from version %i with every payment', async (version) => {
    const server = await sharedPostgres();
    onTestFinished(() => server.stop());
    const database = postgresDatabase({
      url: server.database(),
      source: 'the test',
      clock: () => performance.now(),
    });
    onTestFinished(() => database.close());
    await upgradeTables(database, 'the test', {
      ...journalPart,
      steps: journalPart.steps.slice(0, version),
    });
    const name = `journal-${version}.db`;
    const file = new Database(fixture(name), { readonly: true });
    for (const row of file.prepare('SELECT * FROM intents').all() as Record<
      string,
      string | number | null
    >[]) {
      const names = Object.keys(row);
      await database.transaction((sql) =>
        sql.run(
          `INSERT INTO intents (${names.join(', ')}) VALUES (${places(names.length)})`,
          ...Object.values(row),
        ),
      );
    }
    file.close();
    await upgradeTables(database, 'the test', journalPart);
    const [shared, own] = [openPostgresJournal(database, () => true), open(fileOf(name))];
    const [, { payments }] = versions[version - 1]!;
    for (const ref of Object.keys(payments))
      expect(await shared.find(account, ref)).toEqual(await own.find(account, ref));
    expect(await shared.open(account)).toEqual(await own.open(account));
    expect(await shared.find(`https://pay.example ${account}`, 'twice')).toEqual(
      await own.find(`https://pay.example ${account}`, 'twice'),
    );
    await own.close();
  });
});

test('an inbox of version 1 is upgraded with its backlog', async () => {
  const store = openEventStore(fileOf('events-1.db'), () => 1);
  expect(await store.leases.take('http://127.0.0.1:9/hooks', 'one', 10)).toHaveLength(3);
  expect((await store.read(1))?.txnState).toBe('quoted');
  await store.close();
});

test.for([
  ['journal-1.db', (path: string) => open(path)],
  ['events-1.db', (path: string) => openEventStore(path, () => 1)],
] as const)('a newer %s is not changed', ([name, opens]) => {
  const path = fileOf(name);
  const db = new Database(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  const whole = readFileSync(path);
  expect(() => opens(path)).toThrow('was written by a newer svcpay');
  expect(readFileSync(path).equals(whole)).toBe(true);
  expect(existsSync(copyOf(path, 1))).toBe(false);
});

describe('an emptied journal', () => {
  test.for([
    ['the settings tell of payments', true, ''],
    ['its log is still there', false, 'not empty'],
  ] as const)('is damaged if %s', ([_why, isKnown, log]) => {
    const path = fileOf('journal-1.db');
    writeFileSync(path, '');
    if (log !== '') writeFileSync(`${path}-wal`, log);
    expect(() => open(path, isKnown)).toThrow('is damaged (it was emptied)');
    expect(statSync(path).size).toBe(0);
  });

  test('is a new one without traces of an old one', async () => {
    const path = fileOf('journal-1.db');
    writeFileSync(path, '');
    const journal = open(path);
    expect(await journal.open('any')).toEqual([]);
    expect(existsSync(copyOf(path, 1))).toBe(false);
    await journal.close();
  });
});
