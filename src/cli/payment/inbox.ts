// The part of the webhook inbox that payments read.
import { existsSync } from 'node:fs';
import type { StoredEvent } from '../../store/events/event-store.js';
import { eventsFile } from '../../store/files/home.js';
import type { Context } from '../context.js';

/** The webhook events of a transaction. Empty if svcpay cannot read the inbox. */
export async function eventsOf(txnId: string, context: Context): Promise<readonly StoredEvent[]> {
  if (!(await hasInbox(context))) return [];
  return context
    .events()
    .then((inbox) => inbox.ofTransaction(txnId))
    .catch(() => []);
}

export const hasInbox = async ({ home, database }: Context): Promise<boolean> =>
  existsSync(eventsFile(home)) || (await database()) !== undefined;
