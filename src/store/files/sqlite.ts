// What SQLite is asked for once a file is open.
import type Database from 'libsql';

/**
 * Leaves the whole of it in the one file, unless somebody else is at work on it: by itself that happens only when the
 * last statement has been collected, which a program that ends does not wait for.
 */
export function closeSqlite(db: Pick<Connection, 'pragma' | 'close'>): void {
  try {
    db.pragma('busy_timeout = 0');
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // The log beside the file holds it as well.
  }
  db.close();
}

/** Runs the action as one transaction: all of it holds when this returns, or nothing of it. */
export function inTransaction<T>(db: Pick<Connection, 'exec' | 'inTransaction'>, action: () => T): T {
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

/** As much of a database as is used once it is open. */
export interface Connection {
  prepare(sql: string): Database.Statement;
  exec(sql: string): unknown;
  pragma(sql: string): unknown;
  readonly inTransaction: boolean;
  close(): unknown;
}

/** Each statement is prepared once, for programs that have few and run them tens of thousands of times. */
export function withStatementsKept(db: Database.Database): Connection {
  const kept = new Map<string, Database.Statement>();
  return {
    prepare(sql) {
      const statement = kept.get(sql) ?? db.prepare(sql);
      kept.set(sql, statement);
      return statement;
    },
    exec: (sql) => db.exec(sql),
    pragma: (sql) => db.pragma(sql),
    get inTransaction() {
      return db.inTransaction;
    },
    close: () => db.close(),
  };
}
