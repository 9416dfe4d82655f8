// An exclusive lock among processes. The operating system releases the lock when the process that
// holds the lock dies.
import Database from 'libsql';
import { createPrivate } from './home.js';

const lockTimeoutMs = 10_000;

/**
 * Runs the action under the lock of this file. Throws if the wait for the lock exceeds the timeout.
 */
export function locked<T>(path: string, action: () => T): T {
  createPrivate(path);
  const db = new Database(path, { timeout: lockTimeoutMs });
  try {
    db.pragma(`busy_timeout = ${lockTimeoutMs}`);
    db.exec('BEGIN EXCLUSIVE');
    try {
      return action();
    } finally {
      // Because ROLLBACK uses the database object after the action, the garbage collector cannot
      // release the lock early.
      db.exec('ROLLBACK');
    }
  } finally {
    db.close();
  }
}
