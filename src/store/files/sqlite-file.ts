// Opens svcpay's SQLite files and upgrades them in numbered steps, but leaves damaged files and
// files of other programs unchanged. Opens temporary databases, for data that must not fill the
// memory.
import {
  accessSync,
  chmodSync,
  constants,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  mkdtempSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Big from 'big.js';
import Database from 'libsql';
import * as v from 'valibot';
import { Failure, type FailureDetails, type FailureKind, invalid } from '../../formats/failure.js';
import { codeOf, messageOf } from '../../formats/text.js';
import { createPrivate, isThere, openFolder } from './home.js';
import { tmpdir } from 'node:os';

export interface SqliteFile {
  readonly path: string;
  /** The name of the file in messages, such as `payment journal`. */
  readonly name: string;
  /** The mark that distinguishes the file from other SQLite files. */
  readonly applicationId: number;
  /**
   * The SQL scripts that each upgrade the tables of the file by one version. The first SQL script
   * creates version 1 of the tables.
   */
  readonly steps: readonly string[];
  readonly advice: Pick<Failure, 'hint' | 'next'>;
  /** The number of pages in the write-ahead log at which SQLite merges the log into the file. */
  readonly checkpointPages?: number;
  /** Whether the settings record that the file exists and has content. */
  readonly isKnown?: boolean;
}

export const inMemory = ':memory:';

/**
 * The longest wait for another program's lock on the file in ms, during which the whole process is
 * blocked.
 */
export const lockTimeoutMs = 10_000;

/**
 * Opens a file. Throws Failure and changes nothing if the file is damaged, lost, from a newer
 * version, or cannot be written.
 * @param now a clock in epoch ms, with which svcpay checks all pages of the file once a day instead
 * of at every opening
 */
export function openSqlite(file: SqliteFile, now?: () => number): Database.Database {
  const { path, checkpointPages } = file;
  if (path === inMemory) return upgraded(new Database(path), file);
  checkNotLost(file);
  openFolder(dirname(path));
  let db: Database.Database | undefined;
  try {
    const isNew = createPrivate(path);
    if (!isNew) checkHeader(file);
    accessSync(path, constants.W_OK);
    db = connect(path);
    if (!isNew) checkPages(db, path, now?.());
    keepLog(db);
    db.pragma('synchronous = NORMAL');
    if (checkpointPages !== undefined) db.pragma(`wal_autocheckpoint = ${checkpointPages}`);
    return upgraded(db, file);
  } catch (cause) {
    closeQuietly(db);
    throw sqliteFailure(file, cause);
  }
}

/**
 * The maximum number of tries to turn on the write-ahead log, each of which waits up to
 * `lockTimeoutMs`.
 */
const mostAttempts = 20;

/**
 * Turns on the write-ahead log. If several processes turn on the write-ahead log of a new file
 * together, SQLite fails in all but one process instead of waiting, so `keepLog` waits for the
 * write lock and tries again.
 */
function keepLog(db: Database.Database): void {
  for (let attempt = 1; ; attempt++) {
    try {
      db.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_BUSY' || attempt === mostAttempts) throw error;
      inTransaction(db, () => undefined);
    }
  }
}

function connect(path: string): Database.Database {
  const db = new Database(path, { timeout: lockTimeoutMs });
  db.pragma(`busy_timeout = ${lockTimeoutMs}`);
  return db;
}

/**
 * Runs the action under an exclusive lock among processes, which the operating system releases when
 * its process dies. Throws if the wait for the lock exceeds the timeout.
 */
export function locked<T>(path: string, action: () => T): T {
  createPrivate(path);
  const db = connect(path);
  try {
    return inTransaction(db, action);
  } finally {
    db.close();
  }
}

/**
 * Throws Failure `usage` if the settings record the file but the file does not exist, so that
 * svcpay does not replace a lost file with an empty file.
 */
export function checkNotLost({ name, path, isKnown, advice }: SqliteFile): void {
  if (isKnown !== true || isThere(path)) return;
  throw invalid(`The ${name} ${path} is missing. Perhaps its disk is not mounted.`, advice);
}

/** The error for a file that is damaged or belongs to another program. */
export class Damage extends Error {}

const foreign = (): Damage => new Damage('was written by a development build or another program');

const headerSchema = v.object({
  user_version: v.number(),
  application_id: v.number(),
  has_tables: v.number(),
});

/**
 * Checks the version before svcpay opens the file for use, because opening can change the file.
 * Reads the header with SQLite, because opening and closing the file in another way would end all
 * locks of this process on the file. Without its locks, this process could lose its write-ahead
 * log, because another process could delete the log.
 */
function checkHeader(file: SqliteFile): void {
  const { path } = file;
  const found = statSync(path);
  // Checks first that the path is a regular file, because opening a pipe may never end.
  if (!found.isFile()) throw new Damage('is damaged (it is not a file)');
  if (found.size === 0) return checkEmpty(file);
  accessSync(path, constants.R_OK);
  try {
    // With `immutable=1`, SQLite reads only the file, without its write-ahead log.
    readHeader(`${pathToFileURL(path).href}?immutable=1`, file);
  } catch (error) {
    if (!codeOf(error).startsWith('SQLITE_CORRUPT')) throw error;
    // While SQLite merges the log, or after a process died during the merge, only the file together
    // with its log is intact.
    readHeader(path, file);
  }
}

function readHeader(url: string, file: SqliteFile): void {
  const db = new Database(url, { readonly: true });
  try {
    checkedVersion(db, file);
  } catch (error) {
    throw codeOf(error) === 'SQLITE_NOTADB'
      ? new Damage('is damaged (it is not a database)')
      : error;
  } finally {
    db.close();
  }
}

/**
 * Returns the version of the tables. Throws if the file comes from a newer version of svcpay or
 * belongs to another program.
 */
function checkedVersion(db: Database.Database, file: SqliteFile): number {
  // Reads the header with a single statement, because another process could create the tables
  // between two statements.
  const text =
    'SELECT user_version, application_id, EXISTS (SELECT 1 FROM sqlite_master) AS has_tables ' +
    'FROM pragma_user_version, pragma_application_id';
  const {
    user_version: version,
    application_id: mark,
    has_tables: hasTables,
  } = v.parse(headerSchema, db.prepare(text).get());
  // The application id and the version in the file are zero while the tables are only in the
  // write-ahead log.
  const isEmpty = version === 0 && mark === 0 && hasTables === 0;
  if (isEmpty) return 0;
  if (mark !== file.applicationId || version === 0) throw foreign();
  if (version > file.steps.length) throw newer(file);
  return version;
}

/**
 * Throws if an empty file should have content, according to the settings or its write-ahead log.
 */
function checkEmpty(file: SqliteFile): void {
  const { path, isKnown } = file;
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (isKnown !== true && !hasLog) return;
  // Another process may have written the file after `checkHeader` found the file empty. SQLite
  // writes the file before the write-ahead log, so an empty file next to a write-ahead log has lost
  // its content.
  if (statSync(path).size > 0) checkHeader(file);
  else throw new Damage('is damaged (it was emptied)');
}

const checkSchema = v.object({ quick_check: v.string() });
/**
 * The size in bytes of the largest file whose pages svcpay checks, because checks of larger files
 * would delay payments. In files larger than `checkedBytes`, SQLite still detects damage on the
 * pages that it reads.
 */
const checkedBytes = 64 * 1024 * 1024;

const countSchema = v.object({ count: v.number() });

/**
 * Returns the version of a file, or 0 if the file is missing. If the file has the current version,
 * `rows` is the number of rows in the table, and `refusal` is the failure of a test write.
 */
export function inspectFile(
  file: SqliteFile,
  table: string,
): { version: number; rows?: number; writable?: boolean; refusal?: Failure | undefined } {
  try {
    checkNotLost(file);
    if (!isThere(file.path)) return { version: 0 };
    checkHeader(file);
    const db = connect(file.path);
    try {
      const version = checkedVersion(db, file);
      if (version !== file.steps.length) return { version };
      const { count } = v.parse(
        countSchema,
        db.prepare(`SELECT count(*) AS count FROM ${table}`).get(),
      );
      const refusal = writeFailure(db, file, version);
      return { version, rows: count, writable: refusal === undefined, refusal };
    } finally {
      db.close();
    }
  } catch (cause) {
    throw sqliteFailure(file, cause);
  }
}

/** Commits a write that changes nothing, to test whether writes succeed. */
function writeFailure(
  db: Database.Database,
  file: SqliteFile,
  version: number,
): Failure | undefined {
  try {
    inTransaction(db, () => db.exec(`PRAGMA user_version = ${version}`));
    return undefined;
  } catch (cause) {
    return sqliteFailure(file, cause);
  }
}

const dayMs = 86_400_000;

function checkPages(db: Database.Database, path: string, now: number | undefined): void {
  if (statSync(path).size > checkedBytes) return;
  const mark = `${path}.checked`;
  const checkedAt = statSync(mark, { throwIfNoEntry: false })?.mtimeMs;
  if (now !== undefined && checkedAt !== undefined && Math.abs(now - checkedAt) < dayMs) return;
  const { quick_check: verdict } = v.parse(checkSchema, db.prepare('PRAGMA quick_check(1)').get());
  if (verdict !== 'ok') throw new Damage(`is damaged (${verdict.split('\n').at(-1) ?? verdict})`);
  if (now === undefined) return;
  if (checkedAt === undefined) createPrivate(mark);
  utimesSync(mark, now / 1000, now / 1000);
}

const newer = ({ name, path }: SqliteFile): Failure =>
  invalid(`The ${name} ${path} was written by a newer svcpay and was not changed.`, {
    hint: 'Use the newer version of svcpay, or set SVCPAY_HOME to another folder.',
  });

/**
 * Upgrades the file. svcpay copies the file before each step, and each step is one transaction, so
 * that the next process can continue the upgrade after a crash.
 */
function upgraded(db: Database.Database, file: SqliteFile): Database.Database {
  const isCurrent = (): boolean => checkedVersion(db, file) === file.steps.length;
  if (isCurrent()) return db;
  // If the settings record the file and it has no tables, its write-ahead log is missing, for
  // example because someone copied only the file.
  if (file.isKnown === true && checkedVersion(db, file) === 0)
    throw new Damage('is damaged (it was emptied)');
  // Turns off foreign keys, because an upgrade that rebuilds a table deletes the table first.
  db.pragma('foreign_keys = OFF');
  while (!isCurrent()) inTransaction(db, () => takeStep(db, file));
  db.pragma('foreign_keys = ON');
  return db;
}

function inTransaction<T>(db: Database.Database, action: () => T): T {
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

function takeStep(db: Database.Database, file: SqliteFile): void {
  const { steps, path, applicationId } = file;
  const version = checkedVersion(db, file);
  if (version === steps.length) return;
  // This process holds the write lock of the file, so the file does not change between the copy and
  // the upgrade. A new SQLite file needs no copy, because it contains no data yet.
  if (version > 0) keepCopy(path, version);
  const taken = version === 0 ? steps : steps.slice(version, version + 1);
  for (const step of taken) db.exec(step);
  const reached = version + taken.length;
  db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${reached};`);
}

/** The path of the copy that an upgrade makes of an earlier version. */
export const copyOf = (path: string, version: number): string => `${path}.version-${version}`;

function keepCopy(path: string, version: number): void {
  const unfinished = `${copyOf(path, version)}.part`;
  rmSync(unfinished, { force: true });
  createPrivate(unfinished);
  const reader = connect(path);
  try {
    reader.prepare('VACUUM INTO ?').run(unfinished);
  } finally {
    reader.close();
  }
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, copyOf(path, version));
}

function closeQuietly(db: Database.Database | undefined): void {
  try {
    db?.close();
  } catch {
    // Ignores the error of closing the database, because the caller reports the original error.
  }
}

function adviceFor(code: string, reason: string): string | undefined {
  if (/open files/.test(reason)) return 'Allow the process to open more files: ulimit -n 1024.';
  return code.startsWith('SQLITE_CONSTRAINT')
    ? undefined
    : 'Make the file and its folder writable, or set SVCPAY_HOME to another folder.';
}

/** Turns an error of SQLite or the system into a Failure with advice. */
export function sqliteFailure(
  { name, path, advice }: Pick<SqliteFile, 'name' | 'path' | 'advice'>,
  cause: unknown,
): Failure {
  if (cause instanceof Failure) return cause;
  const [code, reason] = [codeOf(cause), messageOf(cause)];
  const failure = (kind: FailureKind, text: string, details: FailureDetails = {}): Failure =>
    new Failure(kind, `The ${name} ${path} ${text}.`, { cause, ...details });
  if (
    cause instanceof Damage ||
    cause instanceof v.ValiError ||
    /^SQLITE_(CORRUPT|NOTADB)/.test(code)
  ) {
    const damage = cause instanceof Damage ? cause : new Damage(`is damaged (${reason})`);
    const text = `${damage.message} and was not changed`;
    return failure('usage', text, { ...advice, cause: damage });
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return failure('temporary', 'is locked by another program');
  const hint = 'Free disk space, or set SVCPAY_HOME to a folder on another disk.';
  if (/^(SQLITE_FULL|ENOSPC)/.test(code))
    return failure('temporary', 'cannot be written: the disk is full', { hint });
  if (code.startsWith('SQLITE_IOERR'))
    return failure('usage', `cannot be written: ${reason}`, { hint });
  return failure('usage', `cannot be used: ${reason}`, { hint: adviceFor(code, reason) });
}

/** Returns a function that prepares each statement only once, because programs run it often. */
export function preparing(db: Database.Database): (text: string) => Database.Statement {
  const kept = new Map<string, Database.Statement>();
  return (text) => {
    const found = kept.get(text) ?? db.prepare(text);
    kept.set(text, found);
    return found;
  };
}

type SqlValue = string | number | null;
type RowSchema = v.GenericSchema<unknown, unknown>;

/** A temporary database. libsql keeps a database without a name in memory, so it is a file. */
export interface Scratch {
  run(text: string, ...values: readonly SqlValue[]): void;
  /** Inserts or replaces a row. Equal amounts become equal texts. */
  insert(table: string, row: Readonly<Record<string, SqlValue | Big>>): void;
  /** Yields the rows of a query one at a time, as the schema reads them. */
  each<S extends RowSchema>(
    schema: S,
    text: string,
    ...values: readonly SqlValue[]
  ): Iterable<v.InferOutput<S>>;
  /** Groups statements, which is faster than one statement at a time. */
  together(work: () => void): void;
  close(): void;
}

/** @param tables the SQL statements that create the tables */
export function openScratch(tables: string): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-'));
  const removeFolder = (): void => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Windows removes the file only after it is closed.
    }
  };
  const db = new Database(join(folder, 'rows.db'));
  removeFolder();
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${tables}`);
  const statement = preparing(db);
  return {
    run: (text, ...values) => void statement(text).run(...values),
    insert(table, row) {
      const columns = Object.keys(row);
      const text = `INSERT OR REPLACE INTO ${table} (${columns.join()})
        VALUES (${columns.map(() => '?').join()})`;
      const values = Object.values(row).map((value) =>
        value === null || typeof value !== 'object' ? value : value.toFixed(),
      );
      statement(text).run(...values);
    },
    *each(schema, text, ...values) {
      for (const row of db.prepare(text).iterate(...values)) yield v.parse(schema, row);
    },
    together: (work) => db.transaction(work)(),
    close() {
      db.close();
      removeFolder();
    },
  };
}
