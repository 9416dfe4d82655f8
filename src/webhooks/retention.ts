// Deletes old events in small transactions: at the start, and then every hour.
import type { EventStore } from '../store/events/event-store.js';

const keptMs = 30 * 86_400_000;
const hourMs = 3_600_000;

export interface RetentionOptions {
  readonly store: Pick<EventStore, 'prune'>;
  readonly now: () => number;
  readonly every: (ms: number, action: () => void) => () => void;
  /** The next hour tries again. */
  readonly onUnpruned: (error: unknown) => void;
}

export function startRetention({ store, now, every, onUnpruned }: RetentionOptions) {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  async function prune(): Promise<void> {
    const before = now() - keptMs;
    let after: number | undefined = 0;
    while (after !== undefined && !stopping.signal.aborted)
      after = await store.prune(before, after);
  }
  const start = (): void =>
    void (running ??= prune()
      .catch(onUnpruned)
      .finally(() => (running = undefined)));
  const stopHourly = every(hourMs, start);
  start();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      stopHourly();
      await running;
    },
  };
}
