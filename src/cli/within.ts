// Waits for a result for a limited time, and returns undefined if the result takes longer.
import type { Process } from './process.js';

export async function within<T>(
  ms: number,
  work: Promise<T>,
  { sleep }: Pick<Process, 'sleep'>,
): Promise<T | undefined> {
  const ended = new AbortController();
  const late = sleep(ms, ended.signal).then(
    () => undefined,
    () => undefined,
  );
  work.catch(() => undefined);
  // Stops the timer after the wait, because a running timer would keep the process alive.
  return Promise.race([work, late]).finally(() => ended.abort());
}
