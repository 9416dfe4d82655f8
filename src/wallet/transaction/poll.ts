// The polling interval of a transaction, and how long a possibly stale read is repeated.
import { retryPolicy } from '../../api/retry-policy.js';
import type { Pace } from '../../formats/rails.js';

interface Pauses {
  /** Pauses up to the given time waited; from then on a pause is a third of the time waited. */
  readonly first: readonly { readonly untilMs: number; readonly pauseMs: number }[];
  readonly longestMs: number;
}

/**
 * `quick` makes 19 reads in the first minute. The 5 or 6 other requests of a payment bring that to 25 at most.
 * `blocks` makes 52 reads in the first hour and 36 in each later hour, which with the payment's own requests is below 60.
 */
const paces: Readonly<Record<Pace, Pauses>> = {
  quick: {
    first: [
      { untilMs: 100, pauseMs: 100 },
      { untilMs: 300, pauseMs: 200 },
      { untilMs: 580, pauseMs: 280 },
    ],
    longestMs: 15_000,
  },
  steady: { first: [{ untilMs: 3_000, pauseMs: 1_000 }], longestMs: 60_000 },
  blocks: { first: [{ untilMs: 3_000, pauseMs: 1_000 }], longestMs: 100_000 },
};

/** The pause before the next read: a settled payment is detected within a third of the time that it took. */
export function pauseMs(waitedMs: number, pace: Pace): number {
  const { first, longestMs } = paces[pace];
  return (
    first.find(({ untilMs }) => waitedMs < untilMs)?.pauseMs ??
    Math.min(Math.floor(waitedMs / 3), longestMs)
  );
}

export interface PollDeps {
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Repeats a read over 8 s while its result may be stale, and resolves with the last result. Resolves early on interruption.
 *
 * @param latest the result so far, read by the caller; the first repetition comes after a pause
 */
export async function rereadWhileStale<T>(
  latest: T,
  read: () => Promise<T>,
  mayBeStale: (value: T) => boolean,
  { sleep, signal }: PollDeps,
): Promise<T> {
  for (const ms of retryPolicy.stalePausesMs) {
    if (signal.aborted || !mayBeStale(latest)) break;
    await sleep(ms, signal).catch(() => undefined);
    if (!signal.aborted) latest = await read();
  }
  return latest;
}
