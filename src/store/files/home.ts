// Finds svcpay's folders, in SVCPAY_HOME or in the platform's standard places.
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import envPaths from 'env-paths';
import { invalid } from '../../formats/failure.js';
import { codeOf } from '../../formats/text.js';

export interface Home {
  readonly config: string;
  readonly data: string;
  /**
   * Whether SVCPAY_HOME is set. If SVCPAY_HOME is set, svcpay uses nothing outside the folder that
   * SVCPAY_HOME names, not even a system keyring.
   */
  readonly isolated: boolean;
}

/**
 * Finds svcpay's folders. Throws Failure `usage` if a standard folder of the platform is not an
 * absolute path, so that files never land in the current folder.
 */
export function findHome(env: NodeJS.ProcessEnv): Home {
  const own = env['SVCPAY_HOME'];
  if (own !== undefined && own !== '') return { config: own, data: own, isolated: true };
  const { config, data } = envPaths('svcpay', { suffix: '' });
  if (isAbsolute(config) && isAbsolute(data)) return { config, data, isolated: false };
  throw invalid(
    `svcpay has no folder for its files: ${config} and ${data} are not absolute paths.`,
    {
      hint: 'Set HOME or SVCPAY_HOME to a folder.',
    },
  );
}

/**
 * Creates a missing folder, readable only by its owner. An existing folder keeps its permissions.
 */
export function openFolder(folder: string): string {
  try {
    makeFolder(folder);
  } catch (cause) {
    throw invalid(`the folder ${folder} cannot be written.`, {
      money: 'Nothing was sent',
      hint: 'Make the folder writable, or set SVCPAY_HOME to another folder.',
      cause,
    });
  }
  return folder;
}

/**
 * Creates a folder and its missing parents. Does not use Node's recursive mkdir, which hangs in a
 * folder that is readable but not writable.
 */
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
  // Sets the permissions explicitly, because the umask may have removed even the owner's
  // permissions.
  chmodSync(folder, 0o700);
}

/**
 * Creates an empty file that only its owner can read, whatever the umask. Returns false if the file
 * exists already.
 */
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

/**
 * Whether the path exists, even as a broken link. Throws if the system cannot determine whether the
 * path exists.
 */
export const isThere = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** The types of file systems that end with their container: overlayfs, aufs, tmpfs and ramfs. */
const temporaryTypes = new Set([0x794c7630, 0x61756673, 0x01021994, 0x858458f6]);

/** Whether an existing folder is on a file system that ends with its container. */
export const isTemporary = (folder: string): boolean => temporaryTypes.has(statfsSync(folder).type);

export const journalFile = (home: Home): string => join(home.data, 'journal.db');
export const sandboxFile = (home: Home): string => join(home.data, 'sandbox.db');
export const eventsFile = (home: Home): string => join(home.data, 'events.db');
/** The file in which a running `webhook listen` of this home records its address. */
export const receiverFile = (home: Home): string => join(home.data, 'receiver.json');
