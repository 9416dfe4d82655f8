// Repeats a read for as long as its result may be stale.
import { policies } from '../../formats/policies.js';
import { poll, type Next, type PollDeps } from '../../formats/poll.js';

/**
 * Repeats a read over 8 s while its result may be stale, and resolves with the last result.
 * Resolves early on interruption.
 *
 * @param latest the result so far, read by the caller; the first repetition comes after a pause
 */
export async function rereadWhileStale<T>(
  latest: T,
  read: () => Promise<T>,
  mayBeStale: (value: T) => boolean,
  deps: PollDeps,
): Promise<T> {
  const end = await poll<T>(
    policies.staleRead,
    async ({ number }): Promise<Next<T>> => {
      if (number > 1) latest = await read();
      return mayBeStale(latest) ? {} : { done: latest };
    },
    deps,
  );
  return 'done' in end ? end.done : latest;
}
