// JSON as scripts want it: numbers in plain notation (0.00000007, never 7e-8), safe to print on a terminal.
import { Big } from 'big.js';
import { sanitizeJson } from './sanitize.js';

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
  if (value instanceof Big) return value.toFixed();
  switch (typeof value) {
    case 'number':
      return plainNumber(value);
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? 'null' : writeObject(value, indent, newline);
    default:
      return JSON.stringify(value);
  }
}

function plainNumber(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  const text = String(value);
  return text.includes('e') ? new Big(text).toFixed() : JSON.stringify(value);
}

function writeObject(value: object, indent: number, newline: string): string | undefined {
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON(), indent, newline);
  const deeper = newline + ' '.repeat(indent);
  const colon = indent > 0 ? ': ' : ':';
  const isArray = Array.isArray(value);
  const items = isArray
    ? value.map((item: unknown) => write(item, indent, deeper) ?? 'null')
    : Object.entries(value).flatMap(([key, item]) => {
        const text = write(item, indent, deeper);
        return text === undefined ? [] : [`${JSON.stringify(key)}${colon}${text}`];
      });
  const [open, close] = isArray ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  return indent > 0
    ? `${open}${deeper}${items.join(`,${deeper}`)}${newline}${close}`
    : `${open}${items.join(',')}${close}`;
}
