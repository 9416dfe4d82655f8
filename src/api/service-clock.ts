// The service's clock, as far as its Date headers tell it.

export interface ServiceClock {
  /** Epoch ms. */
  now(): number;
  /** Takes in the `Date` header of an answer whose request left at `sentAt` by the machine's clock. */
  observe(date: string | undefined, sentAt: number): void;
}

/**
 * Starts with the machine's clock. A Date header has whole seconds and is as old as the way back was long, so it names
 * a span of time: an estimate within that span stays as it is, so that countdowns do not jump with every answer.
 */
export function createServiceClock(clock: () => number): ServiceClock {
  let offset = 0;
  const now = (): number => clock() + offset;
  return {
    now,
    observe(date, sentAt) {
      const earliest = Date.parse(date ?? '');
      if (Number.isNaN(earliest)) return;
      const received = clock();
      const latest = earliest + 999 + Math.max(0, received - sentAt);
      offset = Math.min(Math.max(received + offset, earliest), latest) - received;
    },
  };
}
