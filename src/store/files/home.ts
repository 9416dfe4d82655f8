// Where svcpay keeps its files: one folder under SVCPAY_HOME, else the platform's own places.
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import envPaths from 'env-paths';
import { Failure } from '../../formats/failure.js';
import { codeOf } from '../../formats/unknown.js';

export interface Home {
  readonly config: string;
  readonly data: string;
  /** Whether SVCPAY_HOME set it apart, so that nothing outside it (such as a system keyring) is to be used. */
  readonly isolated: boolean;
}

/** Throws Failure `usage` where nothing tells: files must not lie wherever one happens to be. */
export function findHome(env: NodeJS.ProcessEnv): Home {
  const own = env['SVCPAY_HOME'];
  if (own !== undefined && own !== '') return { config: own, data: own, isolated: true };
  const { config, data } = envPaths('svcpay', { suffix: '' });
  if (isAbsolute(config) && isAbsolute(data)) return { config, data, isolated: false };
  throw new Failure('usage', `The folders for files are unknown: ${config} and ${data} are not absolute paths.`, {
    hint: 'Set HOME, or SVCPAY_HOME to a folder.',
  });
}

/** Creates the folder if need be, readable by its owner alone. One that is there keeps its rights. */
export function openFolder(folder: string): string {
  try {
    makeFolder(folder);
  } catch (cause) {
    throw new Failure('usage', `Nothing was sent: the folder ${folder} cannot be written.`, {
      hint: 'Make it writable, or set SVCPAY_HOME to another folder.',
      cause,
    });
  }
  return folder;
}

/** With those above it. Node's own way to do that never ends where a folder can be read and none can be made in it. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && statSync(folder).isDirectory()) return;
    throw error;
  }
  // The umask may have taken away more than it should.
  chmodSync(folder, 0o700);
}

/** Creates an empty file, if need be, that only its owner can read, whatever the umask; tells whether it did. */
export function createPrivate(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  chmodSync(path, 0o600);
  return true;
}

/** Whether there is anything of this name, a link that leads nowhere too. Throws where that cannot be told. */
export const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

export const journalFile = (home: Home): string => join(home.data, 'journal.db');
export const sandboxFile = (home: Home): string => join(home.data, 'sandbox.db');
export const eventsFile = (home: Home): string => join(home.data, 'events.db');
