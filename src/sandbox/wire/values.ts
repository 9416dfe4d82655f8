// Reads single values on the wire: decimals, durations, and amounts with their smallest units.
import { isIPv4 } from 'node:net';
import Big from 'big.js';
import * as v from 'valibot';
import { decimalsOf, money, parseAmount } from '../../formats/amount.js';
import { parseDuration } from '../../formats/calendar.js';
import { badRequest, orRefuse } from './refusal.js';
import { maxAmountUnits, unitsPerDollar } from '../unspecified.js';

/** The schema of a JSON number, which the parser has read as an exact decimal. */
export const number = v.instance(Big, 'must be a number');

export const whole = (min: number, max: number) =>
  v.pipe(number, v.transform(Number), v.integer(), v.minValue(min), v.maxValue(max));

/** The schema of a decimal that the database stores as text. */
export const decimal = v.pipe(
  v.string(),
  v.regex(/^-?\d+(\.\d+)?$/),
  v.transform((text) => new Big(text)),
);

export const currency = v.picklist(
  Object.keys(unitsPerDollar),
  'must be a currency of the service',
);

/**
 * The schema of a text without a NUL character, because the database would cut the text off at this
 * character.
 */
export const text = (maxLength: number) =>
  v.pipe(
    v.string(),
    v.maxLength(maxLength),
    v.excludes('\0', 'must not contain the character U+0000'),
  );

/** The schema of a duration: milliseconds as a number, or a text such as `2h`. */
export const duration = v.union([
  whole(0, 3.2e12),
  v.pipe(
    v.string(),
    v.transform((text) => orRefuse(() => parseDuration(text))),
  ),
]);

/**
 * Whether the amount is above zero and within the maximum, and has at most as many decimals as its
 * currency.
 */
export function isMovable(ccy: string, amount: Big): boolean {
  const units = amount.times(`1e${decimalsOf(ccy)}`);
  return units.gt(0) && units.lte(maxAmountUnits) && units.eq(units.round(0));
}

/**
 * Converts an amount to the currency's smallest unit. Throws if the amount has more decimals than
 * the currency.
 */
export function toUnits(ccy: string, amount: Big): number {
  const units = amount.times(`1e${decimalsOf(ccy)}`);
  const whole = Number(units.toFixed());
  if (!Number.isSafeInteger(whole))
    throw new RangeError(`${amount.toFixed()} ${ccy} is not a whole number of units.`);
  return whole;
}

export const fromUnits = (ccy: string, units: number): Big =>
  new Big(`${units}e-${decimalsOf(ccy)}`);

export const fields = v.pipe(
  v.unknown(),
  v.check(isObject, 'must be an object'),
  v.record(v.string(), v.unknown()),
);

/**
 * Whether the value is a plain object. A `Big`, which stands for a JSON number, does not count as a
 * plain object.
 */
function isObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/**
 * Reads an amount with a unit (`1000sat`), or an amount of bare digits in whole units of the
 * currency (`0.5`).
 */
export function readAmount(ccy: string, text: string): Big {
  const { value } = orRefuse(() =>
    /^\d{1,20}(\.\d{1,8})?$/.test(text) ? money(ccy, text) : parseAmount(text, ccy),
  );
  if (!isMovable(ccy, value))
    throw badRequest('the amount is too small or too large, or has too many decimals');
  return value;
}

export function isLoopback(hostname: string): boolean {
  return (
    /^(.+\.)?localhost$|^\[::1\]$/.test(hostname) ||
    (isIPv4(hostname) && hostname.startsWith('127.'))
  );
}
