// Follows the log of events: hands out what is there and then what comes, in the order of arrival.
import type { EventStore, StoredEvent } from '../store/event-store.js';

const rowsAtOnce = 256;

/** Says that something came; each waiter looks for itself. */
export interface Bell {
  ring(): void;
  /** Resolves at the next ring, at once after {@link close}. */
  heard(): Promise<void>;
  /** Nothing comes any more. */
  close(): void;
  readonly closed: boolean;
}

export function createBell(): Bell {
  let waiters: (() => void)[] = [];
  let closed = false;
  const ring = (): void => {
    const woken = waiters;
    waiters = [];
    for (const wake of woken) wake();
  };
  return {
    ring,
    heard: () => (closed ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
    close() {
      closed = true;
      ring();
    },
    get closed() {
      return closed;
    },
  };
}

/** Events after an id, until the bell is closed and all are handed out. */
export async function* tail(store: Pick<EventStore, 'after'>, afterId: number, bell: Bell): AsyncGenerator<StoredEvent> {
  let last = afterId;
  for (;;) {
    const isLast = bell.closed;
    // Asked for before looking: what is written in between rings already.
    const heard = bell.heard();
    const events = store.after(last, rowsAtOnce);
    for (const event of events) {
      last = event.id;
      yield event;
    }
    if (events.length > 0) continue;
    if (isLast) return;
    await heard;
  }
}
