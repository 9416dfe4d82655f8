// Writes JSON for scripts: numbers in plain notation (0.00000007, never 7e-8), and text that is
// safe on a terminal.
import { Big } from 'big.js';
import { fixed, plainNumber } from '../../formats/amount.js';
import { sanitizeJson } from '../text.js';

/** Begins a text that stands for a number, which JSON.stringify would write differently. */
const mark = '\u0000number:';
const marked = /"\\u0000number:([-\d.]+)"(?!:)/g;

/**
 * Works like JSON.stringify, but writes decimals and bigints as plain numbers. A value that JSON
 * cannot represent becomes null.
 * @param indent the number of spaces per level, or 0 for JSON on one line
 */
export function toJson(value: unknown, { indent = 0 }: { readonly indent?: number } = {}): string {
  const written = (data: unknown): string | undefined => JSON.stringify(data, markNumber, indent);
  let json: string | undefined;
  try {
    json = written(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    json = written(withoutDepths(value, deepest));
  }
  return sanitizeJson((json ?? 'null').replaceAll(marked, '$1'));
}

/** The levels of a value that is nested too deeply for the call stack of JSON.stringify. */
const deepest = 100;

/** Replaces what is nested more deeply with null, so that no response prevents the output. */
function withoutDepths(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Big) return value;
  if (levels === 0) return null;
  const inner = (each: unknown): unknown => withoutDepths(each, levels - 1);
  if (Array.isArray(value)) return value.map(inner);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inner(each)]));
}

function markNumber(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  // The value of a decimal is already the text of its method `toJSON`.
  const own = this[key];
  if (own instanceof Big) return mark + fixed(own);
  if (typeof value === 'bigint') return mark + String(value);
  if (typeof value === 'string' && value.startsWith(mark)) return value.slice(1);
  return typeof value === 'number' && String(value).includes('e')
    ? mark + plainNumber(value)
    : value;
}
