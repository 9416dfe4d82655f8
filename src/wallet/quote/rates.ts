// Reads the service's rates by pair. If the service has only the rate of the opposite pair, inverts
// that rate.
import type { Big } from 'big.js';
import type { Rates } from '../../api/types.js';
import { fromWire } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { didYouMean } from '../../formats/text.js';

export interface PairRate {
  readonly pair: string;
  readonly base: string | null;
  readonly quote: string | null;
  /** The price of one unit of `base`, in `quote`. */
  readonly rate: Big;
  /**
   * The service's own pair, such as `BTCUSD` for `USDBTC`, if svcpay inverted the rate of that
   * pair.
   */
  readonly from?: string;
}

/** The number of significant digits to which svcpay rounds an inverted rate. */
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
    const meant = didYouMean(
      pair,
      all.map((each) => each.pair),
    );
    throw new Failure('not-found', `The service has no rate for ${base} and ${quote}.${meant}`, {
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
 * Splits a pair into its two currencies. The first currency of a pair has three letters, unless it
 * is USDC, USDT, EURC or EURT. The second currency of a pair may have three or four letters.
 */
function sidesOf(pair: string): { readonly base: string | null; readonly quote: string | null } {
  const [, base = null, quote = null] = /^((?:USD|EUR)[CT]|[A-Z]{3})([A-Z]{3,4})$/.exec(pair) ?? [];
  return { base, quote };
}
