// Writes values as JSON in which identical values give identical text: decimals as fixed text, and
// keys in order. Stored orders and instructions have this form. Pure.
import Big from 'big.js';
import * as v from 'valibot';
import { fixed } from './amount.js';

export const canonicalJson = (value: unknown): string => JSON.stringify(plain(value));

function plain(value: unknown): unknown {
  if (value instanceof Big) return fixed(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, plain(each)]));
}

/** Reads a decimal in the form that {@link canonicalJson} writes. */
export const decimal = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?$/),
  v.transform((text) => new Big(text)),
);
