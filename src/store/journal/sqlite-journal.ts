// The journal in a SQLite file, which needs no setup.
import Database from 'libsql';
import { sqliteDatabase } from '../database/sqlite-database.js';
import { checkNotLost, openSqlite, sqliteFailure, type SqliteFile } from '../files/sqlite-file.js';
import type { Journal } from './journal.js';
import { applicationId, sqliteSteps } from './schema.js';
import { openSqlJournal } from './sql-journal.js';
import type { Actor } from './steps.js';

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

export const journalIn = (path: string, isKnown = false): SqliteFile => ({
  path,
  name: 'payment journal',
  applicationId,
  steps: sqliteSteps,
  advice: {
    hint: 'Restore the journal, or start a new journal without the earlier payments',
    next: { do: 'start-new-journal' },
  },
  // Few checkpoints, because each checkpoint blocks the process until the disk has written.
  checkpointPages: 8_000,
  isKnown,
});

/** Reads every page of the journal file. Throws Failure if the file is damaged or lost. */
export const checkJournal = (path: string, isKnown: boolean): void =>
  void openSqlite(journalIn(path, isKnown)).close();

/**
 * Whether a journal file of any version contains a payment. Opens the file read-only. Throws
 * Failure if the file is damaged or missing.
 * @param apartFrom a service whose payments svcpay ignores, because they move no real money
 */
export function holdsPayments(path: string, apartFrom: string | undefined): boolean {
  checkNotLost(journalIn(path, true));
  try {
    const db = new Database(path, { readonly: true });
    try {
      const isTable = (name: string): boolean =>
        db.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(name) !== undefined;
      // Development builds named the table of payments `intents`.
      const table = ['payments', 'intents'].find(isTable);
      return (
        table !== undefined &&
        db
          .prepare(`SELECT 1 FROM ${table} WHERE ? IS NULL OR scope NOT LIKE ? || ' %' LIMIT 1`)
          .get(apartFrom ?? null, apartFrom ?? null) !== undefined
      );
    } finally {
      db.close();
    }
  } catch (cause) {
    throw sqliteFailure(journalIn(path), cause);
  }
}
