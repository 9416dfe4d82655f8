// The only loop that repeats a step with pauses: polls, retries and repeated reads. Its policies
// are data, in policies.ts.

export type Pauses =
  /** Pauses in this order. The loop ends after the last pause. */
  | { readonly list: readonly number[] }
  /**
   * Each pause is `factor` times the one before. `spread` is the largest fraction by which a pause
   * is shortened at random.
   */
  | {
      readonly fromMs: number;
      readonly factor: number;
      readonly upToMs: number;
      readonly spread: number;
    }
  /** Up to the given time waited, these pauses. After that, a fraction of the time waited. */
  | {
      readonly first: readonly { readonly untilMs: number; readonly pauseMs: number }[];
      readonly dividedBy: number;
      readonly upToMs: number;
    };

export interface Policy {
  readonly pauses: Pauses;
  /** The most steps, the first included. Without it, there is no limit. */
  readonly turns?: number;
}

export interface PollDeps {
  /** A clock in ms. */
  readonly now: () => number;
  /** Waits. Ends early, or rejects, at the signal. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** A random number from 0 to 1. The default, 1, gives the longest pauses. */
  readonly random?: (() => number) | undefined;
}

export interface PollTurn {
  /** The number of the step, from 1. */
  readonly number: number;
  /** Ms since the loop began. */
  readonly waitedMs: number;
}

/** The result, or a further step after a pause: `afterMs` replaces the pause of the policy. */
export type PollNext<T> = { readonly done: T } | { readonly afterMs?: number | undefined };

export type PollEnd<T> = { readonly done: T } | { readonly over: 'exhausted' | 'interrupted' };

/**
 * Repeats the step until the step is done, the policy has no further pause, `atMostMs` have passed,
 * or the signal is aborted. The last step runs when `atMostMs` end. The first step runs in any
 * case.
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

/** The pause after a step, or undefined if the policy ends the loop there. */
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

/** If a step takes longer by the machine's clock, someone set that clock. */
const longestStepMs = 60_000;

export interface ElapsedClock {
  /** Ms since the clock was created. */
  readonly now: () => number;
  /** Resolves early at the signal. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** A clock that only grows, at least by each pause, however someone sets the machine's clock. */
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
