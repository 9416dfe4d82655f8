// Converts amounts at the service's current rates, for approximate values on the screen.
import type { Rates } from '../../api/types.js';
import { decimalsOf, money, type Money } from '../../formats/amount.js';
import { findRate } from '../../wallet/quote/quote.js';
import type { Context } from '../context.js';
import { within } from '../process.js';

/**
 * Returns the value of an amount in another currency, or undefined without an exchange rate.
 * Without a currency, returns the value of an amount of bitcoin in USD.
 */
export type WorthOf = (amount: Money, ccy?: string) => Money | undefined;

const fiat = 'USD';
const ratesTimeoutMs = 1_500;

/**
 * Reads the exchange rates, and resolves with a function that converts an amount. If the rates do
 * not arrive soon, the function returns undefined for every amount.
 */
export async function readWorth({ client, sleep }: Context): Promise<WorthOf> {
  const rates = client().then((service) => service.rates());
  const answered = await within(ratesTimeoutMs, rates, { sleep }).catch(() => undefined);
  return answered === undefined ? () => undefined : (amount, ccy) => worthOf(amount, ccy, answered);
}

function worthOf({ ccy, value }: Money, into: string | undefined, rates: Rates) {
  if (into === undefined && ccy !== 'BTC') return undefined;
  const quote = into ?? fiat;
  try {
    const { rate } = findRate(rates, ccy + quote);
    return money(quote, value.times(rate).round(decimalsOf(quote)));
  } catch {
    return undefined;
  }
}
