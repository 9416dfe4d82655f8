// Opens the sandbox's SQLite file, and runs each job on the file in a transaction. Stores small
// named values, such as keys, the main account and webhook options.
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import * as v from 'valibot';
import { policies, poll, type PollNext } from '../../formats/poll.js';
import { columnOf, fieldOf, codeOf } from '../../formats/text.js';
import { type OpenFile, sandboxFileIn, sandboxSteps } from './schema.js';
import { durations } from '../unspecified.js';

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

export interface Store {
  /** Returns the first row, checked against `shape`, or undefined if the result has no rows. */
  one<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T | undefined;
  all<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T[];
  /** Runs a statement, and returns the number of changed rows. */
  run(sql: string, ...values: readonly Value[]): number;
  /** Inserts a row, and returns the id of the row if the table assigns ids. */
  insert(table: string, row: Row): number;
  /**
   * Runs `job` in a savepoint, and rolls the savepoint back if the job throws. Call `attempt` only
   * inside `write`.
   */
  attempt<T>(job: () => T): T;
  /**
   * Runs `job` in a transaction, and resolves after the commit. If the job throws, rolls the
   * transaction back and rejects with the error. Waits while another process writes to the
   * database.
   */
  write<T>(job: () => T): Promise<T>;
  close(): void;
}

type Shape<T> = v.GenericSchema<unknown, T>;

export interface StoreOptions {
  /** The path of the file, or `:memory:`. */
  readonly file: string;
  /** The function that opens the file, which only a database in memory may omit. */
  readonly openFile?: OpenFile | undefined;
  /**
   * Verifies the books before every commit. Throws if the books are inconsistent, so that the store
   * rolls the job back.
   */
  readonly verify: (store: Store) => void;
  /** Returns the machine's time in epoch ms. */
  readonly now: () => number;
  /** Seeds a new file in one exclusive transaction. */
  readonly initialise: (store: Store) => void;
}

/**
 * The time that SQLite waits for a lock, in ms. SQLite waits only briefly for a lock, because it
 * blocks this process during the wait, and `write` tries again.
 */
const busyTimeoutMs = 500;
const openingTimeoutMs = 30_000;

const namedRow = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((row) =>
    Object.fromEntries(Object.entries(row).map(([column, value]) => [fieldOf(column), value])),
  ),
);

/** Opens the database and upgrades its tables. Several processes may open the same file at once. */
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
      // If the disk is full, SQLite has already rolled back the transaction.
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
        // The job runs synchronously until the COMMIT, so no other job can run on this connection.
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

  /**
   * Runs the job in the open transaction, then commits the transaction, or rolls it back if the job
   * throws.
   */
  function finish<T>(job: () => T): T {
    try {
      const result = job();
      options.verify(store);
      statement('COMMIT').run([]);
      return result;
    } catch (error) {
      // If the disk is full, SQLite has already rolled back the transaction.
      if (db.inTransaction) statement('ROLLBACK').run([]);
      throw error;
    }
  }

  alone(db, () => options.initialise(store));
  return store;
}

function statementsOf(db: Database.Database): (sql: string) => Database.Statement {
  const prepared = new Map<string, Database.Statement>();
  return (sql) => {
    const cached = prepared.get(sql);
    if (cached !== undefined) return cached;
    const fresh = db.prepare(sql);
    prepared.set(sql, fresh);
    return fresh;
  };
}

/**
 * Merges the write-ahead log into the file. SQLite itself merges the write-ahead log only after the
 * last prepared statement has been garbage-collected.
 */
function leaveOneFile(db: Database.Database): void {
  try {
    db.exec('PRAGMA busy_timeout = 0');
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
  } catch {
    // Ignores a failed merge, because the write-ahead log next to the file still contains all data.
  }
}

function openDatabase({ file, openFile }: StoreOptions): Database.Database {
  const db = file === ':memory:' ? inMemory() : openFile?.(sandboxFileIn(file));
  if (db === undefined) throw new Error('Pass openFile to use a sandbox file.');
  db.exec('PRAGMA foreign_keys = ON');
  return db;
}

function inMemory(): Database.Database {
  const db = new Database(':memory:');
  for (const step of sandboxSteps) db.exec(step);
  return db;
}

/** Runs the step in an exclusive transaction, and closes the database if the step fails. */
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

type SettingName =
  | 'mainAccount'
  | 'seed'
  | 'clock'
  | 'autoPay'
  | 'webhookOptions'
  | 'tokenKey'
  | 'nodeKey'
  | 'nodeId'
  | 'outsideNodeKey'
  | 'outsideNodeId';

const row = v.object({ value: v.string() });

export function readSetting(store: Store, key: SettingName): string | undefined {
  return store.one(row, 'SELECT value FROM setting WHERE key = ?', key)?.value;
}

export function requireSetting(store: Store, key: SettingName): string {
  const value = readSetting(store, key);
  if (value === undefined) throw new Error(`The sandbox file has no ${key}.`);
  return value;
}

export function writeSetting(store: Store, key: SettingName, value: string): void {
  store.run(
    'INSERT INTO setting (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2',
    key,
    value,
  );
}

/**
 * Milliseconds until the automatic payer pays a payment request, or undefined if the automatic
 * payer is off.
 */
export function readAutoPay(store: Store): number | undefined {
  const value = readSetting(store, 'autoPay') ?? String(durations.autoPay);
  return value === 'off' ? undefined : Number(value);
}

export function writeAutoPay(store: Store, after: number | 'off'): void {
  writeSetting(store, 'autoPay', String(after));
}
