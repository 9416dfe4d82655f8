// Reads the service's rates by pair. Inverts a rate if the service has only the opposite direction.
import type { Big } from 'big.js';
import type { Rates } from '../../api/types.js';
import { fromWire } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';

export interface PairRate {
  readonly pair: string;
  readonly base: string | null;
  readonly quote: string | null;
  /** The price of one unit of `base`, in `quote`. */
  readonly rate: Big;
  /** The service's pair, if svcpay inverted the service's rate. */
  readonly from?: string;
}

/** The number of digits of an inverted rate. */
const significantDigits = 12;

export const allRates = (rates: Rates): PairRate[] =>
  Object.entries(rates).map(([pair, rate]) => ({ pair, ...sidesOf(pair), rate: fromWire(rate) }));

/**
 * Reads a pair such as `BTCUSD`, `btc/usd` or `BTC-USD`. Throws Failure `usage` for an invalid
 * pair, and `not-found` for a pair that has no rate.
 */
export function findRate(rates: Rates, given: string): PairRate {
  const pair = given.toUpperCase().replace(/[/\-_: ]/, '');
  const { base, quote } = sidesOf(pair);
  if (base === null || quote === null || base === quote) {
    throw new Failure(
      'usage',
      `"${given}" is not a currency pair. Write a pair such as BTCUSD or BTC/USD.`,
    );
  }
  const all = allRates(rates);
  const direct = all.find((each) => each.pair === pair && each.rate.gt(0));
  if (direct !== undefined) return direct;
  const inverse = all.find((each) => each.pair === quote + base && each.rate.gt(0));
  if (inverse === undefined) {
    throw new Failure('not-found', `The service has no rate for ${base} and ${quote}.`, {
      next: { do: 'see-rates' },
    });
  }
  return {
    pair,
    base,
    quote,
    rate: inverse.rate.pow(-1).prec(significantDigits),
    from: inverse.pair,
  };
}

/**
 * Splits a pair into its two currencies. The only first currencies with four letters are USDC,
 * USDT, EURC and EURT. The second currency may have three or four letters.
 */
function sidesOf(pair: string): { readonly base: string | null; readonly quote: string | null } {
  const [, base = null, quote = null] = /^((?:USD|EUR)[CT]|[A-Z]{3})([A-Z]{3,4})$/.exec(pair) ?? [];
  return { base, quote };
}
