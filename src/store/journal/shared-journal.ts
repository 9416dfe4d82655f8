// The journal in a database that other homes share and that someone may restore from a backup. If a
// restored database may lack earlier payments, svcpay refuses new payments, but still follows and
// records submitted payments.
import type { Failure } from '../../formats/failure.js';
import type { Postgres } from '../database/postgres.js';
import { checkTables, markRestored, type Identity } from '../database/postgres-schema.js';
import { anotherDatabase, restoredDatabase } from '../database/refused-databases.js';
import type { Journal } from './journal.js';
import { journalPart } from './schema.js';
import { guarded, openSqlJournal } from './sql-journal.js';

/**
 * The last known state of the database: its generation, and the smallest number of submissions that
 * the database must contain.
 */
export type SeenDatabase = Pick<Identity, 'generation' | 'recorded'>;

/** Whether the database lacks payments that the database had recorded earlier. */
export const wentBack = (is: Identity, seen: SeenDatabase | undefined): boolean =>
  is.restored ||
  (seen !== undefined &&
    (is.generation < seen.generation ||
      (is.generation === seen.generation && is.recorded < seen.recorded)));

export interface SharedJournalOptions {
  readonly database: Postgres;
  readonly isAlive: (owner: string) => boolean;
  /** The identity of the database when the journal was opened. */
  readonly identity: Identity;
  /** The state of the database that this home remembers from earlier commands. */
  readonly seen?: SeenDatabase | undefined;
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
  identity,
  seen,
  refusal,
  onSeen,
}: SharedJournalOptions): Promise<Journal> {
  const journal = openSqlJournal(database, isAlive);
  let seenDatabase: SeenDatabase = identity;
  let [losses, restored] = [database.losses(), false];

  const compare = async (is: Identity, before: SeenDatabase | undefined): Promise<void> => {
    restored = wentBack(is, before);
    // Marks the restored database for all homes, including homes that cannot notice a restore. If
    // the database role may not write the mark of a restored database, only this process refuses
    // payments.
    if (restored && !is.restored) await markRestored(database).catch(() => undefined);
    seenDatabase = { generation: is.generation, recorded: is.recorded };
  };
  await compare(identity, seen);

  /**
   * Compares the database with its last known state. Throws Failure `usage` if the connection leads
   * to a database other than the opened database.
   */
  const inspect = async (): Promise<void> => {
    losses = database.losses();
    // Copies the last known state before reading the database. If this process submitted a payment
    // during the read, `seenDatabase.recorded` would exceed the number that svcpay reads, and the
    // database would seem to lack a payment.
    const before = seenDatabase;
    const is = await checkTables(database, journalPart);
    if (is.id !== identity.id) throw anotherDatabase(database.source, is.id, identity.id);
    await compare(is, before);
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
      seenDatabase = { ...seenDatabase, recorded: seenDatabase.recorded + 1 };
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
