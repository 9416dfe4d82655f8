// The automatic payer's setting: how long after its creation a payment request is paid by itself, if at all.
import type { Store } from '../storage/database.js';
import { readSetting, writeSetting } from '../storage/settings.js';
import { durations } from '../unspecified.js';

/** Milliseconds after the creation, or undefined when nobody pays by itself. */
export function readAutoPay(store: Store): number | undefined {
  const value = readSetting(store, 'autoPay') ?? String(durations.autoPay);
  return value === 'off' ? undefined : Number(value);
}

export function writeAutoPay(store: Store, after: number | 'off'): void {
  writeSetting(store, 'autoPay', String(after));
}
