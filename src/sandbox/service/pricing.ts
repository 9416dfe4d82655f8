// The numbers of a quote: both amounts, the rate between them, the fees, and what leaves and arrives in the end.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import { rateBetween } from './rates.js';
import { badRequest } from '../wire/refusal.js';
import type { Quote } from './transactions.js';
import { serviceFeeOf } from '../unspecified.js';
import { isMovable } from '../wire/values.js';

export interface Order {
  readonly sourceCcy: string;
  readonly destCcy: string;
  /** The side whose amount was asked for; the other one is computed. */
  readonly side: 'source' | 'dest';
  readonly amount: Big;
  readonly fee: Parameters<typeof serviceFeeOf>[0];
  /** The network fee for a source amount, in the source currency. */
  readonly networkFee?: ((sourceAmount: Big, decimals: number) => Big) | undefined;
  /** Fees to take out of what is sent instead of charging them on top. */
  readonly deduct?: Deductions | undefined;
}

/** Which fees the destination bears. */
export interface Deductions {
  readonly serviceFee: boolean;
  readonly networkFee: boolean;
}

type Price = Pick<
  Quote,
  | 'sourceCcy' | 'sourceAmount' | 'destCcy' | 'destAmount' | 'charge' | 'arrives'
  | 'serviceFee' | 'networkFee' | 'fxRate'
>;

/** Prices an order. What has to be rounded is rounded in the house's favour. Refuses amounts that cannot be moved. */
export function price(order: Order): Price {
  const { sourceCcy, destCcy, side, amount } = order;
  const fxRate = rateBetween(sourceCcy, destCcy);
  const [sourceDecimals, destDecimals] = [decimalsOf(sourceCcy), decimalsOf(destCcy)];
  const sourceAmount = side === 'source' ? amount : amount.div(fxRate).round(sourceDecimals, Big.roundUp);
  const destAmount = side === 'dest' ? amount : convert(amount, fxRate, destCcy);
  if (!isMovable(sourceCcy, sourceAmount) || !isMovable(destCcy, destAmount)) {
    throw badRequest('the amount is too small, too large or has too many decimals');
  }

  const serviceFee = serviceFeeOf(order.fee, sourceAmount, sourceDecimals);
  const networkFee = order.networkFee?.(sourceAmount, sourceDecimals) ?? new Big(0);
  const deducted = new Big(0)
    .plus(order.deduct?.serviceFee === true ? serviceFee : 0)
    .plus(order.deduct?.networkFee === true ? networkFee : 0);
  const arrives = destAmount.minus(deducted.times(fxRate).round(destDecimals, Big.roundUp));
  if (arrives.lte(0)) throw badRequest('the amount does not cover the fees');
  const charge = sourceAmount.plus(serviceFee).plus(networkFee).minus(deducted);
  return { sourceCcy, sourceAmount, destCcy, destAmount, charge, arrives, serviceFee, networkFee, fxRate };
}

/** What an amount comes to in another currency, rounded down. */
export function convert(amount: Big, fxRate: Big, destCcy: string): Big {
  return amount.times(fxRate).round(decimalsOf(destCcy), Big.roundDown);
}

/** A network fee that is the same for every amount, given in the currency that the network carries. */
export function flatFee(networkCcy: string, fee: Big, sourceCcy: string): Order['networkFee'] {
  const rate = rateBetween(sourceCcy, networkCcy);
  return (_sourceAmount, decimals) => fee.div(rate).round(decimals, Big.roundUp);
}
