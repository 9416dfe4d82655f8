// Opens the SQLite file, and runs each job on it in a transaction.
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import * as v from 'valibot';
import { policies } from '../../formats/policies.js';
import { poll, type PollNext } from '../../formats/poll.js';
import { columnOf, fieldOf } from '../../formats/text.js';
import { codeOf } from '../../formats/unknown.js';
import { sandboxFileIn, sandboxSteps, type OpenFile } from './schema.js';

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

export interface Store {
  /** The first row, checked against `shape`, or undefined. */
  one<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T | undefined;
  all<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T[];
  /** Runs a statement, and returns the number of changed rows. */
  run(sql: string, ...values: readonly Value[]): number;
  /** Inserts a row, and returns its id, if the table assigns one. */
  insert(table: string, row: Row): number;
  /** Runs `job` in a savepoint, which is rolled back if the job throws. Only inside `write`. */
  attempt<T>(job: () => T): T;
  /**
   * Runs `job` in a transaction. Resolves after the commit. If the job throws, the transaction is
   * rolled back and the promise rejects with the error. Waits while another process writes.
   */
  write<T>(job: () => T): Promise<T>;
  close(): void;
}

type Shape<T> = v.GenericSchema<unknown, T>;

export interface StoreOptions {
  /** Path of the file, or `:memory:`. */
  readonly file: string;
  /** Required unless the database is in memory. */
  readonly openFile?: OpenFile | undefined;
  /**
   * Called before every commit. Throws if the books are inconsistent, and the job is then rolled
   * back.
   */
  readonly verify: (store: Store) => void;
  /** Epoch ms of the machine. */
  readonly now: () => number;
  /** Fills a new file in one exclusive transaction. */
  readonly initialise: (store: Store) => void;
}

/** Short, because a wait inside SQLite blocks this process. `write` tries again. */
const busyTimeoutMs = 500;
const openingTimeoutMs = 30_000;

/** Names columns as fields. */
const namedRow = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((row) =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value])),
  ),
);

/** Opens the database and upgrades its tables. Several processes may have the same file open. */
export function openStore(options: StoreOptions): Store {
  const db = openDatabase(options);
  const closing = new AbortController();
  const statement = statementsOf(db);

  function attempt<T>(job: () => T): T {
    statement('SAVEPOINT job').run([]);
    try {
      const result = job();
      statement('RELEASE job').run([]);
      return result;
    } catch (error) {
      // SQLite has already rolled back the transaction if the disk is full.
      if (db.inTransaction) db.exec('ROLLBACK TO job; RELEASE job');
      throw error;
    }
  }

  const store: Store = {
    one: (shape, sql, ...values) => store.all(shape, sql, ...values)[0],
    all: (shape, sql, ...values) =>
      statement(sql)
        .all(values)
        .map((row) => v.parse(shape, v.parse(namedRow, row))),
    run: (sql, ...values) => statement(sql).run(values).changes,
    insert(table, row) {
      const columns = Object.keys(row).map(columnOf);
      const sql =
        `INSERT INTO ${table} (${columns.join(', ')}) ` +
        `VALUES (${columns.map(() => '?').join(', ')})`;
      return Number(statement(sql).run(Object.values(row)).lastInsertRowid);
    },
    attempt,
    async write<T>(job: () => T): Promise<T> {
      let locked: unknown;
      const step = async (): Promise<PollNext<T>> => {
        try {
          statement('BEGIN IMMEDIATE').run([]);
        } catch (error) {
          if (!isBusy(error)) throw error;
          locked = error;
          return {};
        }
        // Nothing is awaited before the COMMIT, so no other work runs on this connection.
        return { done: finish(job) };
      };
      const deps = { now: options.now, sleep: (ms: number) => pause(ms), signal: closing.signal };
      const end = await poll(policies.sandboxLock, step, deps);
      if ('done' in end) return end.done;
      throw locked;
    },
    close() {
      closing.abort();
      leaveOneFile(db);
      db.close();
    },
  };

  /** Runs the job in the open transaction, and commits the transaction or rolls it back. */
  function finish<T>(job: () => T): T {
    try {
      const result = job();
      options.verify(store);
      statement('COMMIT').run([]);
      return result;
    } catch (error) {
      // SQLite has already rolled back if the disk is full.
      if (db.inTransaction) statement('ROLLBACK').run([]);
      throw error;
    }
  }

  alone(db, () => options.initialise(store));
  return store;
}

/** The statements of a database, each prepared once. */
function statementsOf(db: Database.Database): (sql: string) => Database.Statement {
  const prepared = new Map<string, Database.Statement>();
  return (sql) => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const fresh = db.prepare(sql);
    prepared.set(sql, fresh);
    return fresh;
  };
}

/**
 * Merges the write-ahead log into the file. SQLite itself merges only after the last statement is
 * garbage-collected.
 */
function leaveOneFile(db: Database.Database): void {
  try {
    db.exec('PRAGMA busy_timeout = 0');
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
  } catch {
    // The data is safe in the log next to the file.
  }
}

function openDatabase({ file, openFile }: StoreOptions): Database.Database {
  const db = file === ':memory:' ? inMemory() : openFile?.(sandboxFileIn(file));
  if (db === undefined) throw new Error('A sandbox file needs openFile.');
  db.exec('PRAGMA foreign_keys = ON');
  return db;
}

function inMemory(): Database.Database {
  const db = new Database(':memory:');
  for (const step of sandboxSteps) db.exec(step);
  return db;
}

/** Runs the step in an exclusive transaction. If the step fails, closes the database. */
function alone(db: Database.Database, step: () => void): void {
  try {
    db.exec(`PRAGMA busy_timeout = ${openingTimeoutMs}; BEGIN IMMEDIATE`);
    step();
    db.exec(`COMMIT; PRAGMA busy_timeout = ${busyTimeoutMs}`);
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    db.close();
    throw error;
  }
}

const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');
