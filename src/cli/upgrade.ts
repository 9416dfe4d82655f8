// Finds how svcpay was installed and the command that upgrades it, and reports a newer version at a
// terminal, at most once a day.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dayMs } from '../formats/calendar.js';
import { findHome, isThere } from '../store/files/home.js';
import type { Process } from './process.js';

interface Installation {
  readonly by: string;
  /** The command that installs the newest version in the same way. */
  readonly upgrade: string;
}

const clone = 'git clone';

/** @param script the path of the program's script, without symbolic links */
export function installationOf(script: string): Installation {
  const path = script.replaceAll('\\', '/');
  if (path.includes('/Cellar/')) return { by: 'Homebrew', upgrade: 'brew upgrade svcpay' };
  if (path.includes('/scoop/')) return { by: 'Scoop', upgrade: 'scoop update svcpay' };
  if (path.includes('/.pnpm/') || path.includes('/pnpm/'))
    return { by: 'pnpm', upgrade: 'pnpm add --global svcpay' };
  const [folder] = path.split('/node_modules/svcpay/');
  if (folder === path) return { by: clone, upgrade: 'git pull && npm ci' };
  // npm installs global packages into lib/node_modules, and on Windows into npm/node_modules.
  const isGlobal = /\/(?:lib|npm|nodejs)$/.test(folder ?? '');
  return { by: 'npm', upgrade: `npm install ${isGlobal ? '--global ' : ''}svcpay` };
}

const newestFile = 'newest-version';

/** Returns the newest version that the last check found, or undefined if svcpay is up to date. */
export function newerVersion(folder: string, installed: string): string | undefined {
  const file = join(folder, newestFile);
  const newest = isThere(file) ? readFileSync(file, 'utf8').trim() : '';
  return /^\d+\.\d+\.\d+$/.test(newest) && isNewer(newest, installed) ? newest : undefined;
}

const isNewer = (left: string, right: string): boolean =>
  left.localeCompare(right, 'en', { numeric: true }) > 0;

/**
 * Returns the notice of a newer version at most once a day, and then starts the next check in the
 * background. Silent in CI, if `SVCPAY_NO_UPDATE_CHECK` is set, and in a home of `SVCPAY_HOME`,
 * which uses nothing outside its folder. A clone of the source has no version to install.
 * @param script the path of the program's script, without symbolic links
 * @param startCheck starts a process that writes the newest version to a file
 * @param folder the folder of the file
 */
export function upgradeNotice(
  { env, now, version }: Pick<Process, 'env' | 'now' | 'version'>,
  script: string,
  startCheck: (file: string) => void,
  folder = findHome(env).data,
): string | undefined {
  const isOff = [env['CI'], env['SVCPAY_NO_UPDATE_CHECK'], env['SVCPAY_HOME']].some(Boolean);
  const { by, upgrade } = installationOf(script);
  if (isOff || by === clone || !isThere(folder)) return undefined;
  const file = join(folder, newestFile);
  const checkedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (now() - checkedAt < dayMs) return undefined;
  const newest = newerVersion(folder, version);
  startCheck(file);
  return newest && `svcpay ${newest} is available (installed: ${version}): ${upgrade}`;
}
