// JSON for the wire: numbers in plain fixed notation, exact to the last digit, never with an exponent.
import Big from 'big.js';
import { fixed, fromWire } from '../formats/amount.js';

/**
 * Like `JSON.stringify`, but a number or a `Big` is written as `0.00000001`, not as `1e-8`. Properties that are
 * `undefined` are left out. Throws for what JSON cannot say, instead of writing `null` in its place.
 */
export function wireJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return fixed(fromWire(value));
  if (value instanceof Big) return fixed(value);
  if (Array.isArray(value)) return `[${value.map(wireJson).join(',')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${wireJson(member)}`).join(',')}}`;
  }
  throw new TypeError(`JSON has no ${typeof value}`);
}
