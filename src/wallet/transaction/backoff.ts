// The pause before a creation or a confirmation is repeated.
import { NoAnswer, ServiceError } from '../../api/errors.js';
import { backoffMs, retryPolicy } from '../../api/retry-policy.js';

/** Milliseconds before repetition `attempt`, or undefined if the service requests too long a wait. */
export function pauseBefore(attempt: number, error: unknown): number | undefined {
  const answer = error instanceof NoAnswer ? error.cause : error;
  const asked = answer instanceof ServiceError ? answer.retryAfterMs : undefined;
  if (asked !== undefined) return asked <= retryPolicy.longestPauseAskedForMs ? asked : undefined;
  return Math.min(backoffMs(attempt - 1), retryPolicy.longestPauseMs);
}
