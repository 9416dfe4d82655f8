// Opens the SQLite file and runs the work on it: jobs that wait together share one durable commit, each in a savepoint.
import Database from 'libsql';
import * as v from 'valibot';
import { Failure } from '../formats/failure.js';
import { schema, schemaVersion } from './schema.js';

export type Value = string | number | null;

interface Written {
  /** How many rows were changed. */
  readonly changes: number;
  /** Number of the last row inserted, in tables that number their rows. */
  readonly lastId: number;
}

export interface Store {
  /** The first row, checked against `shape`, or undefined. */
  one<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T | undefined;
  all<T>(shape: Shape<T>, sql: string, ...values: readonly Value[]): T[];
  run(sql: string, ...values: readonly Value[]): Written;
  /** Runs `job` as a unit: when it throws, nothing of it stays. Only inside a job given to `write`. */
  attempt<T>(job: () => T): T;
  /**
   * Runs `job` in the next group transaction and answers after its commit is on disk. When the job throws, all that it
   * wrote is undone and the promise rejects with what it threw; the other jobs of the group are not touched.
   */
  write<T>(job: () => T): Promise<T>;
  close(): Promise<void>;
}

type Shape<T> = v.GenericSchema<unknown, T>;

const versionRow = v.object({ user_version: v.number() });

interface Job {
  /** Does the work, and hands back how to answer it once the commit is on disk. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
}

export interface StoreOptions {
  /** Path of the file, or `:memory:`. */
  readonly file: string;
  /** Called before every commit: throws when the books are wrong, and then nothing of the group is kept. */
  readonly verify: (store: Store) => void;
  /** Run once while opening, alone on the file and as a unit: fills what a new file lacks. */
  readonly initialise: (store: Store) => void;
}

/** One wait for another process inside SQLite, kept short because it stops this process. */
const busyTimeoutMs = 500;
/** How often a group waits for another process's transaction before it gives up. */
const busyRetries = 60;

/** Opens the file, creates the tables in a new one. Several processes may have the same file open. */
export function openStore(options: StoreOptions): Store {
  const db = new Database(options.file, { timeout: busyTimeoutMs });
  const prepared = new Map<string, Database.Statement>();
  const statement = (sql: string): Database.Statement => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const fresh = db.prepare(sql);
    prepared.set(sql, fresh);
    return fresh;
  };

  const group = groupCommit(db, () => options.verify(store));
  const store: Store = {
    one(shape, sql, ...values) {
      const row = statement(sql).get(values);
      return row === undefined ? undefined : v.parse(shape, row);
    },
    all: (shape, sql, ...values) => statement(sql).all(values).map((row) => v.parse(shape, row)),
    run(sql, ...values) {
      const { changes, lastInsertRowid } = statement(sql).run(values);
      return { changes, lastId: Number(lastInsertRowid) };
    },
    attempt: (job) => inSavepoint(db, job),
    write: group.write,
    async close() {
      await group.settled();
      db.close();
    },
  };
  prepareFile(db, options.file, () => options.initialise(store));
  return store;
}

function prepareFile(db: Database.Database, file: string, initialise: () => void): void {
  patiently(() => db.exec('PRAGMA journal_mode = WAL'));
  db.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  patiently(() => db.exec('BEGIN IMMEDIATE'));
  try {
    const { user_version: version } = v.parse(versionRow, db.prepare('PRAGMA user_version').get([]));
    if (version === 0) db.exec(`${schema}; PRAGMA user_version = ${schemaVersion}`);
    else if (version !== schemaVersion) throw otherVersion(file, version);
    initialise();
    db.exec('COMMIT');
  } catch (error) {
    // What goes wrong with the disk ends the transaction by itself.
    if (db.inTransaction) db.exec('ROLLBACK');
    db.close();
    throw error;
  }
}

function otherVersion(file: string, version: number): Failure {
  return new Failure('usage', `The sandbox file ${file} is of version ${version}, and this svcpay reads ${schemaVersion}.`, {
    hint: 'Move the file away: the sandbox then begins anew.',
  });
}

/** Opening happens once and synchronously, so it may wait for another process by simply trying again. */
function patiently(step: () => void): void {
  for (let tries = 1; ; tries += 1) {
    try {
      return step();
    } catch (error) {
      if (!isBusy(error) || tries >= busyRetries) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** Collects the jobs that arrive within one turn of the event loop and commits them together. */
function groupCommit(db: Database.Database, verify: () => void) {
  let waiting: Job[] = [];
  let draining: Promise<void> | undefined;

  function takeGroup(): Job[] {
    const group = waiting;
    waiting = [];
    return group;
  }

  async function drain(): Promise<void> {
    for (let tries = 1; waiting.length > 0; tries += 1) {
      await new Promise((resume) => setImmediate(resume));
      try {
        db.exec('BEGIN IMMEDIATE');
      } catch (error) {
        if (!isBusy(error) || tries >= busyRetries) for (const job of takeGroup()) job.reject(error);
        continue;
      }
      // Nothing is awaited between BEGIN and COMMIT, so no other work on this connection can come in between.
      commit(db, takeGroup(), verify);
      tries = 0;
    }
    draining = undefined;
  }

  return {
    write<T>(job: () => T): Promise<T> {
      return new Promise((resolve, reject) => {
        const run = (): (() => void) => {
          try {
            const result = inSavepoint(db, job);
            return () => resolve(result);
          } catch (error) {
            return () => reject(error);
          }
        };
        waiting.push({ run, reject });
        draining ??= drain();
      });
    },
    /** Waits for the jobs that were handed in so far. */
    settled: async (): Promise<void> => draining,
  };
}

function commit(db: Database.Database, group: readonly Job[], verify: () => void): void {
  const answers: (() => void)[] = [];
  try {
    for (const job of group) answers.push(job.run());
    verify();
    db.exec('COMMIT');
  } catch (error) {
    // What goes wrong with the disk ends the transaction by itself.
    if (db.inTransaction) db.exec('ROLLBACK');
    for (const job of group) job.reject(error);
    return;
  }
  for (const answer of answers) answer();
}

/** Savepoints of one name nest: SQLite always means the innermost one. */
function inSavepoint<T>(db: Database.Database, job: () => T): T {
  db.exec('SAVEPOINT job');
  try {
    const result = job();
    db.exec('RELEASE job');
    return result;
  } catch (error) {
    db.exec('ROLLBACK TO job; RELEASE job');
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}
