// The timers of Node, taken when the module loads, so that the fake timers of a test runner do not
// stop requests and pauses.
import * as timers from 'node:timers';
import { setTimeout as promised } from 'node:timers/promises';
import { timerMs } from '../formats/calendar.js';

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
