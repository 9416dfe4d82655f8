// JSON for the wire: exact numbers in fixed notation, without exponents.
import Big from 'big.js';
import { fixed, fromWire } from '../formats/amount.js';
import { Failure } from '../formats/failure.js';

/**
 * Like `JSON.stringify`, but writes a number or a `Big` as `0.00000001`, not as `1e-8`. Omits
 * properties that are `undefined`. Throws Failure `usage` for values without JSON, such as `NaN`,
 * instead of writing `null`.
 */
export function wireJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string')
    return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return fixed(fromWire(value));
  if (value instanceof Big) return fixed(value);
  if (Array.isArray(value)) return `[${value.map(wireJson).join(',')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).flatMap(([name, member]) =>
      member === undefined ? [] : `${JSON.stringify(name)}:${wireJson(member)}`,
    );
    return `{${members.join(',')}}`;
  }
  throw new Failure(
    'usage',
    `${typeof value === 'number' ? value : `A ${typeof value}`} cannot be sent.`,
  );
}
