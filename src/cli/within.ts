// Waits for something no longer than it is worth.
import type { Process } from './context.js';

/** Undefined when it takes longer; it then goes on unheard. */
export async function within<T>(ms: number, work: Promise<T>, { sleep }: Pick<Process, 'sleep'>): Promise<T | undefined> {
  const ended = new AbortController();
  const late = sleep(ms, ended.signal).then(() => undefined, () => undefined);
  work.catch(() => undefined);
  // A clock that went on ticking would keep the process waiting for it.
  return Promise.race([work, late]).finally(() => ended.abort());
}
