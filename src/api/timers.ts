// The timers of Node, taken when the module loads, so that the fake timers of a test runner do not
// stop requests and pauses. Also ends a wait when its signal fires.
import { setMaxListeners } from 'node:events';
import * as timers from 'node:timers';
import { setTimeout as promised } from 'node:timers/promises';
import { timerMs } from '../formats/calendar.js';
import { Failure } from '../formats/failure.js';

export const { setImmediate, setTimeout, clearTimeout } = timers;
const { setInterval, clearInterval } = timers;
const pause = promised;

/** Waits, at most until the signal fires. */
export const sleep = (ms: number, until?: AbortSignal): Promise<void> =>
  pause(timerMs(ms), undefined, until === undefined ? {} : { signal: until });

/**
 * Waits for one turn of the event loop, in which the handshakes of opening connections continue
 * while the program loads its code.
 */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs the action every `ms` until the caller calls the returned function. */
export function every(ms: number, action: () => void): () => void {
  const timer = setInterval(action, ms);
  return () => clearInterval(timer);
}

/**
 * Returns the failure of an aborted request: the signal's reason if the reason is a Failure,
 * otherwise Failure `interrupted`.
 */
export const interrupted = (signal: AbortSignal | undefined): Failure =>
  signal?.reason instanceof Failure ? signal.reason : new Failure('interrupted', 'Interrupted.');

export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interrupted(signal);
}

/**
 * Resolves with the result of `work`. When the signal fires, rejects with the failure that
 * {@link interrupted} returns, while `work` continues in the background.
 */
export async function unlessInterrupted<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  throwIfInterrupted(signal);
  if (signal === undefined) return work();
  // Disables Node's warning, because every row of a batch may wait for the same token.
  setMaxListeners(0, signal);
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(interrupted(signal));
    signal.addEventListener('abort', stop, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}
