// How long to wait before a creation or a confirmation is tried again.
import { NoAnswer, ServiceError } from '../../api/errors.js';

const firstPauseMs = 250;
const longestPauseMs = 4_000;
/** A service that asks for more patience than this is told to the person instead. */
const longestRetryAfterMs = 30_000;

/** Milliseconds before try `attempt` (1 for the second), or undefined when the service asks for too long a wait. */
export function pauseBefore(attempt: number, error: unknown): number | undefined {
  const answer = error instanceof NoAnswer ? error.cause : error;
  const asked = answer instanceof ServiceError ? answer.retryAfterMs : undefined;
  if (asked !== undefined) return asked <= longestRetryAfterMs ? asked : undefined;
  return Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs);
}
