// Deletes old events and the backlogs of former consumers, at the start and then every hour.
// Deletes the events in groups, each in a small database transaction.
import type { EventStore } from '../store/events/event-store.js';

const keptMs = 30 * 86_400_000;
const hourMs = 3_600_000;

export interface RetentionOptions {
  readonly store: Pick<EventStore, 'prune' | 'consumers'>;
  /** The names of the consumers that this receiver serves. */
  readonly consumers: readonly string[];
  readonly now: () => number;
  readonly every: (ms: number, action: () => void) => () => void;
  /** Reports a failed deletion, which svcpay repeats an hour later. */
  readonly onUnpruned: (error: unknown) => void;
  /**
   * Reports a consumer whose backlog svcpay dropped, because no receiver has served the consumer
   * for the retention time of events.
   */
  readonly onForgotten: (consumer: string, events: number) => void;
}

export function startRetention(options: RetentionOptions) {
  const { store, now, every } = options;
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  async function prune(): Promise<void> {
    await store.consumers.serve(options.consumers);
    for (const { consumer, servedSeconds } of await store.consumers.list())
      if ((servedSeconds ?? 0) * 1_000 > keptMs)
        options.onForgotten(consumer, await store.consumers.remove(consumer));
    const before = now() - keptMs;
    let after: number | undefined = 0;
    while (after !== undefined && !stopping.signal.aborted)
      after = await store.prune(before, after);
  }
  const start = (): void =>
    void (running ??= prune()
      .catch(options.onUnpruned)
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
