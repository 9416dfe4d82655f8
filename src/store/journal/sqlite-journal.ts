// The journal in a SQLite file, which needs no setup.
import Database from 'libsql';
import { sqliteDatabase } from '../database/sqlite-database.js';
import { openSqlite, sqliteFailure, type SqliteFile } from '../files/sqlite-file.js';
import type { Journal } from './journal.js';
import { applicationId, journalSteps } from './schema.js';
import { openSqlJournal } from './sql-journal.js';

export interface SqliteJournalOptions {
  readonly path: string;
  /** Whether the process of a claim's owner is running. */
  readonly isAlive: (owner: string) => boolean;
  /** The machine's clock, epoch ms: read after locking the file, which can take long. */
  readonly now: () => number;
  /** Whether the settings record a journal at this path. */
  readonly isKnown?: boolean;
}

/** Throws Failure if the file is damaged, from a newer version, or cannot be written. */
export const openJournal = ({ path, isAlive, now, isKnown }: SqliteJournalOptions): Journal =>
  openSqlJournal(sqliteDatabase(journalIn(path, isKnown), now), isAlive);

export const journalIn = (path: string, isKnown = false): SqliteFile => ({
  path,
  name: 'payment journal',
  applicationId,
  steps: journalSteps,
  advice: { hint: 'Set it aside and start a new one', next: { do: 'set-journal-aside' } },
  isKnown,
});

/** Reads every page. Throws Failure if the file is damaged. */
export const checkJournal = (path: string): void => void openSqlite(journalIn(path)).close();

/**
 * Whether a file of any version has a payment. Changes nothing.
 *
 * @param apartFrom a service whose payments do not count, because they move no real money
 */
export function holdsPayments(path: string, apartFrom: string): boolean {
  try {
    const db = new Database(path, { readonly: true });
    try {
      const isTable = (name: string): boolean =>
        db.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(name) !== undefined;
      const table = ['payments', 'intents'].find(isTable);
      return (
        table !== undefined &&
        db
          .prepare(`SELECT 1 FROM ${table} WHERE scope NOT LIKE ? || ' %' LIMIT 1`)
          .get(apartFrom) !== undefined
      );
    } finally {
      db.close();
    }
  } catch (cause) {
    throw sqliteFailure(journalIn(path), cause);
  }
}
