// The numbers of every repeated request. Which requests may be repeated is decided elsewhere: reads in `retry.ts`, creations and
// confirmations in the payment core.

export const retryPolicy = {
  /** Repetitions of a read after a network failure, a 5xx or an answer that cannot be read. */
  reads: 3,
  /** Repetitions of a read where the service asks for fewer requests: it gets the pause that it asks for each time. */
  limitedReads: 10,
  /** Requests for one creation and for one confirmation, the first included. */
  creations: 4,
  confirmations: 5,
  /** A creation or confirmation never pauses longer than this unless the service asks for it. */
  longestPauseMs: 4_000,
  /** A service that asks a payment for a longer pause ends it: the person decides. */
  longestPauseAskedForMs: 30_000,
  /** How long a read may be stale. */
  staleForMs: 8_000,
  /** The pauses between the reads over that time. */
  stalePausesMs: [500, 1_000, 2_000, 4_500],
} as const;

const firstPauseMs = 250;

/**
 * @param retry 0 before the first repetition
 * @param random from 0 to 1: shortens the pause by up to half
 */
export const backoffMs = (retry: number, random = 1): number => Math.round(firstPauseMs * 2 ** retry * (0.5 + random / 2));
