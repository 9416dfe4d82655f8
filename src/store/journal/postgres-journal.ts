// The journal in PostgreSQL, for wallets on many machines.
import type { Postgres } from '../database/postgres.js';
import type { Part } from '../database/postgres-schema.js';
import type { Journal } from './journal.js';
import { sharedJournalSteps } from './schema.js';
import { openSqlJournal } from './sql-journal.js';

export const journalPart: Part = {
  name: 'journal',
  table: 'payments',
  steps: sharedJournalSteps,
  rewrites: { 4: 'intents' },
};

export const openPostgresJournal = (
  database: Postgres,
  isAlive: (owner: string) => boolean,
): Journal => openSqlJournal(database, isAlive);
