// The service's clock, estimated from Date headers.

/** A date this close to the machine's clock or to earlier responses is plausible. */
const plausibleMs = 3_600_000;

/**
 * Starts with the machine's clock. A Date header has whole seconds and is as old as the way back was long, so it names
 * a span of time: an estimate within that span stays as it is, so that countdowns do not jump with every answer. The confirmed
 * clock follows a date far from all others only when a second answer confirms it, because a single answer can be dated anyhow.
 */
export function createServiceClock(clock: () => number) {
  let [offset, confirmed] = [0, 0];
  let unconfirmed: number | undefined;
  return {
    /** Epoch ms. */
    now: (): number => clock() + offset,
    /** Epoch ms, for stored times such as daily sums. */
    confirmedNow: (): number => clock() + confirmed,
    /** Reads the `Date` header of a response; `sentAt` is when its request left, by the machine's clock. */
    observe(date: string | undefined, sentAt: number): void {
      const at = Date.parse(date ?? '');
      if (Number.isNaN(at)) return;
      const received = clock();
      const [earliest, latest] = [
        at - received,
        at + 999 + Math.max(0, received - sentAt) - received,
      ];
      const within = (known: number): number => Math.min(Math.max(known, earliest), latest);
      const isNear = (known: number | undefined): boolean =>
        known !== undefined && earliest <= known + plausibleMs && latest >= known - plausibleMs;
      const isPlausible = [0, confirmed, unconfirmed].some(isNear);
      unconfirmed = isPlausible ? undefined : earliest;
      offset = within(offset);
      if (isPlausible) confirmed = within(confirmed);
    },
  };
}
