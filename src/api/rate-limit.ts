// How fast the service wants to be asked: what its headers say of waiting, and of the requests that are left.
import { decimal, instant } from './reading/readers.js';
import type { HttpResponse } from './transport.js';

type Headers = HttpResponse['headers'];

/** How long an answer asks to wait, in ms: `Retry-After`, or for a 429 the time until the count starts anew. */
export function waitAskedFor({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, now: number): number | undefined {
  return retryAfterMs(headers['retry-after'], now) ?? (status === 429 ? resetMs(headers, now) : undefined);
}

/** `Retry-After` in ms: seconds, or a date against the service's clock. Undefined when it is neither. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(header.trim())) return Math.ceil(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Seconds up to here are a span of time, above they are an instant. */
const longestSpan = 1e8;

/** `X-RateLimit-Reset` in ms from now: seconds, or an instant in any form. */
function resetMs(headers: Headers, now: number): number | undefined {
  const header = headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'];
  if (header === undefined) return undefined;
  const seconds = decimal.read(header);
  if (typeof seconds === 'number' && seconds >= 0 && seconds < longestSpan) return Math.ceil(seconds * 1000);
  const at = instant.read(header) ?? Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** The pause before the next look at the answer of the request that went first. */
export const lookAgainMs = 100;

/**
 * Holds requests back only while the service says that none is left; what it says holds for those on their way, too. Once the
 * count starts anew, one request goes first, and the others wait for what its answer says.
 */
export function trackRateLimit() {
  let left = Infinity;
  let resetAt = 0;
  let underway = 0;
  let closedUntil = 0;
  /** A request leaves. */
  function sent(): void {
    left -= 1;
    underway += 1;
  }
  return {
    /** Ms to let pass before the next request, so that it is not one too many; 0 if it leaves now. */
    before(now: number): number {
      const untilCounted = underway > 0 ? Math.max(resetAt - now, lookAgainMs) : resetAt - now;
      const ms = Math.max(0, closedUntil - now, left > 0 ? 0 : untilCounted);
      if (ms === 0) sent();
      return ms;
    },
    sent,
    /** Takes in what an answer says; the pause that a 429 asks for holds for all requests. */
    observe({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, now: number): void {
      underway = Math.max(0, underway - 1);
      if (status === 429) closedUntil = Math.max(closedUntil, now + (waitAskedFor({ status, headers }, now) ?? 0));
      const remaining = decimal.read(headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining']);
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
