// The pause before a create request or a confirmation is repeated.
import { NoAnswer, ServiceError } from '../../api/errors.js';
import { longestPauseAskedForMs, policies } from '../../formats/policies.js';
import { pauseAfter } from '../../formats/poll.js';

/**
 * Milliseconds before repetition `attempt`, or undefined if the service requests too long a wait.
 */
export function pauseBefore(attempt: number, error: unknown): number | undefined {
  const answer = error instanceof NoAnswer ? error.cause : error;
  const asked = answer instanceof ServiceError ? answer.retryAfterMs : undefined;
  if (asked !== undefined) return asked <= longestPauseAskedForMs ? asked : undefined;
  return pauseAfter(policies.creation, { number: attempt, waitedMs: 0 });
}
