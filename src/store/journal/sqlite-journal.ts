// The journal in a SQLite file of its own: what a wallet has without anything being set up.
import { sqliteDatabase } from '../database/sqlite-database.js';
import type { SqliteFile } from '../files/sqlite-file.js';
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
