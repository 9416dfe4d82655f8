// Where svcpay keeps its files: one folder under SVCPAY_HOME, else the platform's own places.
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import envPaths from 'env-paths';
import { Failure } from '../../formats/failure.js';

export interface Home {
  readonly config: string;
  readonly data: string;
  /** Whether SVCPAY_HOME set it apart, so that nothing outside it (such as a system keyring) is to be used. */
  readonly isolated: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function findHome(env: Environment): Home {
  const own = env['SVCPAY_HOME'];
  if (own !== undefined && own !== '') return { config: own, data: own, isolated: true };
  const paths = envPaths('svcpay', { suffix: '' });
  return { config: paths.config, data: paths.data, isolated: false };
}

/** Creates the folder if need be, readable by its owner alone. One that is there keeps its rights. */
export function openFolder(folder: string): string {
  try {
    const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
    // The umask may have taken away more than it should.
    if (made !== undefined) chmodSync(folder, 0o700);
  } catch (cause) {
    throw new Failure('usage', `Nothing was sent: the folder ${folder} cannot be written.`, {
      hint: 'Make it writable, or set SVCPAY_HOME to another folder.',
      cause,
    });
  }
  return folder;
}

/** Creates an empty file, if need be, that only its owner can read, whatever the umask; tells whether it did. */
export function createPrivate(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
  chmodSync(path, 0o600);
  return true;
}

export const journalFile = (home: Home): string => join(home.data, 'journal.db');
export const sandboxFile = (home: Home): string => join(home.data, 'sandbox.db');
export const eventsFile = (home: Home): string => join(home.data, 'events.db');
