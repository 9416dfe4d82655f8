// How often all pages of a SQLite file are read.
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite, type SqliteFile } from '../../../src/store/files/sqlite-file.js';

const hourMs = 3_600_000;
const rows = 'CREATE TABLE rows AS WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 20000) SELECT x, hex(x) AS y FROM n;';

function bigFile(): SqliteFile {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { path: join(folder, 'big.db'), name: 'file', applicationId: 7, steps: [rows], advice: { hint: undefined, next: undefined } };
}

/** In a page that opening the file does not need. */
function damage({ path }: SqliteFile): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, Math.floor(statSync(path).size / 8192) * 4096);
  closeSync(file);
}

test('all pages are read once a day, and if no time is given', () => {
  const file = bigFile();
  const start = Date.UTC(2026, 0, 1);
  const openAt = (ms: number): void => void openSqlite(file, () => start + ms).close();
  const db = openSqlite(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  openAt(hourMs);
  damage(file);
  openAt(24 * hourMs);
  expect(() => openSqlite(file)).toThrow('is damaged');
  expect(() => openAt(26 * hourMs)).toThrow('is damaged');
  expect(() => openAt(26 * hourMs)).toThrow('is damaged');
  openAt(2 * hourMs);
  expect(() => openAt(-25 * hourMs)).toThrow('is damaged');
});
