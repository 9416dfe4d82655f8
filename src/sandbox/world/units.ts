// Amounts between their two forms: decimals in the code, whole numbers of the smallest unit in the database.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';

/** The amount in the currency's smallest unit. The amount must have no more decimals than the currency. */
export function toUnits(ccy: string, amount: Big): number {
  const units = amount.times(new Big(10).pow(decimalsOf(ccy)));
  const whole = Number(units.toFixed());
  if (!Number.isSafeInteger(whole)) throw new RangeError(`${amount.toFixed()} ${ccy} is not a whole number of units.`);
  return whole;
}

export function fromUnits(ccy: string, units: number): Big {
  return new Big(units).times(new Big(10).pow(-decimalsOf(ccy)));
}
