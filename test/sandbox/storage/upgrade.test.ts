// The sandbox's file of an earlier version: upgraded step by step with a copy kept, whenever that dies; newer ones left alone.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'libsql';
import * as v from 'valibot';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyBooks } from '../../../src/sandbox/world/ledger.js';
import { openStore, type Store } from '../../../src/sandbox/storage/database.js';
import { copyOf, openSqlite } from '../../../src/store/files/sqlite-file.js';
import { upgradedWhereverKilled } from '../../support/killed-upgrade.js';
import { fresh } from '../support.js';

/** Made by a sandbox of version 7, its clock frozen: a swap, a kept state after it, a receive, a quote to send. */
const fixture = resolve(import.meta.dirname, '../fixtures/sandbox-7.db');

function fileOfVersion7(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-sandbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'sandbox.db');
  copyFileSync(fixture, path);
  return path;
}

const open = (file: string): Store =>
  openStore({ file, openFile: openSqlite, verify: verifyBooks, initialise: () => undefined });
const rowsOf = (store: Store, sql: string): unknown[] => store.all(v.unknown(), sql);
const tables = `SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'copy%' AND name NOT LIKE 'sqlite%' ORDER BY name`;
const normal = (rows: unknown[]): string =>
  JSON.stringify(rows).replaceAll(/["\s\\]|--[^\n]*/g, '');

async function isWhole(path: string): Promise<void> {
  const store = open(path);
  expect(rowsOf(store, 'SELECT ext_ref_id AS ref, state FROM txn ORDER BY number')).toEqual([
    { ref: 'swapped', state: 'completed' },
    { ref: 'received', state: 'srcintent' },
    { ref: null, state: 'quoted' },
  ]);
  expect(rowsOf(store, 'PRAGMA foreign_key_check')).toEqual([]);
  await store.close();
}

describe('a sandbox file of version 7', () => {
  test('is upgraded with all its data, and keeps working', async () => {
    const file = fileOfVersion7();
    const sandbox = await fresh({ file });
    expect(sandbox.apiKey).toBe('key-of-version-7');
    const listed = (await sandbox.call('GET', '/transaction?time=other')).body.data;
    expect(listed.map(({ txnState }: { txnState: string }) => txnState)).toEqual([
      'quoted',
      'srcintent',
      'completed',
    ]);
    const received = listed[1].txnId;
    await sandbox.pay(received);
    await sandbox.mine(3);
    expect(await sandbox.state(received)).toBe('completed');
    expect((await sandbox.wallet('BTC')).amount).toBe(1.0189975);
    await sandbox.control('POST', 'snapshots/after-swap/load');
    expect((await sandbox.call('GET', '/transaction?time=other')).body.pagination.total).toBe(1);
    await sandbox.close();
    const before = new Database(copyOf(file, 7));
    expect(before.prepare('SELECT count(*) AS count FROM txn_count').get()).toMatchObject({
      count: 10,
    });
    before.close();
  });

  test('has the tables of a new file', async () => {
    const [upgraded, made] = [open(fileOfVersion7()), open(':memory:')];
    expect(normal(rowsOf(upgraded, tables))).toBe(normal(rowsOf(made, tables)));
    await upgraded.close();
    await made.close();
  });

  test('is upgraded completely by the next process, wherever the previous one was killed', async () => {
    const file = 'src/sandbox/storage/schema.js#sandboxFileIn';
    expect(await upgradedWhereverKilled(file, fileOfVersion7, isWhole, 3)).toBeGreaterThan(6);
  });
});

test.for([
  ['newer', 99, 'was written by a newer svcpay: it was not changed'],
  ['long outdated', 3, 'has a version that is no longer supported and was not changed'],
] as const)('a %s file is not changed', ([_which, version, words]) => {
  const file = fileOfVersion7();
  const db = new Database(file);
  db.exec(`PRAGMA user_version = ${version}`);
  db.close();
  const whole = readFileSync(file);
  expect(() => open(file)).toThrow(words);
  expect(Buffer.compare(readFileSync(file).subarray(100), whole.subarray(100))).toBe(0);
});
