// Hands out events as they are stored, in the order of arrival; a slow reader costs no memory, the rest is on disk.
import type { EventStore, StoredEvent } from '../store/events/event-store.js';

export interface Tail {
  /** Some are stored, the next ones after all that were pushed before. */
  push(events: readonly StoredEvent[]): void;
  /** Nothing comes any more. */
  close(): void;
  /** All that is pushed, until {@link close}. To be read once. */
  events(): AsyncGenerator<StoredEvent>;
}

/** Held in memory for the reader; beyond, it reads from the store. */
const mostHeld = 1_000;
const rowsAtOnce = 256;

export function createTail(store: Pick<EventStore, 'after' | 'lastId'>): Tail {
  let fresh: StoredEvent[] = [];
  /** Whether events were pushed that are not held. */
  let isBehind = false;
  let isClosed = false;
  let last = store.lastId();
  let wake = (): void => undefined;

  function take(): readonly StoredEvent[] {
    // What was read from the store may be pushed only now.
    const taken = isBehind ? store.after(last, rowsAtOnce) : fresh.filter(({ id }) => id > last);
    if (!isBehind) fresh = [];
    else if (taken.length < rowsAtOnce) isBehind = false;
    last = taken.at(-1)?.id ?? last;
    return taken;
  }

  return {
    push(events) {
      if (isBehind || fresh.length + events.length > mostHeld) {
        isBehind = true;
        fresh = [];
      } else fresh.push(...events);
      wake();
    },
    close() {
      isClosed = true;
      wake();
    },
    async *events() {
      for (;;) {
        const taken = take();
        yield* taken;
        if (taken.length > 0 || isBehind) continue;
        if (isClosed) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
