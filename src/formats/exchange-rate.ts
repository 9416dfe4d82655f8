// Computes the exchange rate of a quote, in units of the destination currency for one unit of the
// source currency. The specification does not define the direction of `fxRate`. svcpay derives the
// direction from the amounts, or from the fact that one bitcoin is worth more than one unit of any
// fiat currency.
import Big from 'big.js';
import { fromWire, type WireNumber } from './amount.js';

interface RatedSide {
  readonly ccy?: string | null | undefined;
  readonly amtRequested?: WireNumber | null | undefined;
  readonly amtSettled?: WireNumber | null | undefined;
}

interface Exchange {
  readonly fxRate?: WireNumber | null | undefined;
  readonly sourceReq: RatedSide;
  readonly destReq: RatedSide;
}

/**
 * Returns the exchange rate of a quote, or undefined if both sides have the same currency or the
 * service omits the rate.
 */
export function exchangeRate({ fxRate, sourceReq, destReq }: Exchange): Big | undefined {
  if (sourceReq.ccy === destReq.ccy || fxRate === null || fxRate === undefined) return undefined;
  const given = fromWire(fxRate);
  if (given.lte(0)) return undefined;
  return isInverse(given, sourceReq, destReq) ? new Big(1).div(given) : given;
}

/**
 * Whether the service reports the inverse of the exchange rate. If both amounts are present,
 * `isInverse` compares the reported rate with the amounts.
 */
function isInverse(given: Big, source: RatedSide, dest: RatedSide): boolean {
  const [sent, gets] = [amountMoved(source), amountMoved(dest)];
  if (sent.gt(0) && gets.gt(0))
    return (given.gt(1) && gets.lt(sent)) || (given.lt(1) && gets.gt(sent));
  return (source.ccy === 'BTC' && given.lt(1)) || (dest.ccy === 'BTC' && given.gt(1));
}

const amountMoved = ({ amtRequested, amtSettled }: RatedSide): Big =>
  fromWire(amtRequested ?? amtSettled ?? 0);
