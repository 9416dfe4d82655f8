// Rate limits: waits and remaining requests, read from the service's headers.
import { decimal, instant } from '../reading/readers.js';
import type { HttpResponse } from '../transport.js';

type Headers = HttpResponse['headers'];

/**
 * The wait in ms that a response requests: `Retry-After`, or the time until the reset for a 429.
 */
export function waitAskedFor(
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  now: number,
): number | undefined {
  return (
    retryAfterMs(headers['retry-after'], now) ??
    (status === 429 ? resetMs(headers, now) : undefined)
  );
}

/** `Retry-After` in ms, from seconds, or from a date by the service's clock. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(header.trim())) return Math.ceil(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** A smaller number is seconds from now, a larger number is an instant. */
const longestSpan = 1e8;

/** `X-RateLimit-Reset` in ms from now, from seconds or an instant in any form. */
function resetMs(headers: Headers, now: number): number | undefined {
  const header = headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'];
  if (header === undefined) return undefined;
  const seconds = decimal.read(header);
  if (typeof seconds === 'number' && seconds >= 0 && seconds < longestSpan)
    return Math.ceil(seconds * 1000);
  const at = instant.read(header) ?? Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Interval of checks for the response to the first request after a reset. */
export const recheckMs = 100;

export type RateLimit = ReturnType<typeof trackRateLimit>;

/**
 * Delays requests only while the service reports that no request is left, counting requests in
 * flight. After a reset one request goes first, and the others wait for its response.
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
    /** The wait before the next request in ms. 0 sends it now. */
    before(now: number): number {
      const untilCounted = underway > 0 ? Math.max(resetAt - now, recheckMs) : resetAt - now;
      const ms = Math.max(0, closedUntil - now, left > 0 ? 0 : untilCounted);
      if (ms === 0) sent();
      return ms;
    },
    sent,
    /** Reads the headers of a response. The pause of a 429 applies to all requests. */
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
