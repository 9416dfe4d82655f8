// The sandbox's SQLite file: its tables, which store amounts in the smallest unit of the currency,
// the transactions in which every job runs, and small named settings.
import Database from 'libsql';
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { policies, poll, type PollNext } from '../formats/poll.js';
import { columnOf, fieldOf, codeOf } from '../formats/text.js';
import { durations } from './unspecified.js';

interface DatabaseFile {
  readonly path: string;
  /** The name of the file in error messages. */
  readonly name: string;
  /** The application id, which distinguishes the file from other SQLite files. */
  readonly applicationId: number;
  /**
   * The SQL scripts that upgrade the tables of the sandbox, one script per version. The first SQL
   * script creates version 1 of the tables.
   */
  readonly steps: readonly string[];
  readonly advice: { readonly hint: string; readonly next: undefined };
}

/**
 * Opens the file and upgrades its tables to the latest version. Throws a Failure if the upgrade is
 * impossible.
 */
export type OpenFile = (file: DatabaseFile) => Database.Database;

/** The application id of a sandbox file: the letters `svsf`. */
const applicationId = 0x73767366;

/** The columns of each table. */
const tables: Readonly<Record<string, string>> = {
  setting: `
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL`,
  account: `
    id TEXT PRIMARY KEY,
    parent_id TEXT REFERENCES account (id),
    display_name TEXT NOT NULL,
    api_key TEXT NOT NULL UNIQUE,
    api_secret TEXT NOT NULL,
    created_at INTEGER NOT NULL`,
  used_signature: `
    signature TEXT PRIMARY KEY`,
  // Double entry: a wallet per owner and currency. The house owns the wallets fees, desk and
  // outside, and only its wallets may owe.
  wallet: `
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    ccy TEXT NOT NULL,
    available INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (owner, ccy)`,
  // What a movement of money changed; a subject makes each step once.
  entry: `
    subject TEXT NOT NULL,
    step TEXT NOT NULL,
    owner TEXT NOT NULL,
    part TEXT NOT NULL,
    ccy TEXT NOT NULL,
    amount INTEGER NOT NULL,
    at INTEGER NOT NULL,
    UNIQUE (subject, step, owner, part, ccy)`,
  // A transaction as JSON, with the columns by which lists filter and sort. number: in the order of
  // creation.
  txn: `
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES account (id),
    state TEXT NOT NULL,
    ext_ref_id TEXT,
    source_method TEXT NOT NULL,
    dest_method TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    document TEXT NOT NULL`,
  // With the transaction at that time.
  state_change: `
    id INTEGER PRIMARY KEY,
    txn_id TEXT NOT NULL REFERENCES txn (id),
    state TEXT NOT NULL,
    msg TEXT NOT NULL,
    at INTEGER NOT NULL,
    document TEXT NOT NULL`,
  // While a process posts what is ready for a webhook it holds a claim, until a moment of the
  // machine's clock.
  webhook: `
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL UNIQUE REFERENCES account (id),
    callback TEXT NOT NULL,
    secret TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    claimed_until INTEGER NOT NULL DEFAULT 0`,
  // One event for one webhook, kept as the raw text that is signed and posted. attempts: JSON.
  delivery: `
    id INTEGER PRIMARY KEY,
    webhook_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    txn_id TEXT NOT NULL,
    txn_state TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER,
    attempts TEXT NOT NULL DEFAULT '[]',
    created_at INTEGER NOT NULL`,
  // Snapshots, with the rows of the saved tables as JSON.
  snapshot: `
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    facts TEXT NOT NULL,
    contents TEXT NOT NULL`,
  // Injected faults.
  fault: `
    id INTEGER PRIMARY KEY,
    rule TEXT NOT NULL,
    seen INTEGER NOT NULL DEFAULT 0,
    applied INTEGER NOT NULL DEFAULT 0`,
  // Scheduled actions, run in the order of (at, id).
  due: `
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL`,
  // Every Lightning invoice known here: own ones (txn_id is the receive), those from outside, and
  // foreign ones once paid.
  invoice: `
    payment_hash TEXT PRIMARY KEY,
    invoice TEXT NOT NULL,
    txn_id TEXT REFERENCES txn (id),
    paid_at INTEGER`,
  // Addresses of the service: an account's permanent ones (no txn_id), and one for each on-chain
  // receive.
  address: `
    address TEXT PRIMARY KEY,
    chain TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    txn_id TEXT REFERENCES txn (id)`,
  // What was broadcast on a blockchain, by the id of its transaction. A transfer without a
  // transaction is a deposit to account_id.
  transfer: `
    id TEXT PRIMARY KEY,
    account_id TEXT REFERENCES account (id),
    chain TEXT NOT NULL,
    amount INTEGER NOT NULL,
    confirmations INTEGER NOT NULL DEFAULT 0 CHECK (confirmations <= needed),
    needed INTEGER NOT NULL`,
  request_log: `
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status INTEGER NOT NULL,
    request_body TEXT NOT NULL,
    response_body TEXT NOT NULL,
    fault TEXT`,
};

