// Names this process in the journal's claims, and tells whether a process that is named there still runs.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../../formats/unknown.js';

/** @param nonce tells this process from an earlier one that had the same number, as in a container started again. */
export const ownerOf = (pid: number, nonce: string): string => `${place()} ${pid} ${nonce}`;

/** Where process numbers mean the same: host names are given twice, and containers count from one. */
const place = (): string =>
  [hostname(), readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')), readOrEmpty(() => readlinkSync('/proc/self/ns/pid'))]
    .map((part) => part.replaceAll(/\s/g, ''))
    .join('/');

/** Nothing where the system has no such file. */
function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** Where a process ran that is named in a claim; nulls when no process has the payment. */
export function processOf(owner: string | null): { readonly host: string | null; readonly pid: number | null } {
  const [where = '', pid] = owner?.split(' ') ?? [];
  return owner === null ? { host: null, pid: null } : { host: where.replace(/\/.*/, ''), pid: Number(pid) };
}

/** A process on another machine is taken to run: its lease tells when that is over. */
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
