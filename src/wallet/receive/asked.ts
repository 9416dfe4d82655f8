// What a payer is asked for, in bitcoin; an amount in another currency is converted at the service's rate.
import Big from 'big.js';
import type { Rates } from '../../api/types.js';
import { currencyOf, decimalsOf, parseAmount, type Money } from '../../formats/amount.js';
import { findRate } from '../quote/rates.js';

export interface Asked {
  /** In BTC: what the service is asked for. */
  readonly amount: Money;
  /** What it was converted from, and the price of one bitcoin in that currency. */
  readonly worth?: { readonly given: Money; readonly rate: Big };
}

/** Throws Failure: `usage` for an invalid amount, `not-found` for a currency without a rate. */
export async function readAsked(text: string, rates: () => Promise<Rates>): Promise<Asked> {
  return isForeign(text) ? inBtc(text, await rates()) : { amount: parseAmount(text, 'BTC') };
}

/** An amount that names another currency than bitcoin. */
export function isForeign(text: string): boolean {
  const named = currencyOf(text);
  return named !== undefined && named !== 'BTC';
}

/** Rounded up: the amount in bitcoin is worth no less than the one given. */
export function inBtc(text: string, rates: Rates): Asked {
  const given = parseAmount(text);
  const { rate } = findRate(rates, `BTC${given.ccy}`);
  return { amount: { ccy: 'BTC', value: given.value.div(rate).round(decimalsOf('BTC'), Big.roundUp) }, worth: { given, rate } };
}
