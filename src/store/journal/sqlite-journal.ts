// The journal in a SQLite file of its own: what a wallet has without anything being set up.
import Database from 'libsql';
import { sqliteDatabase } from '../database/sqlite-database.js';
import { openSqlite, sqliteFailure, type SqliteFile } from '../files/sqlite-file.js';
import type { Journal } from './journal.js';
import { applicationId, journalSteps } from './schema.js';
import { openSqlJournal } from './sql-journal.js';

export interface SqliteJournalOptions {
  readonly path: string;
  /** Whether the process that a claim's owner names still runs. */
  readonly isAlive: (owner: string) => boolean;
  /** The machine's clock, epoch ms: read when the lock on the file is held, which may have taken long. */
  readonly now: () => number;
  /** Whether the settings tell of a journal in this place. */
  readonly isKnown?: boolean;
}

/** Throws Failure when the file is damaged, from a newer version, or cannot be written: nothing is sent then. */
export const openJournal = ({ path, isAlive, now, isKnown }: SqliteJournalOptions): Journal =>
  openSqlJournal(sqliteDatabase(journalIn(path, isKnown), now), isAlive);

export const journalIn = (path: string, isKnown = false): SqliteFile => ({
  path,
  name: 'payment journal',
  applicationId,
  steps: journalSteps,
  mend: { hint: 'Set it aside and start a new one', next: { do: 'set-journal-aside' } },
  isKnown,
});

/** Reads every page. Throws Failure when the file is damaged. */
export const checkJournal = (path: string): void => void openSqlite(journalIn(path)).close();

/**
 * Whether there is a payment in the file, of whatever version; nothing is changed.
 *
 * @param apartFrom a service whose payments do not count, because its money is none
 */
export function holdsPayments(path: string, apartFrom: string): boolean {
  try {
    const db = new Database(path, { readonly: true });
    try {
      const hasTable = db.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'intents'`).get() !== undefined;
      return hasTable && db.prepare(`SELECT 1 FROM intents WHERE scope NOT LIKE ? || ' %' LIMIT 1`).get(apartFrom) !== undefined;
    } finally {
      db.close();
    }
  } catch (cause) {
    throw sqliteFailure(journalIn(path), cause);
  }
}
