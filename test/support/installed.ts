// Programs that some tests run other programs' files through.
import { spawnSync } from 'node:child_process';

/** Under CI=true every test runs, so that a missing program fails its tests instead of skipping them. */
export function isInstalled(program: string): boolean {
  if (spawnSync(program, ['--help']).status === 0 || process.env['CI'] === 'true') return true;
  console.warn(`${program} is not installed: the tests that need it are skipped.`);
  return false;
}
