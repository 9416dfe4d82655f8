// The service's clock, as far as its Date headers tell it.

/**
 * Starts with the machine's clock. A Date header has whole seconds and is as old as the way back was long, so it names
 * a span of time: an estimate within that span stays as it is, so that countdowns do not jump with every answer.
 */
export function createServiceClock(clock: () => number) {
  let offset = 0;
  /** Epoch ms. */
  const now = (): number => clock() + offset;
  return {
    now,
    /** Takes in the `Date` header of an answer whose request left at `sentAt` by the machine's clock. */
    observe(date: string | undefined, sentAt: number): void {
      const earliest = Date.parse(date ?? '');
      if (Number.isNaN(earliest)) return;
      const received = clock();
      const latest = earliest + 999 + Math.max(0, received - sentAt);
      offset = Math.min(Math.max(received + offset, earliest), latest) - received;
    },
  };
}
