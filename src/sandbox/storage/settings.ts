// Stores small named values in the database: keys, the main account, the clock, the automatic
// payer, and webhook options.
import * as v from 'valibot';
import type { Store } from './database.js';
import { durations } from '../unspecified.js';

type SettingName =
  | 'mainAccount'
  | 'seed'
  | 'clock'
  | 'autoPay'
  | 'webhookOptions'
  | 'tokenKey'
  | 'nodeKey'
  | 'nodeId'
  | 'outsideNodeKey'
  | 'outsideNodeId';

const row = v.object({ value: v.string() });

export function readSetting(store: Store, key: SettingName): string | undefined {
  return store.one(row, 'SELECT value FROM setting WHERE key = ?', key)?.value;
}

export function requireSetting(store: Store, key: SettingName): string {
  const value = readSetting(store, key);
  if (value === undefined) throw new Error(`The sandbox file has no ${key}.`);
  return value;
}

export function writeSetting(store: Store, key: SettingName, value: string): void {
  store.run(
    'INSERT INTO setting (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2',
    key,
    value,
  );
}

/**
 * Milliseconds until the automatic payer pays a payment request, or undefined if the automatic
 * payer is off.
 */
export function readAutoPay(store: Store): number | undefined {
  const value = readSetting(store, 'autoPay') ?? String(durations.autoPay);
  return value === 'off' ? undefined : Number(value);
}

export function writeAutoPay(store: Store, after: number | 'off'): void {
  writeSetting(store, 'autoPay', String(after));
}
