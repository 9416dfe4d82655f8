// Tests that a commit with `lasts` waits until the write-ahead log is on disk.
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sqliteDatabase } from '../../../src/store/database/sqlite-database.js';
import { journalIn } from '../../../src/store/journal/schema.js';

test('sqliteDatabase fails only a transaction that must last if the log cannot be synced', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'durable-')), 'journal.sqlite');
  const database = sqliteDatabase(journalIn(path), Date.now);
  const write = (lasts: boolean) =>
    database.transaction((sql) => sql.run('CREATE TABLE IF NOT EXISTS t (n INTEGER)'), { lasts });
  await write(false);
  rmSync(`${path}-wal`);
  await expect(write(true)).rejects.toThrow(/ENOENT/);
  await expect(write(false)).resolves.toBeDefined();
  await database.close();
});

test('sqliteDatabase fails a transaction that must last if the file was moved', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'durable-')), 'journal.sqlite');
  const database = sqliteDatabase(journalIn(path), Date.now);
  const write = () =>
    database.transaction((sql) => sql.run('CREATE TABLE IF NOT EXISTS t (n INTEGER)'), {
      lasts: true,
    });
  await write();
  renameSync(path, `${path}-moved`);
  await expect(write()).rejects.toThrow('was moved or deleted while it was in use');
  await database.close();
});
