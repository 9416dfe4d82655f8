// Calculates the requested amount in bitcoin. svcpay converts an amount in a different currency at
// the service's rate.
import Big from 'big.js';
import type { Rates } from '../../api/types.js';
import { currencyOf, decimalsOf, parseAmount, type Money } from '../../formats/amount.js';
import { findRate } from '../quote/rates.js';

export interface RequestedAmount {
  /** The requested amount, in BTC. */
  readonly amount: Money;
  /** The amount before its conversion to bitcoin, and the price of one bitcoin. */
  readonly worth?: { readonly given: Money; readonly rate: Big };
}

/**
 * Reads the requested amount. Throws Failure `usage` for an invalid amount, and `not-found` for a
 * currency that has no rate.
 */
export async function readAsked(
  text: string,
  rates: () => Promise<Rates>,
): Promise<RequestedAmount> {
  return isForeign(text)
    ? inBtc(parseAmount(text), await rates())
    : { amount: parseAmount(text, 'BTC') };
}

/** Whether the amount is in a currency other than bitcoin. */
export function isForeign(text: string): boolean {
  const named = currencyOf(text);
  return named !== undefined && named !== 'BTC';
}

/**
 * Converts an amount to bitcoin, rounded up, so that the result is worth at least the given amount.
 */
export function inBtc(given: Money, rates: Rates): RequestedAmount {
  const { rate } = findRate(rates, `BTC${given.ccy}`);
  return {
    amount: { ccy: 'BTC', value: given.value.div(rate).round(decimalsOf('BTC'), Big.roundUp) },
    worth: { given, rate },
  };
}
