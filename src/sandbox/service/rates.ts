// Exchange rates between the service's currencies.
import Big from 'big.js';
import { foreignUnitsPerDollar, rateBases, unitsPerDollar } from '../unspecified.js';

/** Digits of a rate; `fxRate` shows exactly the applied rate. */
const significantDigits = 12;

/** How many units of `to` one unit of `from` buys. */
export function rateBetween(from: string, to: string): Big {
  if (from === to) return new Big(1);
  return perDollar(to).div(perDollar(from)).prec(significantDigits, Big.roundHalfUp);
}

/** Every pair of the exchange rates operation, such as `BTCUSD`. */
export function rateTable(): Record<string, Big> {
  const currencies = [unitsPerDollar, foreignUnitsPerDollar].flatMap(Object.keys);
  const pairs = rateBases.flatMap((base) => currencies.map((ccy) => [base, ccy] as const));
  const changes = pairs.filter(([base, ccy]) => base !== ccy);
  return Object.fromEntries(changes.map(([base, ccy]) => [base + ccy, rateBetween(base, ccy)]));
}

function perDollar(ccy: string): Big {
  const units = unitsPerDollar[ccy] ?? foreignUnitsPerDollar[ccy];
  if (units === undefined) throw new RangeError(`${ccy} has no rate.`);
  return new Big(units);
}
