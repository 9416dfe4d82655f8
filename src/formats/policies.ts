// How often and how long each loop of svcpay repeats its step. All numbers are here, with their
// reasons.
import type { Policy } from './poll.js';

const backoff = { fromMs: 250, factor: 2, spread: 0.5 } as const;

export const policies = {
  /** A read after a network failure, a 5xx or an unreadable response. */
  read: { pauses: { ...backoff, upToMs: 60_000 }, turns: 4 },
  /** A read after a rate limit. Each pause is the one that the service requests. */
  limitedRead: { pauses: { ...backoff, upToMs: 60_000 }, turns: 11 },
  /**
   * A request whose token was refused. If the token is new, another process has signed in since.
   * The pause lets that process use its token, and differs between processes.
   */
  token: { pauses: { fromMs: 800, factor: 2, upToMs: 3_200, spread: 1 }, turns: 5 },
  /** A confirmation whose token was refused is repeated once. */
  tokenOfConfirmation: { pauses: { fromMs: 800, factor: 1, upToMs: 800, spread: 1 }, turns: 2 },
  /**
   * A create request without an answer. The payment core has no randomness, so its pauses are
   * exact.
   */
  createRequest: { pauses: { ...backoff, spread: 0, upToMs: 4_000 }, turns: 4 },
  /** A confirmation without an answer. */
  confirmation: { pauses: { ...backoff, spread: 0, upToMs: 4_000 }, turns: 5 },
  /** A read that may be stale. The last read comes 8 s after the first. */
  staleRead: { pauses: { list: [500, 1_000, 2_000, 4_500] } },
  /** The list after a deposit or a payment, because it may lag behind the wallets. */
  laggingList: { pauses: { list: [2_000, 6_000] } },
  /**
   * Lightning and swaps: 19 reads in the first minute. With the 5 or 6 other requests of a payment
   * that makes at most 25. svcpay detects a settled payment within a third of the time that the
   * payment took.
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
  /** Payouts and TRON settle within minutes. */
  steady: {
    pauses: {
      first: [{ untilMs: 3_000, pauseMs: 1_000 }],
      dividedBy: 3,
      upToMs: 60_000,
    },
  },
  /**
   * Bitcoin: 52 reads in the first hour and 36 in each later hour. With the payment's own requests
   * that is below 60.
   */
  blocks: {
    pauses: {
      first: [{ untilMs: 3_000, pauseMs: 1_000 }],
      dividedBy: 3,
      upToMs: 100_000,
    },
  },
  /** Another process works on the payment, and a person should not notice the wait for its end. */
  takeOver: { pauses: { fromMs: 150, factor: 1, upToMs: 150, spread: 0 } },
  /** The screen of `watch`: six updates a minute leave most of a rate limit to payments. */
  watchScreen: { pauses: { fromMs: 10_000, factor: 1, upToMs: 10_000, spread: 0 } },
  /** The inbox is local, so an event appears on the screen at once. */
  watchInbox: { pauses: { fromMs: 1_000, factor: 1, upToMs: 1_000, spread: 0 } },
  /**
   * Another process writes to the sandbox's file. The first half second of waiting is within
   * SQLite.
   */
  sandboxLock: { pauses: { fromMs: 10, factor: 1, upToMs: 10, spread: 0 }, turns: 60 },
  /** The sandbox looks for due work, because another process may have written to its file. */
  sandboxTimer: { pauses: { fromMs: 250, factor: 1, upToMs: 250, spread: 0 } },
  /** A webhook consumer that is down. One event at a time probes it. */
  consumerDown: { pauses: { fromMs: 200, factor: 2, upToMs: 5_000, spread: 0.5 } },
  /** A webhook consumer that refuses one event and accepts others. */
  refusedEvent: { pauses: { fromMs: 200, factor: 2, upToMs: 60_000, spread: 0.5 } },
  /** A shared database that restarts, or has no free connection. */
  database: { pauses: { fromMs: 50, factor: 2, upToMs: 1_000, spread: 0 } },
} as const satisfies Record<string, Policy>;

/** The longest wait of a command for a database. A restart takes no longer. */
export const longestDatabaseWaitMs = 12_000;

/** Reads may be stale for this long. */
export const staleForMs = 8_000;

/** The next pause of a repeated read. Beyond the end of the list, the last pause. */
export const stalePause = (count: number): number =>
  policies.staleRead.pauses.list[count - 1] ?? 4_000;

/** If the service requests a longer pause, svcpay ends the payment, and the person decides. */
export const longestPauseAskedForMs = 30_000;
