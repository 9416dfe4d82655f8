// Tests that a commit with `lasts` waits until the write-ahead log is on disk.
import type * as Fs from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { sqliteDatabase } from '../../../src/store/database/sqlite-database.js';
import { journalIn } from '../../../src/store/journal/sqlite-journal.js';

const disk = vi.hoisted(() => ({ syncs: 0, isBroken: false }));

vi.mock('node:fs', async (original) => ({
  ...(await original<typeof Fs>()),
  fdatasync: (_file: number, done: (error: Error | null) => void): void => {
    disk.syncs += 1;
    const error = Object.assign(new Error('input/output error'), { code: 'EIO' });
    setImmediate(() => done(disk.isBroken ? error : null));
  },
}));

beforeEach(() => Object.assign(disk, { syncs: 0, isBroken: false }));

const opened = () =>
  sqliteDatabase(journalIn(join(mkdtempSync(join(tmpdir(), 'durable-')), 'j.sqlite')), Date.now);

test('sqliteDatabase syncs the log only for a transaction that must last', async () => {
  const database = opened();
  await database.transaction(async () => undefined);
  expect(disk.syncs).toBe(0);
  await database.transaction(async () => undefined, { lasts: true });
  expect(disk.syncs).toBe(1);
  await database.close();
});

test('sqliteDatabase fails a transaction that must last if the disk refuses the sync', async () => {
  const database = opened();
  disk.isBroken = true;
  await expect(database.transaction(async () => 1, { lasts: true })).rejects.toThrow(/input/);
  expect(await database.transaction(async () => 2)).toBe(2);
  await database.close();
});
