// Waits until what was committed is on disk, without holding up the work that goes on meanwhile.
import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

export interface Disk {
  /** False where there is nothing to wait for here: SQLite itself then sees to it, or nothing is kept at all. */
  readonly isOpen: boolean;
  /** Resolves once every commit made before the call is on disk. */
  flush(): Promise<void>;
  close(): void;
}

const datasync = promisify(fdatasync);

/**
 * Watches over the write-ahead log of a database that is open: a commit is durable as soon as its part of the log is.
 * SQLite locks neither the log nor anything through it, so a second handle on it is harmless.
 */
export function openDisk(file: string): Disk {
  let log = openLog(`${file}-wal`);
  return {
    isOpen: log !== undefined,
    flush: async () => (log === undefined ? undefined : datasync(log)),
    close() {
      if (log !== undefined) closeSync(log);
      log = undefined;
    },
  };
}

function openLog(path: string): number | undefined {
  try {
    return openSync(path, 'r+');
  } catch {
    return undefined;
  }
}
