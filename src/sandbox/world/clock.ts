// The service's own clock. The database stores the clock's offset from the machine's time, or its
// frozen time.
import * as v from 'valibot';
import type { ClockState } from '../../formats/sandbox/answers.js';
import type { Store } from '../storage/database.js';
import { readSetting, writeSetting } from '../storage/settings.js';

const setting = v.union([v.object({ ahead: v.number() }), v.object({ standsAt: v.number() })]);

/** Reads the service's clock. The argument `machine` is the machine's time in epoch ms. */
export function readClock(store: Store, machine: number): ClockState {
  const saved = readSetting(store, 'clock');
  if (saved === undefined) return { now: machine, frozen: false };
  const clock = v.parse(setting, JSON.parse(saved));
  return 'ahead' in clock
    ? { now: machine + clock.ahead, frozen: false }
    : { now: clock.standsAt, frozen: true };
}

/**
 * Sets the service's clock. The service's time may go back, because restoring a snapshot restores
 * the time of the snapshot.
 */
export function setClock(store: Store, machine: number, { now, frozen }: ClockState): void {
  const clock: v.InferOutput<typeof setting> = frozen
    ? { standsAt: now }
    : { ahead: now - machine };
  writeSetting(store, 'clock', JSON.stringify(clock));
}
