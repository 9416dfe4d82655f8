// The one opener of SQLite files: opened only when whole and ours, upgraded by numbered steps, otherwise left as they are.
import { accessSync, chmodSync, closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { codeOf, messageOf } from '../../formats/unknown.js';
import { createPrivate, isThere, openFolder } from './home.js';

export interface SqliteFile {
  readonly path: string;
  /** What it holds, in words for a message: `payment journal`. */
  readonly name: string;
  /** Tells it from any other SQLite file; those of early versions need not have it. */
  readonly applicationId: number;
  /** The version that the first step makes, 1 unless told; files of earlier ones are not read. */
  readonly firstVersion?: number;
  /** The SQL from each version to the next, the first from nothing; it may depend on which tables there are. */
  readonly steps: readonly (string | ((tables: readonly string[]) => string))[];
  readonly mend: Pick<Failure, 'hint' | 'next'>;
  /** Pages that the log beside the file may grow to before they are moved into it. */
  readonly checkpointPages?: number;
  /** Whether something else tells that there was something in it. */
  readonly isKnown?: boolean;
}

/** The path of a database that is gone with the process. */
const inMemory = ':memory:';

/** How long a process waits for another one's write, in ms. */
const lockTimeoutMs = 10_000;

const newestOf = ({ firstVersion = 1, steps }: SqliteFile): number => firstVersion + steps.length - 1;

/**
 * Throws Failure when the file is damaged, from a newer version, or cannot be written; nothing is changed then.
 *
 * @param now epoch ms: with it all pages are read once a day, else at every open
 */
export function openSqlite(file: SqliteFile, now?: () => number): Database.Database {
  const { path, checkpointPages } = file;
  if (path === inMemory) return upgraded(new Database(path), file);
  openFolder(dirname(path));
  let db: Database.Database | undefined;
  try {
    const isNew = createPrivate(path);
    if (!isNew) checkHeader(file);
    accessSync(path, constants.W_OK);
    db = connect(path);
    if (!isNew) checkPages(db, path, now?.());
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    if (checkpointPages !== undefined) db.pragma(`wal_autocheckpoint = ${checkpointPages}`);
    return upgraded(db, file);
  } catch (cause) {
    closeQuietly(db);
    throw sqliteFailure(file, cause);
  }
}

function connect(path: string): Database.Database {
  const db = new Database(path, { timeout: lockTimeoutMs });
  db.pragma(`busy_timeout = ${lockTimeoutMs}`);
  return db;
}

/** The file is not, or not wholly, what this program wrote. */
export class Damage extends Error {}

const headerLength = 100;
const versionAt = 60;
const applicationAt = 68;

/** Reads the version without opening the database, which could change it. */
function checkHeader(file: SqliteFile): void {
  const header = Buffer.alloc(headerLength);
  // To open a pipe may never end.
  if (!statSync(file.path).isFile()) throw new Damage('it is not a file');
  const handle = openSync(file.path, 'r');
  const { size } = fstatSync(handle);
  if (size > 0) readSync(handle, header, 0, headerLength, 0);
  closeSync(handle);
  if (size === 0) return checkEmpty(file);
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') throw new Damage('it is not a database');
  // Zero while the tables are still in the write-ahead log alone.
  const application = header.readUInt32BE(applicationAt);
  if (application !== 0 && application !== file.applicationId) throw new Damage('it is a database of another program');
  if (header.readUInt32BE(versionAt) > newestOf(file)) throw newer(file);
}

/** An empty file is one that was just created, unless there are traces of more. */
function checkEmpty(file: SqliteFile): void {
  const { path, isKnown } = file;
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (isKnown !== true && !hasLog) return;
  // Another process may have made it meanwhile: SQLite writes the file before it has a log.
  if (statSync(path).size > 0) checkHeader(file);
  else throw new Damage('it was emptied');
}

const checkSchema = v.object({ quick_check: v.string() });
/** Reading all of a file that is larger takes longer than a payment may wait; SQLite still finds damage where it reads. */
const checkedBytes = 64 * 1024 * 1024;

const countSchema = v.object({ count: v.number() });

/** The version of a file, 0 if it does not exist, and if the version is current the rows of a table and whether a write succeeds. */
export function inspectFile(file: SqliteFile, table: string): { version: number; rows?: number; writable?: boolean } {
  try {
    if (!isThere(file.path)) return { version: 0 };
    checkHeader(file);
    const db = connect(file.path);
    try {
      const version = versionOf(db);
      if (version !== newestOf(file)) return { version };
      const { count } = v.parse(countSchema, db.prepare(`SELECT count(*) AS count FROM ${table}`).get());
      return { version, rows: count, writable: takesWrites(db, version) };
    } finally {
      db.close();
    }
  } catch (cause) {
    throw sqliteFailure(file, cause);
  }
}

/** Commits a write that changes nothing. */
function takesWrites(db: Database.Database, version: number): boolean {
  try {
    inTransaction(db, () => db.exec(`PRAGMA user_version = ${version}`));
    return true;
  } catch {
    return false;
  }
}

const dayMs = 86_400_000;

function checkPages(db: Database.Database, path: string, now: number | undefined): void {
  if (statSync(path).size > checkedBytes) return;
  const mark = `${path}.checked`;
  const checkedAt = statSync(mark, { throwIfNoEntry: false })?.mtimeMs;
  if (now !== undefined && checkedAt !== undefined && Math.abs(now - checkedAt) < dayMs) return;
  const { quick_check: verdict } = v.parse(checkSchema, db.prepare('PRAGMA quick_check(1)').get());
  if (verdict !== 'ok') throw new Damage(verdict.split('\n').at(-1) ?? verdict);
  if (now === undefined) return;
  if (checkedAt === undefined) createPrivate(mark);
  utimesSync(mark, now / 1000, now / 1000);
}

const newer = ({ name, path }: SqliteFile): Failure =>
  new Failure('usage', `The ${name} ${path} was written by a newer svcpay: it was not changed.`, {
    hint: 'Use that version, or set SVCPAY_HOME to another folder.',
  });

const tooOld = ({ name, path, mend }: SqliteFile): Failure =>
  new Failure('usage', `The ${name} ${path} has a version that is no longer supported and was not changed.`, mend);

/** Each step is one transaction, with a copy of the file before it: whenever a process dies, the next one goes on. */
function upgraded(db: Database.Database, file: SqliteFile): Database.Database {
  if (versionOf(db) === newestOf(file)) return db;
  // A table that is made anew is for a moment not there for those that refer to it.
  db.pragma('foreign_keys = OFF');
  while (versionOf(db) !== newestOf(file)) inTransaction(db, () => takeStep(db, file));
  db.pragma('foreign_keys = ON');
  return db;
}

/** Runs the action as one transaction: all of it holds when this returns, or nothing of it. */
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
  const { firstVersion = 1, steps } = file;
  const [version, newest] = [versionOf(db), newestOf(file)];
  if (version > newest) throw newer(file);
  if (version === newest) return;
  if (version === 0 && tablesIn(db).length > 0) throw new Damage('it is a database of another program');
  if (version > 0 && version < firstVersion) throw tooOld(file);
  // The write lock is held: nothing comes between the copy and the step.
  if (version > 0) keepCopy(file.path, version);
  // Of a new file there is nothing to keep in between.
  const taken = version === 0 ? steps : steps.slice(version - firstVersion + 1).slice(0, 1);
  for (const step of taken) db.exec(typeof step === 'string' ? step : step(tablesIn(db)));
  const reached = version === 0 ? newest : version + 1;
  db.exec(`PRAGMA application_id = ${file.applicationId}; PRAGMA user_version = ${reached};`);
}

