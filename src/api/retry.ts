// Retries: when, how often, and after which pause.
import { Failure } from '../formats/failure.js';
import type { ClientOptions } from './options.js';
import { recheckMs } from './rate-limit.js';
import { backoffMs, retryPolicy } from './retry-policy.js';

/** The reason for a retry. */
export interface Again {
  retryAfterMs?: number | undefined;
  /** A rate limit, which is worth a longer wait than a failure. */
  isLimited?: boolean | undefined;
}

export type Outcome<T> = { value: T } | { error: unknown };

type RetryOptions = Pick<
  ClientOptions,
  | 'clock'
  | 'sleep'
  | 'random'
  | 'signal'
  | 'log'
  | 'timeoutMs'
  | 'retries'
  | 'rateLimitWaitMs'
  | 'onWait'
>;

export interface Judge<T> {
  readonly again: (outcome: Outcome<T>) => Again | undefined;
  /** Ms to wait before the next attempt because of a rate limit. */
  readonly hold: () => number;
}

/**
 * Makes attempts until one needs no retry, within the allowed time and number. The outcome is that of the
 * last one. Rate-limit waits are limited by `rateLimitWaitMs` and do not count as time.
 */
export async function withRetries<T>(
  options: RetryOptions,
  attempt: (timeoutMs: number) => Promise<T>,
  { again, hold }: Judge<T>,
): Promise<T> {
  const start = options.clock();
  const most = options.retries ?? retryPolicy.reads;
  const rateLimitWaitEnds = start + (options.rateLimitWaitMs ?? options.timeoutMs);
  let deadline = start + options.timeoutMs;
  const pause = async (ms: number, isRequested: boolean): Promise<void> => {
    if (isRequested) {
      deadline += ms;
      options.onWait?.(ms);
    }
    await settle(options.sleep(ms, options.signal));
  };
  for (let retry = 0, requested = 0; ;) {
    throwIfInterrupted(options.signal);
    for (
      let held = hold();
      held > 0 && options.clock() + held <= rateLimitWaitEnds;
      held = hold()
    ) {
      await pause(held, held > recheckMs);
      throwIfInterrupted(options.signal);
    }
    const left = Math.min(options.timeoutMs, Math.max(1, deadline - options.clock()));
    const outcome = await settle(attempt(left));
    const reason = options.signal?.aborted === true ? undefined : again(outcome);
    if (reason === undefined) return unwrap(outcome);
    const isRequested = reason.retryAfterMs !== undefined || reason.isLimited === true;
    // Backs off even if the service names no wait, or zero.
    const ms = reason.retryAfterMs || backoffMs(retry + requested, options.random());
    const end = options.clock() + ms;
    const isOver = isRequested
      ? requested >= retryPolicy.limitedReads || end > rateLimitWaitEnds
      : retry >= most || end >= deadline;
    if (isOver) return unwrap(outcome);
    if (isRequested) requested += 1;
    else retry += 1;
    options.log?.(`retry ${isRequested ? requested : `${retry} of ${most}`} in ${ms} ms`);
    await pause(ms, isRequested);
  }
}

export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new Failure('interrupted', 'Interrupted.');
}

/** The result of the work, or Failure `interrupted` at the signal: started work continues, but is not awaited. */
export async function unlessInterrupted<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  throwIfInterrupted(signal);
  if (signal === undefined) return work();
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Failure('interrupted', 'Interrupted.'));
    signal.addEventListener('abort', stop, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

const settle = <T>(promise: Promise<T>): Promise<Outcome<T>> =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

function unwrap<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}
