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

const before = rowsOf(fixture('journal-1.db'));
const account = 'ne01-e84b64ed';

async function isWhole(path: string): Promise<void> {
  const journal = open(path);
  const going = await journal.open(`http://127.0.0.1:37299 ${account}`);
  expect(going.map(({ ref, step, txnState }) => ({ ref, step, txnState }))).toEqual([
    { ref: 'in-doubt', step: 'confirmed', txnState: 'srccreated' },
    { ref: 'going', step: 'confirmed', txnState: 'srccreated' },
  ]);
  const spent = await journal.spent(account, { lengthMs: 1, earliest: 1, latest: 1 });
  expect(spent).toHaveLength(4);
  await journal.close();
  expect(rowsOf(path)).toEqual(before);
}

describe('a journal of version 1', () => {
  test('is upgraded with all that is in it, and kept as it was', async () => {
    const path = fileOf('journal-1.db');
    await isWhole(path);
    expect(rowsOf(copyOf(path, 1))).toEqual(before);
    expect([path, copyOf(path, 1)].map((each) => statSync(each).mode & 0o777)).toEqual([0o644, 0o600]);
  });

  test('finds what was paid under one host name from another', async () => {
    const journal = open(fileOf('journal-1.db'));
    const paid = await journal.find(`http://127.0.0.1:37299 ${account}`, 'coffee');
    const { id: _id, ...rest } = paid ?? { id: '' };
    expect(paid).toMatchObject({ account, step: 'final', txnState: 'completed' });
    const draft = { ...rest, id: 'new', scope: `http://elsewhere ${account}`, ref: 'other' };
    expect(await journal.begin(draft as Parameters<Journal['begin']>[0])).toMatchObject({ found: 'once', intent: { ref: 'coffee' } });
    await journal.close();
  });

  test('is upgraded to the end by the next process, wherever the one before was killed', async () => {
    const file = 'src/store/journal/sqlite-journal.js#journalIn';
    expect(await upgradedWhereverKilled(file, () => fileOf('journal-1.db'), isWhole)).toBeGreaterThan(15);
  });
});

test('an inbox of version 1 is upgraded with its backlog', async () => {
  const store = openEventStore(fileOf('events-1.db'), () => 1);
  expect(await store.lanes.take('http://127.0.0.1:9/hooks', 'one', 10)).toHaveLength(3);
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
