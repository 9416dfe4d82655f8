// Before all tests, moves temporary folders into memory, if the system has a folder in memory, so
// that no test waits for a disk.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const memory = '/dev/shm';

/**
 * The free space in bytes that the folder in memory must have, because containers often have only a
 * small folder in memory.
 */
const leastBytes = 2 ** 30;

export function setup(): (() => void) | undefined {
  if (!existsSync(memory)) return undefined;
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < leastBytes) return undefined;
  const folder = mkdtempSync(join(memory, 'svcpay-tests-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // The PostgreSQL server may run as another user, who must be able to enter the folder.
  chmodSync(folder, 0o755);
  if (!runsPrograms(folder)) return void remove();
  process.env['TMPDIR'] = folder;
  return remove;
}

/** Some tests write programs, and not every system runs programs from a folder in memory. */
function runsPrograms(folder: string): boolean {
  const file = join(folder, 'program');
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(file);
  rmSync(file);
  return status === 0;
}
