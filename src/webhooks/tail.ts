// Hands out events as they are stored, in the order of arrival; a slow reader costs no memory, the rest is on disk.
import type { EventStore } from '../store/events/event-store.js';
import { readPayload, type ReadEvent } from './events.js';

/** Held whole for the reader; of what comes on top only the numbers, and the rest is read from the store. */
const mostHeld = 1_000;

export function createTail(store: Pick<EventStore, 'read'>) {
  let waiting: (ReadEvent | number)[] = [];
  let isClosed = false;
  let wake = (): void => undefined;

  return {
    /** Some are stored, the next ones after all that were pushed before. */
    push(events: readonly ReadEvent[]): void {
      for (const each of events) waiting.push(waiting.length < mostHeld ? each : each.event.id);
      wake();
    },
    /** Nothing comes any more. */
    close(): void {
      isClosed = true;
      wake();
    },
    /** All that is pushed, until it is closed. To be read once. */
    async *events(): AsyncGenerator<ReadEvent> {
      for (;;) {
        const taken = waiting;
        waiting = [];
        for (const each of taken) {
          if (typeof each === 'object') {
            yield each;
            continue;
          }
          const event = await store.read(each);
          if (event !== undefined) yield { event, payload: readPayload(event.body) };
        }
        if (taken.length > 0) continue;
        if (isClosed) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
