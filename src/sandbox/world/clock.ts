// The service's own clock: the machine's time plus an offset, or standing still. Kept in the database.
import * as v from 'valibot';
import type { Store } from '../storage/database.js';
import { readSetting, writeSetting } from '../storage/settings.js';

export interface ClockState {
  /** Epoch ms. */
  readonly now: number;
  readonly frozen: boolean;
}

/** A running clock is this many ms ahead of the machine's; a frozen clock stands still. */
const setting = v.union([v.object({ ahead: v.number() }), v.object({ standsAt: v.number() })]);

/** Reads the clock; `machine` is the machine's time in epoch ms. */
export function readClock(store: Store, machine: number): ClockState {
  const stored = readSetting(store, 'clock');
  if (stored === undefined) return { now: machine, frozen: false };
  const clock = v.parse(setting, JSON.parse(stored));
  return 'ahead' in clock ? { now: machine + clock.ahead, frozen: false } : { now: clock.standsAt, frozen: true };
}

/** Sets the clock, back as well: for a state that is put back with its time. */
export function setClock(store: Store, machine: number, { now, frozen }: ClockState): void {
  const clock: v.InferOutput<typeof setting> = frozen ? { standsAt: now } : { ahead: now - machine };
  writeSetting(store, 'clock', JSON.stringify(clock));
}
