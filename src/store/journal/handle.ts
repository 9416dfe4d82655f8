// Journals that an integrator's program opens and closes. The program gets an opaque handle,
// because only svcpay reads and writes the contents of a journal.
import * as v from 'valibot';
import { type Failure, invalid } from '../../formats/failure.js';
import type { Journal as PaymentJournal } from './journal.js';
import packageJson from '../../../package.json' with { type: 'json' };
import { checkAddress, databaseIdVariable, noAddress } from '../database/address.js';
import { actorOf, isAlive, ownerOf } from './steps.js';

/** The name of this process in journals, which all threads of the process share. */
export const ownName = (): string => ownerOf(process.pid, String(performance.timeOrigin));
const isOwnerAlive = (other: string): boolean => isAlive(other, ownName());

const ownActor = () =>
  actorOf(
    { door: 'library', version: packageJson.version, profile: null, sandbox: null },
    process.pid,
  );

/** Opens a journal in memory, for tests. A journal in memory disappears with its process. */
export const openMemoryJournal = (): Promise<Journal> => openFile(':memory:');

/**
 * Opens a journal in a SQLite file. The processes of one machine, including the command line, may
 * share a journal in a file. Rejects with Failure `usage` if `SVCPAY_DATABASE_ID` is set, because
 * the payments are then in a database that the file lacks.
 */
export async function openSqliteJournal(path: string): Promise<Journal> {
  const id = process.env[databaseIdVariable] ?? '';
  if (id !== '') throw noAddress(id);
  return openFile(path);
}

async function openFile(path: string): Promise<Journal> {
  const { openJournal } = await import('./sqlite-journal.js');
  return asJournal(
    openJournal({ path, isAlive: isOwnerAlive, now: () => Date.now(), by: ownActor() }),
  );
}

/** Options of {@link openPostgresJournal}. */
export interface PostgresJournalOptions {
  /**
   * The id of the database, which `svcpay db status` shows. svcpay refuses a database with a
   * different id, because that database may lack payments.
   */
  readonly id: string;
}

/**
 * Opens a journal in PostgreSQL from an address such as `postgres://…`. Several machines and the
 * command line may share a journal in PostgreSQL. The command `svcpay db upgrade --new` creates the
 * tables of the journal. Rejects with Failure `usage` if the id of the database differs from the id
 * in the options.
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
  // A JavaScript program may pass an undefined variable as the address.
  checkAddress(url ?? '', 'The url of openPostgresJournal');
  const database = postgres.postgresDatabase({ url, source, clock: () => performance.now() });
  try {
    const identity = await tables.checkTables(database, journalPart);
    const given = v.safeParse(optionsSchema, options);
    if (!given.success || given.output.id !== identity.id) throw notExpected(identity.id);
    return asJournal(
      await shared.openSharedJournal({ database, isAlive: isOwnerAlive, by: ownActor(), identity }),
    );
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * The schema of the options, which svcpay checks at run time because a JavaScript program may omit
 * the id.
 */
const optionsSchema = v.object({ id: v.pipe(v.string(), v.toLowerCase()) });

const notExpected = (id: string): Failure =>
  invalid(`The database of the journal has the id ${id}, which differs from the given id.`, {
    hint:
      'If this database has all earlier payments, call ' +
      `openPostgresJournal(url, { id: '${id}' }).`,
  });

/**
 * A handle of an open payment journal. Only svcpay reads and writes the contents of the journal.
 */
export interface Journal {
  /**
   * Interrupts the calls that are working on payments, waits until these calls have ended, and
   * closes the journal. A call that waits for a submitted payment rejects with Failure `pending`.
   */
  close(): Promise<void>;
}

export interface Opened {
  readonly journal: PaymentJournal;
  /** The signal that is aborted when the journal is closed. */
  readonly closed: AbortSignal;
  /** Runs a call. The journal remains open until the call has released its claims. */
  run<T>(call: () => Promise<T>): Promise<T>;
}

const all = new WeakMap<Journal, Opened>();

function asJournal(journal: PaymentJournal): Journal {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  const handle: Journal = {
    async close() {
      closing.abort();
      await Promise.allSettled(running);
      await journal.close();
    },
  };
  all.set(handle, {
    journal,
    closed: closing.signal,
    run(call) {
      const result = call();
      running.add(result);
      const ended = (): unknown => running.delete(result);
      result.then(ended, ended);
      return result;
    },
  });
  return handle;
}

/**
 * Returns the open journal behind a handle. Throws Failure `usage` for a value that is not a
 * journal opened by a function of this file.
 */
export function journalOf(handle: Journal): Opened {
  const opened = all.get(handle);
  if (opened === undefined)
    throw invalid('This journal was not opened with one of the open...Journal functions.');
  return opened;
}
