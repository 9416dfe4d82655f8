// Renames a damaged journal, so that the next payment starts a new journal.
import { existsSync, renameSync } from 'node:fs';
import { Failure } from '../../formats/failure.js';
import { isThere } from '../files/home.js';
import { Damage, openSqlite, sqliteFailure } from '../files/sqlite-file.js';
import { readRows, selectPayments } from './rows.js';
import { journalIn } from './sqlite-journal.js';

/**
 * Renames a damaged journal file, and returns the new name of the file. Returns undefined if the
 * settings record a journal but the journal file is missing. Throws Failure `usage` if the home
 * never had a journal, or if the journal is intact.
 */
export function setJournalAside(path: string, now: number, isKnown: boolean): string | undefined {
  if (!isThere(path)) {
    if (isKnown) return undefined;
    throw new Failure('usage', `There is no payment journal at ${path}.`);
  }
  if (!isDamaged(path, isKnown))
    throw new Failure('usage', `The payment journal ${path} is intact and was not renamed.`);
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
