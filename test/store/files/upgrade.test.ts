// Files of earlier versions: upgraded step by step with a copy kept, whenever the upgrade dies; newer ones left alone.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'libsql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { copyOf } from '../../../src/store/files/sqlite-file.js';
import { openEventStore } from '../../../src/store/events/sqlite-events.js';
import type { Journal } from '../../../src/store/journal/journal.js';
import { openJournal } from '../../../src/store/journal/sqlite-journal.js';
import { upgradedWhereverKilled } from '../../support/killed-upgrade.js';

const fixture = (name: string): string => resolve(import.meta.dirname, '../fixtures', name);

function fileOf(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-upgrade-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name.replace(/-\d/, ''));
  copyFileSync(fixture(name), path);
  return path;
}

const open = (path: string, isKnown = false): Journal => openJournal({ path, isAlive: () => true, now: () => Date.now(), isKnown });

function rowsOf(path: string): unknown[] {
  const db = new Database(path);
  const columns = 'id, scope, ref, kind, request, once_key, consent, attempt, step, txn_id, txn_state, approved_total, closed';
  const rows: unknown[] = db.prepare(`SELECT ${columns} FROM intents ORDER BY id`).all();
  db.close();
  return rows;
}

const account = 'ne01-e84b64ed';
const scope = `http://127.0.0.1:37299 ${account}`;
const goingOn = [
  { ref: 'in-doubt', step: 'confirmed', txnState: 'srccreated' },
  { ref: 'going', step: 'confirmed', txnState: 'srccreated' },
];
/** What each holds. */
const earlier = {
  'journal-1.db': { version: 1, open: goingOn, spends: 4, stride: 1 },
  'journal-2.db': { version: 2, open: [{ ref: 'of-version-2', step: 'confirmed', txnState: 'srccreated' }, ...goingOn], spends: 6, stride: 4 },
} as const;
const names = ['journal-1.db', 'journal-2.db'] as const;

const isWhole = (name: (typeof names)[number]) => async (path: string): Promise<void> => {
  const journal = open(path);
  const going = await journal.open(scope);
  expect(going.map(({ ref, step, txnState }) => ({ ref, step, txnState }))).toEqual(earlier[name].open);
  expect(going.flatMap(({ doubts }) => doubts)).toEqual([]);
  const spent = await journal.spent(account, { lengthMs: 1, earliest: 1, latest: 1 });
  expect(spent).toHaveLength(earlier[name].spends);
  await journal.close();
  expect(rowsOf(path)).toEqual(rowsOf(fixture(name)));
};

describe.each(names)('an earlier %s', (name) => {
  const { version, stride } = earlier[name];

  test('is upgraded with all that is in it, and kept as it was', async () => {
    const path = fileOf(name);
    await isWhole(name)(path);
    expect(rowsOf(copyOf(path, version))).toEqual(rowsOf(fixture(name)));
    expect([path, copyOf(path, version)].map((each) => statSync(each).mode & 0o777)).toEqual([0o644, 0o600]);
  });

  test('finds what was paid under one host name from another', async () => {
    const journal = open(fileOf(name));
    const paid = await journal.find(scope, 'coffee');
    const { id: _id, ...rest } = paid ?? { id: '' };
    expect(paid).toMatchObject({ account, step: 'final', txnState: 'completed' });
    const draft = { ...rest, id: 'new', scope: `http://elsewhere ${account}`, ref: 'other' };
    expect(await journal.begin(draft as Parameters<Journal['begin']>[0])).toMatchObject({ found: 'once', intent: { ref: 'coffee' } });
    await journal.close();
  });

  test('is upgraded to the end by the next process, wherever the one before was killed', async () => {
    const file = 'src/store/journal/sqlite-journal.js#journalIn';
    expect(await upgradedWhereverKilled(file, () => fileOf(name), isWhole(name), stride) * stride).toBeGreaterThan(15);
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
] as const)('a newer %s is left as it is', ([name, opens]) => {
  const path = fileOf(name);
  const db = new Database(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  const whole = readFileSync(path);
  expect(() => opens(path)).toThrow('was written by a newer svcpay');
  expect(readFileSync(path).equals(whole)).toBe(true);
  expect(existsSync(copyOf(path, 1))).toBe(false);
});

describe('a journal that was emptied', () => {
  test.for([
    ['the settings tell of payments', true, ''],
    ['its log is still there', false, 'not empty'],
  ] as const)('is damaged when %s', ([_why, isKnown, log]) => {
    const path = fileOf('journal-1.db');
    writeFileSync(path, '');
    if (log !== '') writeFileSync(`${path}-wal`, log);
    expect(() => open(path, isKnown)).toThrow('is damaged (it was emptied)');
    expect(statSync(path).size).toBe(0);
  });

  test('is a new one when nothing tells of an old one', async () => {
    const path = fileOf('journal-1.db');
    writeFileSync(path, '');
    const journal = open(path);
    expect(await journal.open('any')).toEqual([]);
    expect(existsSync(copyOf(path, 1))).toBe(false);
    await journal.close();
  });
});
