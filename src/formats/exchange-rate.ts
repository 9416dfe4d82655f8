// The exchange rate of a quote, as units of the destination currency for one of the source. The
// specification does not define the direction of `fxRate`, so it is derived from the amounts, or
// from bitcoin being worth more than any unit of fiat.
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

/** Undefined within one currency, and when the service names no rate. */
export function exchangeRate({ fxRate, sourceReq, destReq }: Exchange): Big | undefined {
  if (sourceReq.ccy === destReq.ccy || fxRate === null || fxRate === undefined) return undefined;
  const given = fromWire(fxRate);
  if (given.lte(0)) return undefined;
  return isInverse(given, sourceReq, destReq) ? new Big(1).div(given) : given;
}

/** If both amounts are known: whether the rate is inverted. */
function isInverse(given: Big, source: RatedSide, dest: RatedSide): boolean {
  const [sent, gets] = [amountMoved(source), amountMoved(dest)];
  if (sent.gt(0) && gets.gt(0))
    return (given.gt(1) && gets.lt(sent)) || (given.lt(1) && gets.gt(sent));
  return (source.ccy === 'BTC' && given.lt(1)) || (dest.ccy === 'BTC' && given.gt(1));
}

const amountMoved = ({ amtRequested, amtSettled }: RatedSide): Big =>
  fromWire(amtRequested ?? amtSettled ?? 0);
