// Reads the webhook events of payments from the inbox.
import { existsSync } from 'node:fs';
import type { StoredEvent } from '../../store/events/event-store.js';
import { eventsFile } from '../../store/files/home.js';
import type { Context } from '../context.js';

/** Returns the webhook events of a transaction, or no events if svcpay cannot read the inbox. */
export async function eventsOf(txnId: string, context: Context): Promise<readonly StoredEvent[]> {
  if (!(await hasInbox(context))) return [];
  return context
    .events()
    .then((inbox) => inbox.ofTransaction(txnId))
    .catch(() => []);
}

export const hasInbox = async ({ home, database }: Context): Promise<boolean> =>
  existsSync(eventsFile(home)) || (await database()) !== undefined;
