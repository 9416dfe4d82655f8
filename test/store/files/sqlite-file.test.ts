// Tests the daily check of all pages of a SQLite file, and its locks.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
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

/** Damages a page that SQLite does not read to open the file. */
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

/** Returns the latest version of page 1 of the database in a write-ahead log. */
function firstPage(log: Buffer): Buffer {
  const [logHeader, frameHeader, pageSize] = [32, 24, log.readUInt32BE(8)];
  const frames = Array.from(
    { length: Math.floor((log.length - logHeader) / (frameHeader + pageSize)) },
    (_, n) => logHeader + n * (frameHeader + pageSize),
  );
  const at = frames.findLast((frame) => log.readUInt32BE(frame) === 1) ?? 0;
  return log.subarray(at + frameHeader, at + frameHeader + pageSize);
}

test('openSqlite opens a file after a process died while merging the write-ahead log into the file', () => {
  const file = bigFile();
  const db = openSqlite(file);
  const left = { ...file, path: `${file.path}-left` };
  for (const end of ['', '-wal']) copyFileSync(`${file.path}${end}`, `${left.path}${end}`);
  db.close();
  const merging = openSync(left.path, 'r+');
  writeSync(merging, firstPage(readFileSync(`${left.path}-wal`)), 0, undefined, 0);
  closeSync(merging);
  const opened = openSqlite(left);
  expect(opened.prepare('SELECT count(*) AS count FROM rows').get()).toMatchObject({
    count: 20_000,
  });
  opened.close();
});