/** Where the file of an earlier version is kept. */
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

const versionSchema = v.object({ user_version: v.number() });
const nameSchema = v.array(v.object({ name: v.string() }));

const versionOf = (db: Database.Database): number =>
  v.parse(versionSchema, db.prepare('PRAGMA user_version').get()).user_version;
const tablesIn = (db: Database.Database): string[] =>
  v.parse(nameSchema, db.prepare('SELECT name FROM sqlite_master').all()).map(({ name }) => name);

function closeQuietly(db: Database.Database | undefined): void {
  try {
    db?.close();
  } catch {
    // What was wrong with it is already on its way to the person.
  }
}

/** What SQLite or the system said about the file, in words that tell what to do. */
export function sqliteFailure(file: Pick<SqliteFile, 'name' | 'path' | 'mend'>, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const subject = `The ${file.name} ${file.path}`;
  const code = codeOf(cause);
  const reason = messageOf(cause);
  if (cause instanceof Damage || /^SQLITE_(CORRUPT|NOTADB)/.test(code) || cause instanceof v.ValiError) {
    const damage = cause instanceof Damage ? cause : new Damage(reason);
    return new Failure('usage', `${subject} is damaged (${damage.message}) and was not changed.`, { ...file.mend, cause: damage });
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new Failure('temporary', `${subject} is locked by another program.`, { cause });
  }
  const isFull = /^(SQLITE_FULL|ENOSPC)/.test(code);
  if (isFull || code.startsWith('SQLITE_IOERR')) {
    return new Failure('usage', `${subject} cannot be written: ${isFull ? 'the disk is full' : reason}.`, {
      hint: 'Free disk space, or set SVCPAY_HOME to a folder on another disk.',
      cause,
    });
  }
  return new Failure('usage', `${subject} cannot be used: ${reason}.`, {
    hint: code.startsWith('SQLITE_CONSTRAINT') ? undefined : 'Make it and its folder writable, or set SVCPAY_HOME to another folder.',
    cause,
  });
}
