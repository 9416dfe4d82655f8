// Uses a SQLite file as the database of the journal or of the inbox. Only one transaction at a time
// runs on a SQLite file, in this process and across all processes.
import { resolve } from 'node:path';
import type Database from 'libsql';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { codeOf } from '../../formats/unknown.js';
import {
  Damage,
  lockTimeoutMs,
  openSqlite,
  sqliteFailure,
  type SqliteFile,
} from '../files/sqlite-file.js';
import {
  TimeFromNow,
  type Sql,
  type SqlDatabase,
  type SqlValue,
  type Statement,
  type TransactionOptions,
} from './sql.js';

/**
 * The latest database transaction of this process on each SQLite file. Each database transaction
 * waits for the previous one on the same file, because SQLite would block the whole process while
 * it waits for a lock.
 */
const turns = new Map<string, Promise<unknown>>();

/**
 * The shorter lock timeout in ms of transactions with `isOptional`, used after a database
 * transaction timed out.
 */
const shortTimeoutMs = 250;

/** @param now the machine's clock, epoch ms */
export function sqliteDatabase(file: SqliteFile, now: () => number): SqlDatabase {
  const db = openSqlite(file, now);
  /**
   * The prepared statements, keyed by their SQL text. svcpay prepares each statement only once,
   * because programs run the same statement many times.
   */
  const kept = new Map<string, Database.Statement>();
  const statement = (text: string): Database.Statement => {
    const found = kept.get(text) ?? db.prepare(text);
    kept.set(text, found);
    return found;
  };
  const plain = (values: readonly SqlValue[]) =>
    values.map((value) => (value instanceof TimeFromNow ? now() + value.plusMs : value));
  const rowsOf = ([text, ...values]: Statement): unknown[] => statement(text).all(...plain(values));
  const sql: Sql = {
    isAgain: false,
    all: async (...each) => rowsOf(each),
    run: async (text, ...values) => statement(text).run(...plain(values)).changes,
    script: async (text) => void db.exec(text),
    last: async (...statements) => statements.map(rowsOf),
    now: async () => now(),
    // SQLite ignores lock names, because the transaction itself locks the whole file.
    whileLocked: async (_name, ...each) => rowsOf(each),
  };
  const name = resolve(file.path);
  let timeoutMs = lockTimeoutMs;
  /** Whether another program held the lock for longer than the lock timeout. */
  let isLocked = false;
  const waitAtMost = (ms: number): void => {
    if (ms !== timeoutMs) db.pragma(`busy_timeout = ${ms}`);
    timeoutMs = ms;
  };
  const inTurn = <T>(action: () => Promise<T>): Promise<T> => {
    const done = (turns.get(name) ?? Promise.resolve()).then(action).catch((error: unknown) => {
      throw ofSqlite(error) ? sqliteFailure(file, error) : error;
    });
    turns.set(
      name,
      done.catch(() => undefined),
    );
    return done;
  };
  let isClosed = false;
  const unlessClosed = <T>(action: () => Promise<T>): Promise<T> =>
    inTurn(() => {
      if (isClosed) throw new Failure('usage', `The ${file.name} is closed.`);
      return action();
    });
  async function write<T>(
    action: (sql: Sql) => Promise<T>,
    { lasts = false, isOptional = false }: TransactionOptions,
  ): Promise<T> {
    waitAtMost(isLocked && isOptional ? shortTimeoutMs : lockTimeoutMs);
    if (lasts) db.pragma('synchronous = FULL');
    try {
      const result = await atomically(db, () => action(sql));
      isLocked = false;
      return result;
    } catch (error) {
      isLocked ||= codeOf(error).startsWith('SQLITE_BUSY');
      throw error;
    } finally {
      if (lasts) db.pragma('synchronous = NORMAL');
    }
  }
  return {
    kind: 'sqlite',
    forUpdate: '',
    transaction: (action, options = {}) => unlessClosed(() => write(action, options)),
    read: (action) => unlessClosed(() => action(sql)),
    close: () =>
      inTurn(async () => {
        if (!isClosed) closeSqlite(db);
        isClosed = true;
      }),
  };
}

export async function atomically<T>(db: Database.Database, action: () => Promise<T>): Promise<T> {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = await action();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/**
 * Merges the write-ahead log into the file, unless another process uses the file. Without this
 * call, SQLite merges the log only after every prepared statement is garbage-collected.
 */
function closeSqlite(db: Database.Database): void {
  try {
    db.pragma('busy_timeout = 0');
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // A failed merge of the write-ahead log is harmless, because the data is safe in the log next
    // to the file.
  }
  db.close();
}

const ofSqlite = (error: unknown): boolean =>
  error instanceof Damage || error instanceof v.ValiError || /^(SQLITE|ENOSPC)/.test(codeOf(error));
