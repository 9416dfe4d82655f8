// Journals for another program, which opens and closes them; their contents belong to svcpay.
import { Failure } from '../../formats/failure.js';
import type { Journal as PaymentJournal } from './journal.js';
import { isAlive, ownerOf } from './owner.js';

/** Identifies this process, with all its threads, in journals. */
export const ownName = (): string => ownerOf(process.pid, String(performance.timeOrigin));
const isOwnerAlive = (other: string): boolean => isAlive(other, ownName());

/** A journal in memory, for tests: it ends with the process. */
export const openMemoryJournal = (): Promise<Journal> => openSqliteJournal(':memory:');

/** A journal in a SQLite file, which processes of one machine may share, the command line included. */
export async function openSqliteJournal(path: string): Promise<Journal> {
  const { openJournal } = await import('./sqlite-journal.js');
  return asJournal(openJournal({ path, isAlive: isOwnerAlive, now: () => Date.now() }));
}

/** A journal in PostgreSQL, `postgres://…`, which machines may share, the command line included; `svcpay db upgrade` creates its tables. */
export async function openPostgresJournal(url: string): Promise<Journal> {
  const [database, schema, journals] = await Promise.all([
    import('../database/postgres.js'),
    import('../database/postgres-schema.js'),
    import('./postgres-journal.js'),
  ]);
  const source = 'The address of the journal';
  const postgres = database.postgresDatabase({ url, source, clock: () => performance.now() });
  await schema.checkTables(postgres, source, journals.journalPart);
  return asJournal(journals.openPostgresJournal(postgres, isOwnerAlive));
}

/** Where payments are stored; its contents belong to svcpay. */
export interface Journal {
  close(): Promise<void>;
}

const opened = new WeakMap<Journal, PaymentJournal>();

function asJournal(journal: PaymentJournal): Journal {
  const { close } = journal;
  const handle = { close: () => close() };
  opened.set(handle, journal);
  return handle;
}

/** Throws Failure `usage` for anything but a journal opened here. */
export function journalOf(handle: Journal): PaymentJournal {
  const journal = opened.get(handle);
  if (journal === undefined)
    throw new Failure(
      'usage',
      'This journal was not opened with one of the open...Journal functions.',
    );
  return journal;
}
