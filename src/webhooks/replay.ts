// Sends stored events once more, one after the other, in the order in which they first came.
import type { StoredEvent } from '../store/events/event-store.js';
import { reasonOf, type Forwarder } from './forward.js';

export interface Replayed {
  readonly event: StoredEvent;
  /** Status of the answer; null when none came. */
  readonly status: number | null;
  /** Why none came. */
  readonly error: string | undefined;
}

export async function* replay(events: Iterable<StoredEvent>, forwarder: Pick<Forwarder, 'post'>): AsyncGenerator<Replayed> {
  for (const event of events) yield await send(event, forwarder);
}

async function send(event: StoredEvent, forwarder: Pick<Forwarder, 'post'>): Promise<Replayed> {
  try {
    return { event, status: await forwarder.post(event), error: undefined };
  } catch (error) {
    return { event, status: null, error: reasonOf(error) };
  }
}
