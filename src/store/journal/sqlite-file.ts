// The journal's file: opened only when it is whole and ours, otherwise left exactly as it is.
import { chmodSync, closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { openFolder } from '../files/home.js';
import { inTransaction } from '../files/sqlite.js';
import { referenceSchema } from './sqlite-references.js';
import { applicationId, schema, schemaVersion } from './sqlite-rows.js';

/** How long a process waits for another one's write, in ms. */
const patienceMs = 10_000;

/** Throws Failure when the file is damaged, from a newer version, or cannot be written; nothing is changed then. */
export function openJournalFile(path: string): Database.Database {
  openFolder(dirname(path));
  const isNew = !existsSync(path);
  let db: Database.Database | undefined;
  try {
    if (!isNew) checkHeader(path);
    db = new Database(path, { timeout: patienceMs });
    db.pragma(`busy_timeout = ${patienceMs}`);
    if (!isNew) checkPages(db);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    createTables(db, path);
    db.exec(referenceSchema);
    if (isNew) chmodSync(path, 0o600);
    return db;
  } catch (cause) {
    closeQuietly(db);
    throw journalFailure(path, cause);
  }
}

/** The file is not, or not wholly, what this program wrote. */
export class Damage extends Error {}

const headerLength = 100;
const versionAt = 60;
const applicationAt = 68;

/** Reads the version without opening the database, which could change it. An empty file is a new one. */
function checkHeader(path: string): void {
  const header = Buffer.alloc(headerLength);
  const file = openSync(path, 'r');
  const length = readSync(file, header, 0, headerLength, 0);
  closeSync(file);
  if (length === 0) return;
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') throw new Damage('it is not a database');
  // Zero while the tables are still in the write-ahead log alone.
  const application = header.readUInt32BE(applicationAt);
  if (application !== 0 && application !== applicationId) throw new Damage('it is a database of another program');
  if (header.readUInt32BE(versionAt) > schemaVersion) throw newer(path);
}

const checkSchema = v.object({ quick_check: v.string() });

function checkPages(db: Database.Database): void {
  const { quick_check: verdict } = v.parse(checkSchema, db.prepare('PRAGMA quick_check(1)').get());
  if (verdict !== 'ok') throw new Damage(verdict.split('\n').at(-1) ?? verdict);
}

const newer = (path: string): Failure =>
  new Failure('usage', `The payment journal ${path} was written by a newer svcpay, and is left as it is.`, {
    hint: 'Use that version, or set SVCPAY_HOME to another folder.',
  });

const versionSchema = v.object({ user_version: v.number() });
const countSchema = v.object({ tables: v.number() });

function createTables(db: Database.Database, path: string): void {
  if (versionOf(db) === schemaVersion) return;
  inTransaction(db, () => {
    const version = versionOf(db);
    if (version > schemaVersion) throw newer(path);
    if (version === schemaVersion) return;
    const { tables } = v.parse(countSchema, db.prepare('SELECT count(*) AS tables FROM sqlite_master').get());
    if (tables > 0) throw new Damage('it is a database of another program');
    db.exec(schema);
  });
}

const versionOf = (db: Database.Database): number =>
  v.parse(versionSchema, db.prepare('PRAGMA user_version').get()).user_version;

function closeQuietly(db: Database.Database | undefined): void {
  try {
    db?.close();
  } catch {
    // What was wrong with it is already on its way to the person.
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** What SQLite or the system said about the journal, in words that tell what to do. */
export function journalFailure(path: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const code = codeOf(cause);
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof Damage) return damaged(path, cause);
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code) || cause instanceof v.ValiError) return damaged(path, new Damage(reason));
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new Failure('temporary', `The payment journal ${path} is in use by another program for too long.`, { cause });
  }
  if (/^(SQLITE_FULL|ENOSPC)/.test(code)) {
    return new Failure('usage', `The payment journal ${path} cannot be written: the disk is full.`, {
      hint: 'Make room, or set SVCPAY_HOME to a folder on another disk.',
      cause,
    });
  }
  if (code.startsWith('SQLITE_IOERR')) {
    return new Failure('usage', `The payment journal ${path} cannot be written: ${reason}.`, {
      hint: 'Make room on the disk, or set SVCPAY_HOME to a folder on another one.',
      cause,
    });
  }
  return new Failure('usage', `The payment journal ${path} cannot be used: ${reason}.`, {
    hint: 'Make its folder writable, or set SVCPAY_HOME to another one.',
    cause,
  });
}

function damaged(path: string, cause: Damage): Failure {
  return new Failure('usage', `The payment journal ${path} is damaged (${cause.message}), and is left as it is.`, {
    hint: 'Set it aside and start a new one',
    next: { do: 'set-journal-aside' },
    cause,
  });
}
