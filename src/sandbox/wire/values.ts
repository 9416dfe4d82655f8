// Single values that several boundaries check and change: decimals, amounts and their smallest units, durations.
import { isIPv4 } from 'node:net';
import Big from 'big.js';
import * as v from 'valibot';
import { decimalsOf, money, parseAmount } from '../../formats/amount.js';
import { parseDuration } from '../../formats/duration.js';
import { badRequest, orRefuse } from './refusal.js';
import { maxAmountUnits, unitsPerDollar } from '../unspecified.js';

/** A number of JSON, read as an exact decimal. */
export const number = v.instance(Big, 'a number is needed');

/** A whole number within bounds. */
export const whole = (min: number, max: number) =>
  v.pipe(number, v.transform(Number), v.integer(), v.minValue(min), v.maxValue(max));

/** A decimal kept as text. */
export const decimal = v.pipe(v.string(), v.regex(/^-?\d+(\.\d+)?$/), v.transform((text) => new Big(text)));

/** A currency of the service. */
export const currency = v.picklist(Object.keys(unitsPerDollar), 'a currency of the service is needed');

/** A text with a maximum length and without NUL, at which the database would cut it. */
export const text = (maxLength: number) =>
  v.pipe(v.string(), v.maxLength(maxLength), v.excludes('\0', 'the character U+0000 is not taken'));

/** Milliseconds as a number, or a duration such as `2h`. */
export const duration = v.union([
  whole(0, 3.2e12),
  v.pipe(v.string(), v.transform((text) => orRefuse(() => parseDuration(text)))),
]);

/** An amount that can be moved: above zero, no more decimals than its currency has, not absurdly large. */
export function isMovable(ccy: string, amount: Big): boolean {
  const units = amount.times(`1e${decimalsOf(ccy)}`);
  return units.gt(0) && units.lte(maxAmountUnits) && units.eq(units.round(0));
}

/** The amount in the currency's smallest unit. The amount must have no more decimals than the currency. */
export function toUnits(ccy: string, amount: Big): number {
  const units = amount.times(`1e${decimalsOf(ccy)}`);
  const whole = Number(units.toFixed());
  if (!Number.isSafeInteger(whole)) throw new RangeError(`${amount.toFixed()} ${ccy} is not a whole number of units.`);
  return whole;
}

export const fromUnits = (ccy: string, units: number): Big => new Big(`${units}e-${decimalsOf(ccy)}`);

/** A JSON object with any fields. */
export const fields = v.pipe(
  v.unknown(),
  v.check(isObject, 'an object is needed'),
  v.record(v.string(), v.unknown()),
);

/** Only plain objects: a decimal is an object of the program, a number of JSON. */
function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Reads whole units of the currency as bare digits (`0.5`), or an amount with its unit (`1000sat`). */
export function readAmount(ccy: string, text: string): Big {
  const { value } = orRefuse(() => /^\d{1,20}(\.\d{1,8})?$/.test(text) ? money(ccy, text) : parseAmount(text, ccy));
  if (!isMovable(ccy, value)) throw badRequest('the amount is too small, too large or has too many decimals');
  return value;
}

/** Whether a host name is one of this machine alone. */
export function isLoopback(hostname: string): boolean {
  return /^(.+\.)?localhost$|^\[::1\]$/.test(hostname) || (isIPv4(hostname) && hostname.startsWith('127.'));
}
