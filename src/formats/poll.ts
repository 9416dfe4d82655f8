// The only loop of svcpay that repeats a step with pauses, for polls, retries and repeated reads.
// The file policies.ts defines the pauses as data.

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
