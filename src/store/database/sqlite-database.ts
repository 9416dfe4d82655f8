// Uses a SQLite file as the database of the journal or of the inbox. Only one transaction at a time
// runs on a SQLite file, in this process and across all processes.
import { close, fdatasync, fsync, open, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import type Database from 'libsql';
import * as v from 'valibot';
import { Failure, invalid } from '../../formats/failure.js';
import { codeOf } from '../../formats/text.js';
import {
  Damage,
  inMemory,
  lockTimeoutMs,
  openSqlite,
  preparing,
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

/** Runs statements on the file. */
function sqlOf(db: Database.Database, now: () => number): Sql {
  const statement = preparing(db);
  const plain = (values: readonly SqlValue[]) =>
    values.map((value) => (value instanceof TimeFromNow ? now() + value.plusMs : value));
  const rowsOf = ([text, ...values]: Statement): unknown[] => statement(text).all(...plain(values));
  return {
    isAgain: false,
    all: async (...each) => rowsOf(each),
    run: async (text, ...values) => statement(text).run(...plain(values)).changes,
    script: async (text) => void db.exec(text),
    last: async (...statements) => statements.map(rowsOf),
    now: async () => now(),
    // SQLite ignores lock names, because the transaction itself locks the whole file.
    whileLocked: async (_name, ...each) => rowsOf(each),
  };
}

/** @param now the machine's clock, epoch ms */
export function sqliteDatabase(file: SqliteFile, now: () => number): SqlDatabase {
  const db = openSqlite(file, now);
  const sql = sqlOf(db, now);
  const name = resolve(file.path);
  const log = openLog(file);
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
      if (isClosed) throw invalid(`The ${file.name} is closed.`);
      return action();
    });
  async function write<T>(
    action: (sql: Sql) => Promise<T>,
    { isOptional = false }: TransactionOptions,
  ): Promise<T> {
    waitAtMost(isLocked && isOptional ? shortTimeoutMs : lockTimeoutMs);
    try {
      const result = await atomically(db, () => action(sql));
      isLocked = false;
      return result;
    } catch (error) {
      isLocked ||= codeOf(error).startsWith('SQLITE_BUSY');
      throw error;
    }
  }
  return {
    kind: 'sqlite',
    forUpdate: '',
    async transaction(action, options = {}) {
      // Starts the sync in the turn of the transaction, so that a close waits for it.
      const done = await unlessClosed(async () => {
        const result = await write(action, options);
        return { result, synced: options.lasts === true ? log.sync() : undefined };
      });
      await done.synced;
      return done.result;
    },
    read: (action) => unlessClosed(() => action(sql)),
    close: () =>
      inTurn(async () => {
        if (!isClosed) closeSqlite(db);
        isClosed = true;
        await log.close();
      }),
  };
}

/**
 * The write-ahead log of a database. A sync outside the main thread makes a commit durable while
 * the process does other work, and concurrent commits share the work of the disk. Closing the log
 * file releases no lock of SQLite, because SQLite never locks the log file.
 */
function openLog(file: SqliteFile) {
  const inode = (): number | undefined => statSync(file.path, { throwIfNoEntry: false })?.ino;
  const own = inode();
  let opened: Promise<number> | undefined;
  let before: Promise<unknown> = Promise.resolve();
  /** The sync that has not started, which all commits until its start share. */
  let following: Promise<void> | undefined;
  const syncNext = async (): Promise<void> => {
    // Ignores the error of an earlier sync, because the caller of that sync receives the error.
    await before.catch(() => undefined);
    following = undefined;
    await syncData(await (opened ??= openDurably(file.path)));
    // Data in an unlinked file is lost when the process ends.
    if (inode() !== own) throw movedOrDeleted(file);
  };
  return {
    async sync(): Promise<void> {
      if (file.path === inMemory) return;
      before = following ??= syncNext();
      await following.catch((error: unknown) => Promise.reject(sqliteFailure(file, error)));
    },
    close: async (): Promise<void> => {
      await before.catch(() => undefined);
      const log = opened;
      opened = undefined;
      await log?.then(promisify(close), () => undefined);
    },
  };
}

const movedOrDeleted = ({ name, path }: SqliteFile): Failure =>
  new Failure('temporary', `The ${name} ${path} was moved or deleted while it was in use.`, {
    hint: 'Put the file back, or run the same command again.',
  });

/** Opens the log of a database, after the name of the log file is on disk. */
async function openDurably(path: string): Promise<number> {
  const [log, folder] = await Promise.all([
    openFile(`${path}-wal`, 'r'),
    openFile(dirname(path), 'r'),
  ]);
  await promisify(fsync)(folder);
  await promisify(close)(folder);
  return log;
}

const openFile = promisify(open);
const syncData = promisify(fdatasync);

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
