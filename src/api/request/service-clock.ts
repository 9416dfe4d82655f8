// The service's clock, estimated from Date headers.

export type ServiceClock = ReturnType<typeof createServiceClock>;

/** The machine's clock was set if it moved further than this during a request or after it. */
const longestMs = 60_000;

/**
 * Starts with the machine's clock. A Date header has whole seconds and is as old as the way back
 * was long, so it names a span of time: an estimate within that span stays as it is, so that
 * countdowns do not jump with every answer.
 */
export function createServiceClock(clock: () => number) {
  let offset = 0;
  let latest: { readonly at: number; readonly machine: number } | undefined;
  return {
    /** Epoch ms. */
    now: (): number => clock() + offset,
    /**
     * Epoch ms; undefined before an answer had a date. Limits count by it, so it does not follow
     * the machine's clock further than a minute from the last answer.
     */
    datedNow: (): number | undefined =>
      latest && latest.at + Math.min(Math.max(0, clock() - latest.machine), longestMs),
    /**
     * Reads the `Date` header of a response; `sentAt` is when its request left, by the machine's
     * clock.
     */
    observe(date: string | undefined, sentAt: number): void {
      const at = Date.parse(date ?? '');
      if (Number.isNaN(at)) return;
      const received = clock();
      const onTheWay = Math.min(Math.max(0, received - sentAt), longestMs);
      offset = Math.min(Math.max(offset, at - received), at + 999 + onTheWay - received);
      latest = { at: received + offset, machine: received };
    },
  };
}
