// One process at a time: a lock that the system itself takes away from a process that dies.
import Database from 'libsql';
import { createPrivate } from './home.js';

const lockTimeoutMs = 10_000;

/** Runs the action while no other process runs one under the same file. Throws when that takes too long. */
export function locked<T>(path: string, action: () => T): T {
  createPrivate(path);
  const db = new Database(path, { timeout: lockTimeoutMs });
  try {
    db.pragma(`busy_timeout = ${lockTimeoutMs}`);
    db.exec('BEGIN EXCLUSIVE');
    try {
      return action();
    } finally {
      // Closing alone leaves the lock to the garbage collector.
      db.exec('ROLLBACK');
    }
  } finally {
    db.close();
  }
}