/** The columns of each index. */
const indexes: Readonly<Record<string, string>> = {
  // Everything that a list is filtered and ordered by: pages are counted and skipped in the index
  // alone.
  txn_listed: 'txn (account_id, created_at, number, state, source_method, dest_method)',
  txn_by_reference: 'txn (account_id, ext_ref_id) WHERE ext_ref_id IS NOT NULL',
  state_change_by_txn: 'state_change (txn_id, id)',
  delivery_sending: "delivery (webhook_id, next_attempt_at, id) WHERE status = 'sending'",
  due_by_time: 'due (at, id)',
  due_by_subject: 'due (subject)',
};

/**
 * The SQL scripts that upgrade the tables of the sandbox, one script per version. The SQL script of
 * a released version never changes.
 */
const sandboxSteps: readonly string[] = [
  [
    ...Object.entries(tables).map(([name, columns]) => `CREATE TABLE ${name} (${columns}) STRICT`),
    ...Object.entries(indexes).map(([name, columns]) => `CREATE INDEX ${name} ON ${columns}`),
  ].join(';\n'),
];

export const tableNames: readonly string[] = Object.keys(tables);

export const sandboxFileIn = (path: string): DatabaseFile => ({
  path,
  name: 'sandbox file',
  applicationId,
  steps: sandboxSteps,
  advice: {
    hint: 'Move the file to a different folder. The sandbox then starts empty.',
    next: undefined,
  },
});

export type Value = string | number | null;
type Row = Readonly<Record<string, Value>>;

export interface Store {
  /** Returns the first row, checked against `shape`, or undefined if the result has no rows. */
  one<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T | undefined;
  all<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T[];
  /** Returns the row of a table with these values, or undefined if the table has no such row. */
  find<T>(shape: Shape<T>, table: string, values: Row): T | undefined;
  /** Runs a statement, and returns the number of changed rows. */
  run(sql: string, ...values: readonly Value[]): number;
  /** Inserts a row, and returns the id of the row if the table assigns ids. */
  insert(table: string, row: Row): number;
  /** Changes the rows with the values of `where`, and returns their number. */
  update(table: string, changes: Row, where: Row): number;
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

interface StoreOptions {
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
  const store: Store = {
    ...rowsOn(statement),
    attempt(job) {
      statement('SAVEPOINT job').run([]);
      return finish(db, 'RELEASE job', 'ROLLBACK TO job; RELEASE job', job);
    },
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
        const verified = (): T => {
          const result = job();
          options.verify(store);
          return result;
        };
        return { done: finish(db, 'COMMIT', 'ROLLBACK', verified) };
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
  try {
    db.exec(`PRAGMA busy_timeout = ${openingTimeoutMs}; BEGIN IMMEDIATE`);
    finish(db, `COMMIT; PRAGMA busy_timeout = ${busyTimeoutMs}`, 'ROLLBACK', () =>
      options.initialise(store),
    );
  } catch (error) {
    db.close();
    throw error;
  }
  return store;
}

/** Runs the job, then ends the open transaction or savepoint. */
function finish<T>(db: Database.Database, commit: string, rollback: string, job: () => T): T {
  try {
    const result = job();
    db.exec(commit);
    return result;
  } catch (error) {
    // If the disk is full, SQLite has already rolled back the transaction.
    if (db.inTransaction) db.exec(rollback);
    throw error;
  }
}

function rowsOn(
  statement: (sql: string) => Database.Statement,
): Pick<Store, 'one' | 'all' | 'find' | 'run' | 'insert' | 'update'> {
  const run: Store['run'] = (sql, ...values) => statement(sql).run(values).changes;
  const all: Store['all'] = (shape, sql, ...values) =>
    statement(sql)
      .all(values)
      .map((row) => v.parse(shape, v.parse(namedRow, row)));
  return {
    run,
    all,
    one: (shape, sql, ...values) => all(shape, sql, ...values)[0],
    find: (shape, table, where) =>
      all(shape, `SELECT * FROM ${table} WHERE ${matching(where)}`, ...Object.values(where))[0],
    insert(table, row) {
      const columns = Object.keys(row);
      const sql =
        `INSERT INTO ${table} (${columns.map(columnOf).join(', ')}) ` +
        `VALUES (${columns.map(() => '?').join(', ')})`;
      return Number(statement(sql).run(Object.values(row)).lastInsertRowid);
    },
    update: (table, changes, where) =>
      run(
        `UPDATE ${table} SET ${assigned(changes)} WHERE ${matching(where)}`,
        ...Object.values(changes),
        ...Object.values(where),
      ),
  };
}

const assigned = (row: Row): string =>
  Object.keys(row)
    .map((name) => `${columnOf(name)} = ?`)
    .join(', ');

const matching = (row: Row): string =>
  Object.keys(row)
    .map((name) => `${columnOf(name)} IS ?`)
    .join(' AND ');

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

const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

type SettingName =
  | 'mainAccount'
  | 'seed'
  | 'clock'
  | 'autoPay'
  | 'webhookOptions'
  | 'tokenKey'
  | 'nodeKey'
  | 'outsideNodeKey';

const settingRow = v.object({ value: v.string() });

export function readSetting(store: Store, key: SettingName): string | undefined {
  return store.find(settingRow, 'setting', { key })?.value;
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
