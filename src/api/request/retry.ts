// Repeats failed requests that changed nothing, after a pause. Delays requests according to the
// rate limit that the service reports.
import { Failure } from '../../formats/failure.js';
import { policies, pauseAfter, poll, type PollNext } from '../../formats/poll.js';
import { isReadable, isSuccess, resetMs, waitAskedFor, type Answer } from '../answer.js';
import { decimal } from '../reading/readers.js';
import type { Call, CallLimits, Step } from './call.js';
import type { ClientOptions } from '../options.js';
import { NetworkError, type HttpResponse } from '../transport.js';

type Outcome = { readonly answer: Answer } | { readonly error: unknown };

/**
 * Repeats a read after a lost exchange or a temporary failure. Repeats a change of settings only if
 * the service had most likely closed the connection before the request arrived. Rate limits delay
 * every request except a confirmation. The outcome of the request is the outcome of its last
 * attempt.
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
    const attempt = async (): Promise<PollNext<Outcome>> => {
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
  /** The wait in ms that the service requests before a repetition. */
  readonly waitMs?: number | undefined;
  /** Whether the failure is a rate limit, which justifies a longer wait than other failures. */
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
 * Limits the time and the number of attempts of one request. A wait of more than `recheckMs` for a
 * rate limit extends the request's time limit. Every wait for a rate limit must end at most
 * `rateLimitWaitMs` after the start of the request.
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
    /**
     * Returns the wait in ms for a rate limit before an attempt, or undefined if the attempt starts
     * at once. The attempt also starts at once if the wait would end too late, and the service may
     * then refuse the attempt.
     */
    holdFor(limitedMs: number): number | undefined {
      if (limitedMs === 0 || clock() + limitedMs > lastWaitEnds) return undefined;
      return limitedMs > recheckMs ? wait(limitedMs) : limitedMs;
    },
    /**
     * Returns the pause in ms before a further attempt, or undefined if the request may have no
     * further attempt.
     */
    pauseFor({ waitMs, isLimited }: Reason): number | undefined {
      const isWait = waitMs !== undefined || isLimited === true;
      const turn = { number: retries + waits + 1, waitedMs: 0 };
      // If the service requests no wait or a wait of zero, svcpay waits for its own back-off time.
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

/**
 * Returns the failure of an aborted request: the signal's reason if the reason is a Failure,
 * otherwise Failure `interrupted`.
 */
export const interrupted = (signal: AbortSignal | undefined): Failure =>
  signal?.reason instanceof Failure ? signal.reason : new Failure('interrupted', 'Interrupted.');

function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interrupted(signal);
}

/**
 * Resolves with the result of `work`. When the signal fires, rejects with the failure that
 * {@link interrupted} returns, while `work` continues in the background.
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

/**
 * The interval in ms at which waiting requests check whether the first request after a reset of the
 * rate limit has a response.
 */
const recheckMs = 100;

export type RateLimit = ReturnType<typeof trackRateLimit>;

/**
 * Delays requests only while the rate limit of the service is used up. A request in flight already
 * counts towards the limit. After a reset of the rate limit, svcpay sends one request, and all
 * other requests wait for its response.
 */
export function trackRateLimit() {
  let left = Infinity;
  let resetAt = 0;
  let underway = 0;
  let closedUntil = 0;
  function sent(): void {
    left -= 1;
    underway += 1;
  }
  return {
    /** Returns the wait in ms before the next request, or 0 to send the next request now. */
    before(now: number): number {
      const untilCounted = underway > 0 ? Math.max(resetAt - now, recheckMs) : resetAt - now;
      const ms = Math.max(0, closedUntil - now, left > 0 ? 0 : untilCounted);
      if (ms === 0) sent();
      return ms;
    },
    sent,
    /**
     * Reads the rate limit from the headers of a response. The wait in a 429 response delays all
     * further requests.
     */
    observe({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, now: number): void {
      underway = Math.max(0, underway - 1);
      if (status === 429)
        closedUntil = Math.max(closedUntil, now + (waitAskedFor({ status, headers }, now) ?? 0));
      const remaining = decimal.read(
        headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'],
      );
      const reset = resetMs(headers, now);
      if (typeof remaining !== 'number' || reset === undefined) {
        left = Infinity;
        return;
      }
      left = remaining - underway;
      resetAt = now + reset;
    },
  };
}
