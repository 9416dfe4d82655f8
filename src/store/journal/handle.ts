// Journals for another program: it opens and closes them, and what is in them belongs to svcpay.
import { Failure } from '../../formats/failure.js';
import type { Journal as PaymentJournal } from './journal.js';
import { isAlive, ownerOf } from './owner.js';

/** Names this process in journals, the same in all its threads: they are alive together. */
export const ownName = (): string => ownerOf(process.pid, String(performance.timeOrigin));
const isOwnerAlive = (other: string): boolean => isAlive(other, ownName());

/** A journal that is gone with the process, for tests: after that the service alone knows what was paid. */
export const openMemoryJournal = (): Promise<Journal> => openSqliteJournal(':memory:');

/** A journal in a SQLite file, which processes of one machine may share; the file of the command line can be one of them. */
export async function openSqliteJournal(path: string): Promise<Journal> {
  const { openJournal } = await import('./sqlite-journal.js');
  return asJournal(openJournal({ path, isAlive: isOwnerAlive, now: () => Date.now() }));
}

/** A journal in PostgreSQL, `postgres://…`, which many machines may share, with the command line too; `svcpay db upgrade` creates its tables. */
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

/** Throws Failure `usage` for anything else than a journal that was opened here. */
export function journalOf(handle: Journal): PaymentJournal {
  const journal = opened.get(handle);
  if (journal === undefined) throw new Failure('usage', 'This journal was not opened with one of the open...Journal functions.');
  return journal;
}
