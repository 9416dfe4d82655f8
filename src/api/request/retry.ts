// Repeats requests that changed nothing: when, how often, and after which pause.
import { Failure } from '../../formats/failure.js';
import { policies } from '../../formats/policies.js';
import { pauseAfter, poll, type Next } from '../../formats/poll.js';
import { isReadable, isSuccess, type Answer } from '../answer.js';
import type { Call, CallLimits, Step } from './call.js';
import type { ClientOptions } from '../options.js';
import { recheckMs, waitAskedFor, type RateLimit } from './rate-limit.js';
import { NetworkError } from '../transport.js';

type Outcome = { readonly answer: Answer } | { readonly error: unknown };

/**
 * Repeats a read after a lost exchange or a temporary failure. It repeats a change of settings only
 * if the request was lost on a closed connection, because the repetition is harmless. Rate limits
 * delay every request except a confirmation. The last attempt decides the outcome.
 * @param now the service's clock
 */
export const retry =
  (options: ClientOptions, rateLimit: RateLimit, now: () => number): Step =>
  (next) =>
  async (call) => {
    const { signal } = call;
    throwIfInterrupted(signal);
    const budget = openBudget(options, call.limits);
    const hold = (): number | undefined => {
      if (call.effect !== 'payment') return budget.holdFor(rateLimit.before(now()));
      rateLimit.sent();
      return undefined;
    };
    const attempt = async (): Promise<Next<Outcome>> => {
      const holdMs = hold();
      if (holdMs !== undefined) return { afterMs: holdMs };
      const outcome = await outcomeOf(next({ ...call, timeoutMs: budget.leftMs() }));
      const reason = signal?.aborted === true ? undefined : reasonToRepeat(outcome, call, now());
      const pauseMs = reason && budget.pauseFor(reason);
      return pauseMs === undefined ? { done: outcome } : { afterMs: pauseMs };
    };
    const { pauses } = policies.read;
    const { clock, sleep } = options;
    const end = await poll({ pauses }, attempt, { now: clock, sleep, signal });
    if (!('done' in end)) throw interrupted(signal);
    if ('error' in end.done) throw end.done.error;
    return end.done.answer;
  };

const outcomeOf = (answer: Promise<Answer>): Promise<Outcome> =>
  answer.then(
    (given) => ({ answer: given }),
    (error: unknown) => ({ error }),
  );

interface Reason {
  /** The wait that the service requests. */
  readonly waitMs?: number | undefined;
  /** The failure is a rate limit, which justifies a longer wait than other failures. */
  readonly isLimited?: boolean | undefined;
}

function reasonToRepeat(outcome: Outcome, call: Call, now: number): Reason | undefined {
  const { effect } = call;
  if ('error' in outcome) {
    const { error } = outcome;
    const isHarmless =
      error instanceof NetworkError &&
      (effect === 'read' || (effect === 'setting' && error.wasClosed));
    return isHarmless ? {} : undefined;
  }
  if (effect !== 'read' || !isWorthRepeating(outcome.answer, call)) return undefined;
  const { response } = outcome.answer;
  return { waitMs: waitAskedFor(response, now), isLimited: response.status === 429 };
}

function isWorthRepeating(answer: Answer, call: Call): boolean {
  const { repeatAfter } = call;
  const { status } = answer.response;
  if (repeatAfter === 'nothing') return false;
  if (status === 429 || status >= 500) return true;
  return repeatAfter === undefined && isSuccess(answer.response) && !isReadable(answer, call);
}

/**
 * The time and the number of attempts of one request. Waits for rate limits do not count as its
 * time. `rateLimitWaitMs` limits them.
 */
function openBudget(options: ClientOptions, limits: CallLimits = {}) {
  const { clock, random, onWait } = options;
  const timeoutMs = limits.timeoutMs ?? options.timeoutMs;
  const rateLimitWaitMs = limits.timeoutMs ?? options.rateLimitWaitMs ?? timeoutMs;
  const most = limits.retries ?? options.retries ?? policies.read.turns - 1;
  const lastWaitEnds = clock() + rateLimitWaitMs;
  let deadline = clock() + timeoutMs;
  let [retries, waits] = [0, 0];
  const wait = (ms: number): number => {
    deadline += ms;
    onWait?.(ms);
    return ms;
  };
  return {
    leftMs: () => Math.min(timeoutMs, Math.max(1, deadline - clock())),
    /** The wait before an attempt, or undefined if the attempt starts now. */
    holdFor(limitedMs: number): number | undefined {
      if (limitedMs === 0 || clock() + limitedMs > lastWaitEnds) return undefined;
      return limitedMs > recheckMs ? wait(limitedMs) : limitedMs;
    },
    /** The pause before a further attempt, or undefined if no attempt is left. */
    pauseFor({ waitMs, isLimited }: Reason): number | undefined {
      const isWait = waitMs !== undefined || isLimited === true;
      const turn = { number: retries + waits + 1, waitedMs: 0 };
      // Backs off even if the service names no wait, or a wait of zero.
      const ms = waitMs || (pauseAfter(policies.read, turn, random()) ?? 0);
      const end = clock() + ms;
      const isSpent = isWait
        ? waits >= policies.limitedRead.turns - 1 || end > lastWaitEnds
        : retries >= most || end >= deadline;
      if (isSpent) return undefined;
      if (isWait) waits += 1;
      else retries += 1;
      options.log?.(`retry ${isWait ? waits : `${retries} of ${most}`} in ${ms} ms`);
      return isWait ? wait(ms) : ms;
    },
  };
}

/** Who aborts the signal can give another failure as its reason. */
export const interrupted = (signal: AbortSignal | undefined): Failure =>
  signal?.reason instanceof Failure ? signal.reason : new Failure('interrupted', 'Interrupted.');

function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interrupted(signal);
}

/**
 * The result of the work, or Failure `interrupted` after the signal. Started work continues, and
 * nothing awaits it.
 */
export async function unlessInterrupted<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  throwIfInterrupted(signal);
  if (signal === undefined) return work();
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(interrupted(signal));
    signal.addEventListener('abort', stop, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}
