// What crypto is worth in fiat, roughly, from the service's rates: a look-up that only decorates, and never stops anything.
import type { Rates } from '../../api/types.js';
import { money, type Money } from '../../formats/amount.js';
import { findRate } from '../../wallet/quote/rates.js';
import type { Context } from '../context.js';
import { within } from '../within.js';

/** Undefined for fiat, and where the service names no rate. */
export type Worth = (amount: Money) => Money | undefined;

const fiat = 'USD';
const ratesTimeoutMs = 1_500;

/** Resolves with a function that knows nothing when the service does not tell its rates soon. */
export async function readWorth({ client, sleep }: Context): Promise<Worth> {
  const rates = client().then((service) => service.rates());
  const known = await within(ratesTimeoutMs, rates, { sleep }).catch(() => undefined);
  return known === undefined ? () => undefined : (amount) => worthOf(amount, known);
}

function worthOf({ ccy, value }: Money, rates: Rates): Money | undefined {
  if (ccy !== 'BTC') return undefined;
  try {
    return money(fiat, value.times(findRate(rates, ccy + fiat).rate));
  } catch {
    return undefined;
  }
}
