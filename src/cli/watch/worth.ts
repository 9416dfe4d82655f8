// Looks up the approximate value of bitcoin in USD from the service's rates.
import type { Rates } from '../../api/types.js';
import { money, type Money } from '../../formats/amount.js';
import { findRate } from '../../wallet/quote/rates.js';
import type { Context } from '../context.js';
import { within } from '../within.js';

/**
 * Returns the value of a bitcoin amount in USD, or undefined for any other currency and without an
 * exchange rate.
 */
export type WorthOf = (amount: Money) => Money | undefined;

const fiat = 'USD';
const ratesTimeoutMs = 1_500;

/**
 * Reads the exchange rates, and resolves with a function that returns the value of an amount in
 * USD. If the rates do not arrive soon, the function returns undefined for every amount.
 */
export async function readWorth({ client, sleep }: Context): Promise<WorthOf> {
  const rates = client().then((service) => service.rates());
  const answered = await within(ratesTimeoutMs, rates, { sleep }).catch(() => undefined);
  return answered === undefined ? () => undefined : (amount) => worthOf(amount, answered);
}

function worthOf({ ccy, value }: Money, rates: Rates): Money | undefined {
  if (ccy !== 'BTC') return undefined;
  try {
    return money(fiat, value.times(findRate(rates, ccy + fiat).rate));
  } catch {
    return undefined;
  }
}
