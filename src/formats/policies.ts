// The pauses and the number of steps of every loop in svcpay, each with its reason.
import type { Policy } from './poll.js';

/** Pauses of one length. */
const every = (ms: number) => ({ fromMs: ms, factor: 1, upToMs: ms, spread: 0 });

const backoff = { fromMs: 250, factor: 2, spread: 0.5 } as const;

export const policies = {
  /** Repeats a read after a network failure, a 5xx or an unreadable response. */
  read: { pauses: { ...backoff, upToMs: 60_000 }, turns: 4 },
  /** Repeats a read after a rate limit, with the pauses that the service requests. */
  limitedRead: { pauses: { ...backoff, upToMs: 60_000 }, turns: 11 },
  /**
   * If the service refused the token of a request, pauses and repeats the request, because another
   * process may have signed in and needs time to use its own token. The pause before a repetition
   * has a random length, so that two processes rarely pause equally long.
   */
  token: { pauses: { fromMs: 800, factor: 2, upToMs: 3_200, spread: 1 }, turns: 5 },
  /** Repeats a confirmation once if the service refused its token. */
  tokenOfConfirmation: { pauses: { fromMs: 800, factor: 1, upToMs: 800, spread: 1 }, turns: 2 },
  /**
   * Repeats a create request that received no response. The pauses between create requests are not
   * random, because the payment core must be deterministic.
   */
  createRequest: { pauses: { ...backoff, spread: 0, upToMs: 4_000 }, turns: 4 },
  /** Repeats a confirmation that received no response. */
  confirmation: { pauses: { ...backoff, spread: 0, upToMs: 4_000 }, turns: 5 },
  /** Repeats a read that may be stale. The last repeated read comes 8 s after the first read. */
  staleRead: { pauses: { list: [500, 1_000, 2_000, 4_500] } },
  /**
   * Repeats the list request after a deposit or a payment, because the list may lag behind the
   * wallets.
   */
  laggingList: { pauses: { list: [2_000, 6_000] } },
  /**
   * Polls Lightning payments and swaps: 19 reads in the first minute, and at most 25 requests
   * including the other requests of the payment. svcpay detects the settlement with a delay of at
   * most a third of the payment's duration.
   */
  quick: {
    pauses: {
      first: [
        { untilMs: 100, pauseMs: 100 },
        { untilMs: 300, pauseMs: 200 },
        { untilMs: 580, pauseMs: 280 },
      ],
      dividedBy: 3,
      upToMs: 15_000,
    },
  },
  /** Polls payouts and TRON payments, which settle within minutes. */
  steady: {
    pauses: {
      first: [{ untilMs: 3_000, pauseMs: 1_000 }],
      dividedBy: 3,
      upToMs: 60_000,
    },
  },
  /**
   * Polls Bitcoin payments: 52 reads in the first hour and 36 in each later hour. All requests of
   * one payment together stay below 60 per hour.
   */
  blocks: {
    pauses: {
      first: [{ untilMs: 3_000, pauseMs: 1_000 }],
      dividedBy: 3,
      upToMs: 100_000,
    },
  },
  /**
   * Waits for another process that works on the payment, with a pause that is too short for a
   * person to notice.
   */
  takeOver: { pauses: every(150) },
  /**
   * Updates the screen of `watch` six times a minute, so that most of the rate limit is left for
   * payments.
   */
  watchScreen: { pauses: every(10_000) },
  /**
   * The pauses of `watch` between two reads of the local inbox, which are short so that events
   * appear on the screen quickly.
   */
  watchInbox: { pauses: every(1_000) },
  /**
   * Waits while another process writes to the sandbox's file, after SQLite itself has waited for
   * half a second.
   */
  sandboxLock: { pauses: every(10), turns: 60 },
  /**
   * Checks for due actions of the sandbox at intervals, because another process may have written to
   * the sandbox's file.
   */
  sandboxTimer: { pauses: every(250) },
  /** Retries deliveries to a webhook consumer that is down, with one event at a time as a probe. */
  consumerDown: { pauses: { fromMs: 200, factor: 2, upToMs: 5_000, spread: 0.5 } },
  /** Retries an event that a webhook consumer refuses although it accepts other events. */
  refusedEvent: { pauses: { fromMs: 200, factor: 2, upToMs: 60_000, spread: 0.5 } },
  /** Waits for a shared database that restarts or has no free connection. */
  database: { pauses: { fromMs: 50, factor: 2, upToMs: 1_000, spread: 0 } },
} as const satisfies Record<string, Policy>;

/**
 * The longest time that a command waits for a database, longer than a usual restart of a database.
 */
export const longestDatabaseWaitMs = 12_000;

/** The longest time for which a read may be stale. */
export const staleForMs = 8_000;

/**
 * The pause in ms before the next repetition of a read. After the end of the `staleRead` list, the
 * pause is 4 s.
 */
export const stalePause = (count: number): number =>
  policies.staleRead.pauses.list[count - 1] ?? 4_000;

/**
 * The longest pause that svcpay accepts from the service. If the service requests a pause of more
 * than 30 s, svcpay ends the command, so that the person decides whether to wait.
 */
export const longestPauseAskedForMs = 30_000;
