// The only loop of svcpay that repeats a step with pauses, for polls, retries and repeated reads,
// and the pauses and the number of steps of every such loop, each with its reason.

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

export type Pauses =
  /**
   * A list of pauses in ms. The loop repeats its step once after each pause in this list, and then
   * ends.
   */
  | { readonly list: readonly number[] }
  /**
   * Growing pauses: each pause is the previous pause multiplied by `factor`. `spread` is the
   * largest fraction by which a random number shortens a pause.
   */
  | {
      readonly fromMs: number;
      readonly factor: number;
      readonly upToMs: number;
      readonly spread: number;
    }
  /**
   * Fixed pauses until the loop has waited `untilMs`. After the fixed pauses, each pause is the
   * time since the loop began, divided by `dividedBy`.
   */
  | {
      readonly first: readonly { readonly untilMs: number; readonly pauseMs: number }[];
      readonly dividedBy: number;
      readonly upToMs: number;
    };

export interface Policy {
  readonly pauses: Pauses;
  /** The maximum number of steps, including the first step, or undefined for no maximum. */
  readonly turns?: number;
}

export interface PollDeps {
  /** Returns the current time in ms. */
  readonly now: () => number;
  /**
   * Waits for `ms` milliseconds. When the signal is aborted, the wait must end early, and the
   * returned promise may resolve or reject.
   */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /**
   * Returns a random number from 0 to 1, which shortens a pause. Without `random`, each pause has
   * its maximum length.
   */
  readonly random?: (() => number) | undefined;
}

export interface PollTurn {
  /** The number of the step, counted from 1. */
  readonly number: number;
  /** Milliseconds since the loop began. */
  readonly waitedMs: number;
}

/**
 * The outcome of a step: a result, or another step after a pause. `afterMs` replaces the pause of
 * the policy.
 */
export type PollNext<T> = { readonly done: T } | { readonly afterMs?: number | undefined };

export type PollEnd<T> = { readonly done: T } | { readonly over: 'exhausted' | 'interrupted' };

/**
 * Repeats the step until the step is done, the policy has no more pauses, `atMostMs` have passed,
 * or the signal is aborted. The loop always runs the step at least once. When `atMostMs` have
 * passed, the loop runs the step for the last time.
 */
export async function poll<T>(
  policy: Policy,
  step: (turn: PollTurn) => Promise<PollNext<T>>,
  deps: PollDeps,
  atMostMs = Number.POSITIVE_INFINITY,
): Promise<PollEnd<T>> {
  const clock = elapsedClock(deps);
  const isAborted = (): boolean => deps.signal?.aborted === true;
  for (let number = 1; ; number += 1) {
    const next = await step({ number, waitedMs: clock.now() });
    if ('done' in next) return next;
    if (isAborted()) return { over: 'interrupted' };
    const waitedMs = clock.now();
    const pause = next.afterMs ?? pauseAfter(policy, { number, waitedMs }, deps.random?.());
    if (pause === undefined || number >= (policy.turns ?? Infinity) || waitedMs >= atMostMs)
      return { over: 'exhausted' };
    if (pause > 0) await clock.sleep(Math.min(pause, atMostMs - waitedMs));
    if (isAborted()) return { over: 'interrupted' };
  }
}

/** Returns the pause after a step, or undefined if the policy ends the loop after the step. */
export function pauseAfter(
  { pauses }: Policy,
  { number, waitedMs }: PollTurn,
  random = 1,
): number | undefined {
  if ('list' in pauses) return pauses.list[number - 1];
  if ('first' in pauses) {
    const early = pauses.first.find(({ untilMs }) => waitedMs < untilMs)?.pauseMs;
    return early ?? Math.min(Math.floor(waitedMs / pauses.dividedBy), pauses.upToMs);
  }
  const longest = Math.min(pauses.fromMs * pauses.factor ** (number - 1), pauses.upToMs);
  return Math.round(longest * (1 - pauses.spread * (1 - random)));
}

/**
 * The maximum in ms by which an elapsed clock advances at once, in addition to a pause. If the
 * machine's clock advances by more than the pause and `longestStepMs`, someone has probably set the
 * machine's clock.
 */
const longestStepMs = 60_000;

export interface ElapsedClock {
  /** Returns the number of milliseconds since the `ElapsedClock` was created. */
  readonly now: () => number;
  /** Waits for `ms` milliseconds, or until the signal is aborted. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * A clock that never goes back, even if someone sets the machine's clock back. Each pause advances
 * the elapsed clock by at least the length of the pause.
 */
export function elapsedClock({ now, sleep, signal }: Omit<PollDeps, 'random'>): ElapsedClock {
  let elapsed = 0;
  let seen = now();
  const pass = (atLeast: number): void => {
    const passed = now() - seen;
    seen += passed;
    elapsed += Math.min(Math.max(passed, atLeast), atLeast + longestStepMs);
  };
  return {
    now: () => {
      pass(0);
      return elapsed;
    },
    sleep: async (ms) => {
      pass(0);
      await sleep(ms, signal).catch(() => undefined);
      pass(ms);
    },
  };
}
