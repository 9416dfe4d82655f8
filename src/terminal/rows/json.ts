// Writes JSON for scripts: numbers in plain notation (0.00000007, never 7e-8), and text that is
// safe on a terminal.
import { Big } from 'big.js';
import { fixed, plainNumber } from '../../formats/amount.js';
import { sanitizeJson } from '../sanitize.js';

/** Begins a text that stands for a number, which JSON.stringify would write differently. */
const mark = '\u0000number:';
const marked = /"\\u0000number:([-\d.]+)"(?!:)/g;

/**
 * Works like JSON.stringify, but writes decimals and bigints as plain numbers. A value that JSON
 * cannot represent becomes null.
 * @param indent the number of spaces per level, or 0 for JSON on one line
 */
export function toJson(value: unknown, { indent = 0 }: { readonly indent?: number } = {}): string {
  const json: string | undefined = JSON.stringify(value, markNumber, indent);
  return sanitizeJson((json ?? 'null').replaceAll(marked, '$1'));
}

function markNumber(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  // The value of a decimal is already the text of its method `toJSON`.
  const own = this[key];
  if (own instanceof Big) return mark + fixed(own);
  if (typeof value === 'bigint') return mark + String(value);
  return typeof value === 'number' && String(value).includes('e')
    ? mark + plainNumber(value)
    : value;
}
