// A SQLite file for journal and inbox: one transaction at a time, within this process and among processes.
import { resolve } from 'node:path';
import type Database from 'libsql';
import * as v from 'valibot';
import { codeOf } from '../../formats/unknown.js';
import { Damage, openSqlite, sqliteFailure, type SqliteFile } from '../files/sqlite-file.js';
import { Present, type Sql, type SqlDatabase, type SqlValue } from './sql.js';

/**
 * The last transaction on each file. SQLite blocks the process while it waits for a lock, which would deadlock
 * if this process held the lock.
 */
const turns = new Map<string, Promise<unknown>>();

/** @param now the machine's clock, epoch ms */
export function sqliteDatabase(file: SqliteFile, now: () => number): SqlDatabase {
  const db = openSqlite(file, now);
  /** Statements are prepared once, because programs run them many times. */
  const kept = new Map<string, Database.Statement>();
  const statement = (text: string): Database.Statement => {
    const found = kept.get(text) ?? db.prepare(text);
    kept.set(text, found);
    return found;
  };
  const plain = (values: readonly SqlValue[]) =>
    values.map((value) => (value instanceof Present ? now() + value.plusMs : value));
  const sql: Sql = {
    isAgain: false,
    all: async (text, ...values) => statement(text).all(...plain(values)),
    final: async (text, ...values) => {
      const rest = plain(values);
      const each = text
        .split(';')
        .map((part) => statement(part).all(...rest.splice(0, part.split('?').length - 1)));
      return each.at(-1) ?? [];
    },
    run: async (text, ...values) => statement(text).run(...plain(values)).changes,
    now: async () => now(),
    // The transaction itself holds the lock on the whole file.
    lock: async () => undefined,
  };
  const name = resolve(file.path);
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
  return {
    kind: 'sqlite',
    forUpdate: '',
    transaction: (action, { lasts = false } = {}) =>
      inTurn(async () => {
        if (lasts) db.pragma('synchronous = FULL');
        try {
          return await atomically(db, () => action(sql));
        } finally {
          if (lasts) db.pragma('synchronous = NORMAL');
        }
      }),
    read: (action) => inTurn(() => action(sql)),
    close: () => inTurn(async () => closeSqlite(db)),
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
 * Merges the write-ahead log into the file, unless another process uses it. SQLite does so only after the
 * last statement is garbage-collected.
 */
function closeSqlite(db: Database.Database): void {
  try {
    db.pragma('busy_timeout = 0');
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // The data is safe in the log next to the file.
  }
  db.close();
}

const ofSqlite = (error: unknown): boolean =>
  error instanceof Damage || error instanceof v.ValiError || /^(SQLITE|ENOSPC)/.test(codeOf(error));
