// The numbers of all retries. `retry.ts` decides about reads, the payment core about creations and
// confirmations.

export const retryPolicy = {
  /** Retries of a read after a network failure, a 5xx or an unreadable response. */
  reads: 3,
  /** Retries of a read after a rate limit, each with the requested pause. */
  limitedReads: 10,
  /** Requests for one creation and for one confirmation, the first included. */
  creations: 4,
  confirmations: 5,
  /** Longest pause of a creation or confirmation, unless the service asks for more. */
  longestPauseMs: 4_000,
  /** If the service asks for a longer pause, the payment ends and the person decides. */
  longestPauseAskedForMs: 30_000,
  /** Reads may be stale for this long. */
  staleForMs: 8_000,
  /** Pauses between reads during that time. */
  stalePausesMs: [500, 1_000, 2_000, 4_500],
} as const;

const firstPauseMs = 250;

/**
 * @param retry 0 before the first retry
 * @param random from 0 to 1: shortens the pause by up to half
 */
export const backoffMs = (retry: number, random = 1): number =>
  Math.round(firstPauseMs * 2 ** retry * (0.5 + random / 2));
