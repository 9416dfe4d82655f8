// Repeating what may be repeated: when, how often, and how long to wait before.
import { Failure } from '../formats/failure.js';
import type { ClientOptions } from './options.js';

const maxRetries = 3;
const firstPauseMs = 250;
/** A service that asks for more patience than this is told to the person instead. */
const longestRetryAfterMs = 30_000;

/** Why an attempt should be repeated, and when, if the service said so. */
export interface Again {
  retryAfterMs?: number | undefined;
}

/** What a promise came to. */
export type Outcome<T> = { value: T } | { error: unknown };

/**
 * Makes attempts until one needs no other, all within the time and count that are allowed. The outcome is that of the
 * last one; `again` judges each.
 */
export async function withRetries<T>(
  options: Pick<ClientOptions, 'clock' | 'sleep' | 'random' | 'signal' | 'log' | 'timeoutMs'>,
  attempt: (timeoutMs: number) => Promise<T>,
  again: (outcome: Outcome<T>) => Again | undefined,
): Promise<T> {
  const deadline = options.clock() + options.timeoutMs;
  for (let retry = 0; ; retry += 1) {
    throwIfInterrupted(options.signal);
    const left = Math.min(options.timeoutMs, Math.max(1, deadline - options.clock()));
    const outcome = await settle(attempt(left));
    const reason = retry < maxRetries && options.signal?.aborted !== true ? again(outcome) : undefined;
    const pause = reason && pauseMs(retry, options.random, reason.retryAfterMs);
    if (pause === undefined || options.clock() + pause >= deadline) return unwrap(outcome);
    options.log?.(`retry ${retry + 1} of ${maxRetries} in ${pause} ms`);
    await settle(options.sleep(pause, options.signal));
  }
}

/** What `Retry-After` asks for, or else an exponential pause with jitter. Undefined when it asks for too much. */
function pauseMs(retry: number, random: () => number, retryAfter: number | undefined): number | undefined {
  if (retryAfter !== undefined) return retryAfter <= longestRetryAfterMs ? retryAfter : undefined;
  return Math.round(firstPauseMs * 2 ** retry * (0.5 + random() / 2));
}

/** `Retry-After` in ms: whole seconds, or a date against the service's clock. Undefined when it is neither. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new Failure('interrupted', 'Interrupted.');
}

const settle = <T>(promise: Promise<T>): Promise<Outcome<T>> =>
  promise.then((value) => ({ value }), (error: unknown) => ({ error }));

function unwrap<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}
