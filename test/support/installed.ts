// Finds the system programs that some tests need.
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const debian = '/usr/lib/postgresql';

export function findProgram(name: string): string | undefined {
  const versions = existsSync(debian)
    ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a))
    : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/sbin',
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/**
 * Returns whether to run the tests that need `program`. If `program` is missing, the tests fail in
 * `.ci/run` and are skipped with a notice elsewhere.
 */
export function isInstalled(program: string): boolean {
  if (findProgram(program) !== undefined) return true;
  if (process.env['SVCPAY_TEST_PROGRAMS'] === 'required') return true;
  console.warn(`${program} is not installed: the tests that need it are skipped.`);
  return false;
}
