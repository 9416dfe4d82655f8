// What every `db` command needs: the database that is set up, and its two parts.
import { Failure } from '../../formats/failure.js';
import type { Context, Needs } from '../context.js';

export type Found = NonNullable<Awaited<ReturnType<Context['database']>>>;

/** Throws Failure `usage` where no database is set up. */
export async function findDatabase({ database }: Needs<'database'>): Promise<Found> {
  const found = await database();
  if (found !== undefined) return found;
  throw new Failure('usage', 'No database is set up: journal and inbox are in files of this home.', {
    hint: 'svcpay config set database-url postgres://USER@HOST/DATABASE, or SVCPAY_DATABASE_URL',
  });
}

export async function parts() {
  const { journalPart } = await import('../../store/journal/postgres-journal.js');
  const { inboxPart } = await import('../../store/events/postgres-events.js');
  return [journalPart, inboxPart];
}
