// Opens the SQLite file and runs the work on it: jobs that wait together share one durable commit, each in a savepoint.
import Database from 'libsql';
import * as v from 'valibot';
import { groupCommit } from './group-commit.js';
import { insertions, rowReader, type Row, type Value } from './rows.js';
import { sandboxFileIn, sandboxSteps, type OpenFile } from './schema.js';

export interface Store {
  /** The first row, checked against `shape`, or undefined. */
  one<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T | undefined;
  all<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T[];
  /** Gives how many rows were changed. */
  run(sql: string, ...values: readonly Value[]): number;
  /** Gives the number of the row, in tables that number their rows. */
  insert(table: string, row: Row): number;
  /** Runs `job` in a savepoint: if it throws, everything that it wrote is undone. Only inside a job given to `write`. */
  attempt<T>(job: () => T): T;
  /**
   * Runs `job` in the next group transaction and answers after its commit is on disk. When the job throws, all that it
   * wrote is undone and the promise rejects with what it threw; the other jobs of the group are not touched.
   */
  write<T>(job: () => T): Promise<T>;
  close(): Promise<void>;
}

type Shape<T> = v.GenericSchema<unknown, T>;

export interface StoreOptions {
  /** Path of the file, or `:memory:`. */
  readonly file: string;
  /** Needed for a file alone. */
  readonly openFile?: OpenFile | undefined;
  /** Called before every commit: throws when the books are wrong, and then nothing of the group is kept. */
  readonly verify: (store: Store) => void;
  /** Run once while opening, alone on the file and in one transaction: fills what a new file lacks. */
  readonly initialise: (store: Store) => void;
}

/** One wait for another process inside SQLite, kept short because it stops this process, and the one before anything else is done. */
const busyTimeoutMs = 500;
const openingTimeoutMs = 30_000;

/** Opens the database, with its tables in order. Several processes may have the same file open. */
export function openStore(options: StoreOptions): Store {
  const db = openDatabase(options);
  const prepared = new Map<string, Database.Statement>();
  const statement = (sql: string): Database.Statement => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const fresh = db.prepare(sql);
    prepared.set(sql, fresh);
    return fresh;
  };

  const rows = rowReader(db);
  const insertion = insertions();

  function attempt<T>(job: () => T): T {
    statement('SAVEPOINT job').run([]);
    try {
      const result = job();
      statement('RELEASE job').run([]);
      return result;
    } catch (error) {
      // If the disk is full, SQLite has rolled the whole transaction back.
      if (db.inTransaction) db.exec('ROLLBACK TO job; RELEASE job');
      throw error;
    }
  }

  const store: Store = {
    one(shape, sql, ...values) {
      const row = rows.first(sql, values);
      return row === undefined ? undefined : v.parse(shape, row);
    },
    all: (shape, sql, ...values) => rows.all(sql, values).map((row) => v.parse(shape, row)),
    run: (sql, ...values) => statement(sql).run(values).changes,
    insert: (table, row) => Number(statement(insertion(table, row)).run(Object.values(row)).lastInsertRowid),
    attempt,
    write: (job) => group.write(() => attempt(job)),
    async close() {
      await group.settled();
      leaveOneFile(db);
      db.close();
    },
  };
  const group = groupCommit({
    begin: () => void statement('BEGIN IMMEDIATE').run([]),
    commit() {
      options.verify(store);
      statement('COMMIT').run([]);
    },
    rollback() {
      // A full disk makes SQLite roll back by itself.
      if (db.inTransaction) statement('ROLLBACK').run([]);
    },
  });
  alone(db, () => options.initialise(store));
  return store;
}

/** By itself the log goes into the file only when the last statement has been collected, which no program's end waits for. */
function leaveOneFile(db: Database.Database): void {
  try {
    db.exec('PRAGMA busy_timeout = 0');
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
  } catch {
    // The log beside the file holds it as well.
  }
}

function openDatabase({ file, openFile }: StoreOptions): Database.Database {
  const db = file === ':memory:' ? inMemory() : openFile?.(sandboxFileIn(file));
  if (db === undefined) throw new Error('A file of the sandbox needs something that opens it.');
  db.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  // Rows lie scattered by their random ids: in a cache of the usual 2 MB most pages would be read over and over.
  db.exec('PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 4000');
  return db;
}

function inMemory(): Database.Database {
  const db = new Database(':memory:');
  for (const step of sandboxSteps) db.exec(typeof step === 'string' ? step : step([]));
  return db;
}

/** Runs the step while no other process writes, all of it or nothing; the database is closed when it fails. */
function alone(db: Database.Database, step: () => void): void {
  try {
    db.exec(`PRAGMA busy_timeout = ${openingTimeoutMs}; BEGIN IMMEDIATE`);
    step();
    db.exec(`COMMIT; PRAGMA busy_timeout = ${busyTimeoutMs}`);
  } catch (error) {
    // What goes wrong with the disk ends the transaction by itself.
    if (db.inTransaction) db.exec('ROLLBACK');
    db.close();
    throw error;
  }
}
