// The journal in a database that other homes share and that someone may restore from a backup. If a
// restored database may lack earlier payments, svcpay refuses new payments, but still follows and
// records submitted payments.
import type { Failure } from '../../formats/failure.js';
import type { Postgres } from '../database/postgres.js';
import {
  checkTables,
  markRestored,
  type Identity,
  type SeenDatabase,
  anotherDatabase,
  restoredDatabase,
} from '../database/postgres-schema.js';
import type { Journal } from './journal.js';
import { journalPart } from './schema.js';
import { guarded, openSqlJournal } from './sql-journal.js';
import type { Actor } from './steps.js';

export interface SharedJournalOptions {
  readonly database: Postgres;
  readonly isAlive: (owner: string) => boolean;
  /** Who makes the changes of this journal. */
  readonly by: Actor;
  /** The identity of the database when the journal was opened. */
  readonly identity: Identity;
  /** A reason to refuse payments, other than a restored database. */
  readonly refusal?: Failure | undefined;
  /**
   * Called with the state of the database after each submission, and before each count of
   * unfinished payments.
   */
  readonly onSeen?: (seen: SeenDatabase) => void;
}

export async function openSharedJournal({
  database,
  isAlive,
  by,
  identity,
  refusal,
  onSeen,
}: SharedJournalOptions): Promise<Journal> {
  const journal = openSqlJournal(database, isAlive, by);
  let seenDatabase: SeenDatabase = identity;
  let [losses, restored] = [database.losses(), false];

  const remember = async ({ generation, latest, ...is }: Identity): Promise<void> => {
    ({ restored } = is);
    // Marks the restored database for all homes, including homes that cannot notice a restore. If
    // the database role may not write the mark of a restored database, only this process refuses
    // payments.
    if (restored) await markRestored(database).catch(() => undefined);
    seenDatabase = { generation, latest };
  };
  await remember(identity);

  /**
   * Compares the database with its last known state. Throws Failure `usage` if the connection leads
   * to a database other than the opened database.
   */
  const inspect = async (): Promise<void> => {
    losses = database.losses();
    const is = await checkTables(database, journalPart, seenDatabase);
    if (is.id !== identity.id) throw anotherDatabase(database.source, is.id, identity.id);
    await remember(is);
  };

  const mayPay = async (): Promise<void> => {
    if (database.losses() !== losses) await inspect();
    if (restored) throw restoredDatabase(database.source, seenDatabase.generation);
    if (refusal !== undefined) throw refusal;
  };

  const payable = guarded(journal, mayPay);
  return {
    ...payable,
    submit: async (...submission) => {
      const claim = await payable.submit(...submission);
      seenDatabase = { ...seenDatabase, latest: claim.payment.id };
      onSeen?.(seenDatabase);
      return claim;
    },
    // Receivers and timers count the unfinished payments every minute, so they also detect a
    // restored database on behalf of paying programs that store no state between runs.
    unfinished: async () => {
      await inspect();
      onSeen?.(seenDatabase);
      return journal.unfinished();
    },
  };
}
