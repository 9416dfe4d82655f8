// The one loop that repeats a step with pauses: polls, retries and repeated reads. Its policies are
// data, in policies.ts.

/** The pauses of a loop. */
export type Pauses =
  /** One after the other; the loop ends after the last. */
  | { readonly list: readonly number[] }
  /**
   * Each `factor` times the one before it. `spread`: shortened at random by up to this fraction.
   */
  | {
      readonly fromMs: number;
      readonly factor: number;
      readonly upToMs: number;
      readonly spread: number;
    }
  /** These up to the given time waited; from then on the time waited, divided. */
  | {
      readonly first: readonly { readonly untilMs: number; readonly pauseMs: number }[];
      readonly dividedBy: number;
      readonly upToMs: number;
    };

export interface Policy {
  readonly pauses: Pauses;
  /** Most steps, the first included; no limit by default. */
  readonly turns?: number;
}

export interface PollDeps {
  /** Epoch ms, or any other clock. */
  readonly now: () => number;
  /** Ends early, or rejects, at the signal. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** From 0 to 1; 1 by default, which gives the longest pauses. */
  readonly random?: (() => number) | undefined;
}

export interface Turn {
  /** From 1. */
  readonly number: number;
  /** Ms since the loop began. */
  readonly waitedMs: number;
}

/** `afterMs`: the requested pause, in place of the policy's. */
export type Next<T> = { readonly done: T } | { readonly afterMs?: number | undefined };

export type End<T> = { readonly done: T } | { readonly over: 'exhausted' | 'interrupted' };

/**
 * Repeats the step until it is done, the policy has no further pause, `atMostMs` have passed (the
 * last step comes at their end), or the signal is aborted. The first step runs in any case.
 */
export async function poll<T>(
  policy: Policy,
  step: (turn: Turn) => Promise<Next<T>>,
  deps: PollDeps,
  atMostMs = Number.POSITIVE_INFINITY,
): Promise<End<T>> {
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

/** The pause after a step; undefined if the policy ends the loop there. */
export function pauseAfter(
  { pauses }: Policy,
  { number, waitedMs }: Turn,
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

/** A step that takes longer than this by the machine's clock was a jump of that clock. */
const longestStepMs = 60_000;

export interface ElapsedClock {
  /** Ms since the clock was made. */
  readonly now: () => number;
  /** Resolves early at the signal. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** It only grows, and at least by what was slept, however the machine's clock is moved. */
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
