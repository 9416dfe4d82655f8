// The service's own clock: the machine's time plus an offset, or standing still. Kept in the database.
import { readSetting, removeSetting, requireSetting, writeSetting } from './settings.js';
import type { Store } from './database.js';

export interface ClockState {
  /** Epoch ms. */
  readonly now: number;
  readonly frozen: boolean;
}

/** Reads the clock; `machine` is the machine's time in epoch ms. */
export function readClock(store: Store, machine: number): ClockState {
  const frozenAt = readSetting(store, 'clockFrozenAt');
  if (frozenAt !== undefined) return { now: Number(frozenAt), frozen: true };
  return { now: machine + Number(readSetting(store, 'clockOffset') ?? 0), frozen: false };
}

/** Moves the clock forward by `ms`, whether it runs or stands still. */
export function advanceClock(store: Store, ms: number): void {
  const frozenAt = readSetting(store, 'clockFrozenAt');
  if (frozenAt !== undefined) writeSetting(store, 'clockFrozenAt', String(Number(frozenAt) + ms));
  else writeSetting(store, 'clockOffset', String(Number(readSetting(store, 'clockOffset') ?? 0) + ms));
}

export function freezeClock(store: Store, machine: number): void {
  writeSetting(store, 'clockFrozenAt', String(readClock(store, machine).now));
}

/** Lets the clock run on from where it stood. */
export function thawClock(store: Store, machine: number): void {
  if (!readClock(store, machine).frozen) return;
  writeSetting(store, 'clockOffset', String(Number(requireSetting(store, 'clockFrozenAt')) - machine));
  removeSetting(store, 'clockFrozenAt');
}

export function resetClock(store: Store): void {
  removeSetting(store, 'clockFrozenAt');
  removeSetting(store, 'clockOffset');
}
