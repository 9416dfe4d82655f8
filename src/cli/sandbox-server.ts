// What the commands that run a sandbox share.
import { parseDuration } from '../formats/duration.js';
import { word } from './values.js';

/** A duration in milliseconds, or `off`. */
export const autoPay = () =>
  word('DURATION|off', (given): number | 'off' => (given === 'off' ? 'off' : parseDuration(given)));

export const untilInterrupted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
