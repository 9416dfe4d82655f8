// Opens SQLite files: owner-readable, safe with many processes, and never one of a newer svcpay.
import Database from 'libsql';
import { chmodSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { openFolder } from './home.js';

export interface SqliteFile {
  readonly path: string;
  /** What it holds, in words for a message: `The event store`. */
  readonly name: string;
  /** Creates the tables of version 1. */
  readonly schema: string;
  /** Whether a commit waits for the disk, or somebody else does after it. */
  readonly synchronous: 'full' | 'normal';
  /** Pages that the log beside the file may grow to before they are moved into it. */
  readonly checkpointPages: number;
}

const version = 1;
const busyMs = 10_000;
const versionSchema = v.object({ user_version: v.number() });

/** Throws Failure `usage` for a file that is damaged, from a newer version, or cannot be written. */
export function openSqlite(file: SqliteFile): Database.Database {
  openFolder(dirname(file.path));
  const existed = existsSync(file.path);
  try {
    const db = new Database(file.path, { timeout: busyMs });
    db.pragma('journal_mode = WAL');
    db.pragma(`synchronous = ${file.synchronous}`);
    db.pragma(`wal_autocheckpoint = ${file.checkpointPages}`);
    db.pragma(`busy_timeout = ${busyMs}`);
    prepareSchema(db, file);
    if (!existed) chmodSync(file.path, 0o600);
    return db;
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure('usage', `${file.name} ${file.path} cannot be used: ${reason}.`, { cause });
  }
}

function prepareSchema(db: Database.Database, { name, path, schema }: SqliteFile): void {
  const found = versionOf(db);
  if (found > version) {
    throw new Failure('usage', `${name} ${path} was written by a newer svcpay.`, {
      hint: 'Use that version, or set SVCPAY_HOME to another folder.',
    });
  }
  if (found === version) return;
  inTransaction(db, () => {
    if (versionOf(db) === 0) db.exec(`${schema}; PRAGMA user_version = ${version};`);
  });
}

const versionOf = (db: Database.Database): number =>
  v.parse(versionSchema, db.prepare('PRAGMA user_version').get()).user_version;

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

/** Runs a transaction that is on the disk, and all before it, when it is over; for a file opened as `normal`. */
export function synced<T>(db: Pick<Connection, 'pragma'>, transaction: () => T): T {
  db.pragma('synchronous = FULL');
  try {
    return transaction();
  } finally {
    db.pragma('synchronous = NORMAL');
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
