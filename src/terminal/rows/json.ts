// JSON as scripts want it: numbers in plain notation (0.00000007, never 7e-8), safe to print on a terminal.
import { Big } from 'big.js';
import { fixed, plainNumber } from '../../formats/amount.js';
import { sanitizeJson } from '../sanitize.js';

export interface JsonOptions {
  /** Spaces per level; without it all is one line. */
  readonly indent?: number | undefined;
}

/** Like JSON.stringify, with decimals and bigints as plain numbers. Null for what JSON has no word for. */
export function toJson(value: unknown, { indent = 0 }: JsonOptions = {}): string {
  return sanitizeJson(write(value, indent, '\n') ?? 'null');
}

/** Undefined for what JSON leaves out; `newline` carries the indentation of the level. */
function write(value: unknown, indent: number, newline: string): string | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? plainNumber(value) : 'null';
    case 'bigint':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (value instanceof Big) return fixed(value);
      return 'toJSON' in value && typeof value.toJSON === 'function'
        ? write(value.toJSON(), indent, newline)
        : writeObject(value, indent, newline);
    default:
      return JSON.stringify(value);
  }
}

/** Built by appending, not by joining lists: an export writes a hundred thousand of these. */
function writeObject(value: object, indent: number, newline: string): string {
  const isArray = Array.isArray(value);
  const deeper = newline + ' '.repeat(indent);
  const before = indent > 0 ? deeper : '';
  const colon = indent > 0 ? ': ' : ':';
  let text = '';
  for (const [key, item] of Object.entries(value)) {
    const written = write(item, indent, deeper) ?? (isArray ? 'null' : undefined);
    if (written === undefined) continue;
    if (text !== '') text += ',';
    text += isArray ? before + written : before + JSON.stringify(key) + colon + written;
  }
  if (text !== '' && indent > 0) text += newline;
  return isArray ? `[${text}]` : `{${text}}`;
}
