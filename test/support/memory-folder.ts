// Before all tests: temporary folders lie in memory where there is a folder for that, so that
// nothing waits for a disk.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const memory = '/dev/shm';

/** Containers have a small one. */
const leastBytes = 2 ** 30;

export function setup(): (() => void) | undefined {
  if (!existsSync(memory)) return undefined;
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < leastBytes) return undefined;
  const folder = mkdtempSync(join(memory, 'svcpay-tests-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // A database server runs as somebody else.
  chmodSync(folder, 0o755);
  if (!runsPrograms(folder)) return void remove();
  process.env['TMPDIR'] = folder;
  return remove;
}

/** Some tests write programs, which not every system runs from there. */
function runsPrograms(folder: string): boolean {
  const file = join(folder, 'program');
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(file);
  rmSync(file);
  return status === 0;
}
