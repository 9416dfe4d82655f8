// What SQLite is asked for once a file is open.
import type Database from 'libsql';

/**
 * Leaves the whole of it in the one file, unless somebody else is at work on it: by itself that happens only when the
 * last statement has been collected, which a program that ends does not wait for.
 */
export function closeSqlite(db: Database.Database): void {
  try {
    db.pragma('busy_timeout = 0');
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // The log beside the file holds it as well.
  }
  db.close();
}

/** Runs the action as one transaction: all of it holds when this returns, or nothing of it. */
export function inTransaction<T>(db: Database.Database, action: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = action();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
