// How long to wait before a creation or a confirmation is tried again.
import { NoAnswer, ServiceError } from '../../api/errors.js';
import { backoffMs, retryPolicy } from '../../api/retry-policy.js';

/** Milliseconds before try `attempt` (1 for the second), or undefined when the service asks for too long a wait. */
export function pauseBefore(attempt: number, error: unknown): number | undefined {
  const answer = error instanceof NoAnswer ? error.cause : error;
  const asked = answer instanceof ServiceError ? answer.retryAfterMs : undefined;
  if (asked !== undefined) return asked <= retryPolicy.longestPauseAskedForMs ? asked : undefined;
  return Math.min(backoffMs(attempt - 1), retryPolicy.longestPauseMs);
}
