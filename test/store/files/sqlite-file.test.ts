// The daily check of all pages of a SQLite file, and its locks.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite, type SqliteFile } from '../../../src/store/files/sqlite-file.js';

const hourMs = 3_600_000;
const rows =
  'CREATE TABLE rows AS WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 20000) SELECT x, hex(x) AS y FROM n;';

function bigFile(): SqliteFile {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return {
    path: join(folder, 'big.db'),
    name: 'file',
    applicationId: 7,
    steps: [rows],
    advice: { hint: undefined, next: undefined },
  };
}

/** In a page that opening the file does not need. */
function damage({ path }: SqliteFile): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, Math.floor(statSync(path).size / 8192) * 4096);
  closeSync(file);
}

test('openSqlite checks all pages of a file once a day', () => {
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

test('openSqlite keeps the lock of the write-ahead log if one process opens a file twice', () => {
  const file = bigFile();
  const [first] = [openSqlite(file), openSqlite(file)];
  const other = (action: string): string =>
    execFileSync(
      process.execPath,
      [
        '-e',
        `const db = new (require('libsql'))(process.argv[1]); ${action}; db.close();`,
        file.path,
      ],
      { encoding: 'utf8', cwd: import.meta.dirname },
    );
  other("db.exec('SELECT count(*) FROM rows')");
  first?.exec('CREATE TABLE seen (x); INSERT INTO seen VALUES (7)');
  expect(
    other("process.stdout.write(JSON.stringify(db.prepare('SELECT x FROM seen').all()))"),
  ).toBe('[{"x":7}]');
});
