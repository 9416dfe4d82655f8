// Identifies this process in the journal's claims, and detects whether another process is running.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { codeOf } from '../../formats/text.js';
import type { Actor } from './steps.js';

/**
 * The name of a process as the owner of claims.
 * @param nonce distinguishes processes with the same process id, for example in a restarted
 * container
 */
export const ownerOf = (pid: number, nonce: string): string => `${place()} ${pid} ${nonce}`;

/** The actor of a journal whose opener gives none. */
export const unnamedActor: Actor = {
  door: 'unknown',
  user: '',
  uid: null,
  host: '',
  pid: 0,
  version: '',
  profile: null,
  sandbox: null,
};

/** The actor of this process in the trails of payments. */
export function actorOf(
  given: Pick<Actor, 'door' | 'version' | 'profile' | 'sandbox' | 'budget'>,
  pid: number,
): Actor {
  const { username, uid } = user();
  return { ...given, user: username, uid: uid < 0 ? null : uid, host: hostname(), pid };
}

/** The user of the operating system. A container may run under a number without a name. */
function user(): { readonly username: string; readonly uid: number } {
  try {
    return userInfo();
  } catch {
    const uid = process.getuid?.() ?? -1;
    return { username: String(uid), uid };
  }
}

/**
 * The scope within which process ids are unique. A host name does not identify the scope of a
 * process id, because host names are not unique and each container numbers its processes from one.
 */
const place = (): string =>
  [
    hostname(),
    readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    readOrEmpty(() => readlinkSync('/proc/self/ns/pid')),
  ]
    .map((part) => part.replaceAll(/\s/g, ''))
    .join('/');

/** The content of a system file, or an empty string if the system has no such file. */
function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** The host and the process id of a claim's owner, or nulls if there is no claim. */
export function processOf(owner: string | null): {
  readonly host: string | null;
  readonly pid: number | null;
} {
  const [where = '', pid] = owner?.split(' ') ?? [];
  return owner === null
    ? { host: null, pid: null }
    : { host: where.replace(/\/.*/, ''), pid: Number(pid) };
}

/**
 * Whether a process is running. A process on a different machine counts as running until its lease
 * expires.
 */
export function isAlive(owner: string, self: string): boolean {
  const [host = '', pid = '', nonce = ''] = owner.split(' ');
  const [ownHost, ownPid, ownNonce = ''] = self.split(' ');
  if (host !== ownHost) return true;
  if (pid === ownPid) return nonce === ownNonce;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
