// The journal in a SQLite file, which needs no setup. A damaged file is renamed, so that the next
// payment starts a new journal.
import Database from 'libsql';
import { sqliteDatabase } from '../database/sqlite-database.js';
import { checkNotLost, openSqlite, sqliteFailure, Damage } from '../files/sqlite-file.js';
import type { Journal } from './journal.js';
import { journalIn } from './schema.js';
import { openSqlJournal } from './sql-journal.js';
import type { Actor } from './steps.js';
import { existsSync, renameSync } from 'node:fs';
import { invalid } from '../../formats/failure.js';
import { isThere } from '../files/home.js';
import { readRows, selectPayments } from './rows.js';

export interface SqliteJournalOptions {
  readonly path: string;
  /** Whether the process of a claim's owner is running. */
  readonly isAlive: (owner: string) => boolean;
  /**
   * The machine's clock in epoch ms. svcpay reads the clock after locking the file, because locking
   * can take long.
   */
  readonly now: () => number;
  /** Whether the settings record a journal at this path. */
  readonly isKnown?: boolean;
  /** Who makes the changes of this journal. */
  readonly by?: Actor;
}

/**
 * Opens the journal. Throws Failure if the file is damaged or lost, comes from a newer version of
 * svcpay, or cannot be written.
 */
export const openJournal = ({ path, isAlive, now, isKnown, by }: SqliteJournalOptions): Journal =>
  openSqlJournal(sqliteDatabase(journalIn(path, isKnown), now), isAlive, by);

/** Reads every page of the journal file. Throws Failure if the file is damaged or lost. */
export const checkJournal = (path: string, isKnown: boolean): void =>
  void openSqlite(journalIn(path, isKnown)).close();

/**
 * Whether a journal file contains a payment. Opens the file read-only. Throws
 * Failure if the file is damaged or missing.
 * @param apartFrom a service whose payments svcpay ignores, because they move no real money
 */
export function holdsPayments(path: string, apartFrom: string | undefined): boolean {
  checkNotLost(journalIn(path, true));
  try {
    const db = new Database(path, { readonly: true });
    try {
      const has = (text: string, ...values: readonly (string | null)[]): boolean =>
        db.prepare(text).get(...values) !== undefined;
      const kept = "SELECT 1 FROM payments WHERE ? IS NULL OR scope NOT LIKE ? || ' %' LIMIT 1";
      const isJournal = has("SELECT 1 FROM sqlite_master WHERE name = 'payments'");
      return isJournal && has(kept, apartFrom ?? null, apartFrom ?? null);
    } finally {
      db.close();
    }
  } catch (cause) {
    throw sqliteFailure(journalIn(path), cause);
  }
}

/**
 * Renames a damaged journal file, and returns the new name of the file. Returns undefined if the
 * settings record a journal but the journal file is missing. Throws Failure `usage` if the home
 * never had a journal, or if the journal is intact.
 */
export function setJournalAside(path: string, now: number, isKnown: boolean): string | undefined {
  if (!isThere(path)) {
    if (isKnown) return undefined;
    throw invalid(`There is no payment journal at ${path}.`);
  }
  if (!isDamaged(path, isKnown))
    throw invalid(`The payment journal ${path} is intact and was not renamed.`);
  const aside = `${path}.damaged-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`;
  try {
    for (const part of ['', '-wal', '-shm'])
      if (existsSync(path + part)) renameSync(path + part, aside + part);
  } catch (cause) {
    throw sqliteFailure(journalIn(path), cause);
  }
  return aside;
}

function isDamaged(path: string, isKnown: boolean): boolean {
  try {
    const db = openSqlite(journalIn(path, isKnown));
    try {
      readRows(db.prepare(selectPayments('true')).all());
    } finally {
      db.close();
    }
    return false;
  } catch (error) {
    const failure = sqliteFailure(journalIn(path), error);
    if (failure.cause instanceof Damage) return true;
    throw failure;
  }
}
