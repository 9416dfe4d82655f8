// The inbox of webhook events, as far as payments look into it.
import { existsSync } from 'node:fs';
import type { StoredEvent } from '../../store/events/event-store.js';
import { eventsFile } from '../../store/files/home.js';
import type { Context } from '../context.js';

/** Webhook events of a transaction; empty without a readable inbox. */
export async function eventsOf(txnId: string, context: Context): Promise<readonly StoredEvent[]> {
  if (!(await hasInbox(context))) return [];
  return context
    .events()
    .then((inbox) => inbox.ofTransaction(txnId))
    .catch(() => []);
}

export const hasInbox = async ({ home, database }: Context): Promise<boolean> =>
  existsSync(eventsFile(home)) || (await database()) !== undefined;
