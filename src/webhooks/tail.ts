// Streams events as they are stored. For a slow reader they wait on disk, not in memory.
import type { EventStore } from '../store/events/event-store.js';
import { readPayload, type ReadEvent } from './events.js';

/** Events held in memory; of further events only the ids, by which they are read from the store. */
const mostHeld = 1_000;

export function createTail(store: Pick<EventStore, 'read'>) {
  let waiting: (ReadEvent | number)[] = [];
  let isClosed = false;
  let wake = (): void => undefined;

  return {
    push(events: readonly ReadEvent[]): void {
      for (const each of events) waiting.push(waiting.length < mostHeld ? each : each.event.id);
      wake();
    },
    /** Ends the stream after the events that were pushed. */
    close(): void {
      isClosed = true;
      wake();
    },
    /** All pushed events until `close`. Can be read once. */
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
