// Journals that other programs open and close. Only svcpay reads and writes the contents of a
// journal.
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import type { Journal as PaymentJournal } from './journal.js';
import { isAlive, ownerOf } from './owner.js';

/** The name of this process in journals. All threads of the process share the name. */
export const ownName = (): string => ownerOf(process.pid, String(performance.timeOrigin));
const isOwnerAlive = (other: string): boolean => isAlive(other, ownName());

/** Opens a journal in memory, for tests. The journal disappears with the process. */
export const openMemoryJournal = (): Promise<Journal> => openSqliteJournal(':memory:');

/**
 * Opens a journal in a SQLite file. The processes of one machine may share the journal, including
 * the command line.
 */
export async function openSqliteJournal(path: string): Promise<Journal> {
  const { openJournal } = await import('./sqlite-journal.js');
  return asJournal(openJournal({ path, isAlive: isOwnerAlive, now: () => Date.now() }));
}

/** Options of {@link openPostgresJournal}. */
export interface PostgresJournalOptions {
  /**
   * The id of the database, which `svcpay db status` shows. A database with a different id may lack
   * payments.
   */
  readonly id: string;
}

/**
 * Opens a journal in PostgreSQL, `postgres://…`. Machines may share the journal, including the
 * command line. `svcpay db upgrade --new` creates the journal's tables. Rejects with Failure
 * `usage` if the database has a different id.
 */
export async function openPostgresJournal(
  url: string,
  options: PostgresJournalOptions,
): Promise<Journal> {
  const [postgres, tables, shared, { journalPart }] = await Promise.all([
    import('../database/postgres.js'),
    import('../database/postgres-schema.js'),
    import('./shared-journal.js'),
    import('./schema.js'),
  ]);
  const source = 'the journal';
  const database = postgres.postgresDatabase({ url, source, clock: () => performance.now() });
  try {
    const identity = await tables.checkTables(database, journalPart);
    if (!v.is(optionsSchema, options) || options.id !== identity.id) throw notExpected(identity.id);
    return asJournal(await shared.openSharedJournal({ database, isAlive: isOwnerAlive, identity }));
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The options, checked at run time because a JavaScript program may omit the id. */
const optionsSchema = v.object({ id: v.string() });

const notExpected = (id: string): Failure =>
  new Failure(
    'usage',
    `The database of the journal has the id ${id}, which differs from the given id.`,
    {
      hint:
        'If this database has all earlier payments, call ' +
        `openPostgresJournal(url, { id: '${id}' }).`,
    },
  );

/** An open journal of payments, whose contents only svcpay reads and writes. */
export interface Journal {
  /**
   * Closes the journal, and interrupts payments that are under way. A call that waits for a
   * submitted payment rejects with Failure `pending`.
   */
  close(): Promise<void>;
}

interface Opened {
  readonly journal: PaymentJournal;
  /** Aborted when the journal is closed. */
  readonly closed: AbortSignal;
}

const all = new WeakMap<Journal, Opened>();

function asJournal(journal: PaymentJournal): Journal {
  const closing = new AbortController();
  const handle: Journal = {
    close: () => {
      closing.abort();
      return journal.close();
    },
  };
  all.set(handle, { journal, closed: closing.signal });
  return handle;
}

/** Throws Failure `usage` for a value that is not a journal opened here. */
export function journalOf(handle: Journal): Opened {
  const opened = all.get(handle);
  if (opened === undefined)
    throw new Failure(
      'usage',
      'This journal was not opened with one of the open...Journal functions.',
    );
  return opened;
}
