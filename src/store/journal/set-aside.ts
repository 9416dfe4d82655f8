// The way on from a damaged journal: it is kept under another name, and the next payment starts a new one.
import { existsSync, renameSync } from 'node:fs';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { Damage, openSqlite, sqliteFailure } from '../files/sqlite-file.js';
import { rowSchema } from './schema.js';
import { journalIn } from './sqlite-journal.js';

/** Gives the file's new name. Throws Failure `usage` when there is no journal, or when it is in order. */
export function setJournalAside(path: string, now: number, isKnown: boolean): string {
  if (!existsSync(path)) throw new Failure('usage', `There is no payment journal at ${path}.`);
  if (!isDamaged(path, isKnown)) throw new Failure('usage', `The payment journal ${path} is not damaged and was not moved.`);
  const aside = `${path}.damaged-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`;
  try {
    for (const part of ['', '-wal', '-shm']) if (existsSync(path + part)) renameSync(path + part, aside + part);
  } catch (cause) {
    throw sqliteFailure(journalIn(path), cause);
  }
  return aside;
}

function isDamaged(path: string, isKnown: boolean): boolean {
  try {
    const db = openSqlite(journalIn(path, isKnown));
    try {
      v.parse(v.array(rowSchema), db.prepare('SELECT * FROM intents').all());
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
