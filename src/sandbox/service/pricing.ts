// The numbers of a quote: both amounts, the rate between them, the fees, and what leaves and arrives in the end.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import { rateBetween } from './rates.js';
import { badRequest } from '../wire/refusal.js';
import type { Quote } from './transactions.js';
import { serviceFeeOf } from '../unspecified.js';
import { isMovable } from '../wire/values.js';

/** As much of a creation request as its price follows from. */
interface Asked {
  readonly source: { readonly ccy: string };
  readonly dest: { readonly ccy: string };
  /** Fees to deduct from the amount instead of adding them. */
  readonly deduct: Deductions;
}

interface Terms {
  /** The side whose amount was asked for; the other one is computed. */
  readonly side: 'source' | 'dest';
  readonly amount: Big;
  readonly fee: Parameters<typeof serviceFeeOf>[0];
  /** The same for every amount, in the currency of the destination; or worked out of the source amount, in that one's. */
  readonly networkFee?: Big | ((sourceAmount: Big, decimals: number) => Big);
}

/** Which fees the destination bears. */
export interface Deductions {
  readonly serviceFee: boolean;
  readonly networkFee: boolean;
}

type Price = Omit<Quote, 'sourceDetails' | 'destDetails' | 'extra'>;

/** Prices a request. What has to be rounded is rounded in the house's favour. Refuses amounts that cannot be moved. */
export function price({ source, dest, deduct }: Asked, { side, amount, fee, networkFee: asked = new Big(0) }: Terms): Price {
  const [sourceCcy, destCcy] = [source.ccy, dest.ccy];
  const fxRate = rateBetween(sourceCcy, destCcy);
  const [sourceDecimals, destDecimals] = [decimalsOf(sourceCcy), decimalsOf(destCcy)];
  const sourceAmount = side === 'source' ? amount : amount.div(fxRate).round(sourceDecimals, Big.roundUp);
  const destAmount = side === 'dest' ? amount : convert(amount, fxRate, destCcy);
  if (!isMovable(sourceCcy, sourceAmount) || !isMovable(destCcy, destAmount)) {
    throw badRequest('the amount is too small, too large or has too many decimals');
  }

  const serviceFee = serviceFeeOf(fee, sourceAmount, sourceDecimals);
  const networkFee = typeof asked === 'function'
    ? asked(sourceAmount, sourceDecimals)
    : asked.div(fxRate).round(sourceDecimals, Big.roundUp);
  const deducted = new Big(0).plus(deduct.serviceFee ? serviceFee : 0).plus(deduct.networkFee ? networkFee : 0);
  const arrives = destAmount.minus(deducted.times(fxRate).round(destDecimals, Big.roundUp));
  if (arrives.lte(0)) throw badRequest('the amount does not cover the fees');
  const charge = sourceAmount.plus(serviceFee).plus(networkFee).minus(deducted);
  return { sourceCcy, sourceAmount, destCcy, destAmount, charge, arrives, serviceFee, networkFee, fxRate };
}

/** What an amount comes to in another currency, rounded down. */
export function convert(amount: Big, fxRate: Big, destCcy: string): Big {
  return amount.times(fxRate).round(decimalsOf(destCcy), Big.roundDown);
}
