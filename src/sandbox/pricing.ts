// The numbers of a quote: both amounts, the rate between them, the fees, and what leaves and arrives in the end.
import Big from 'big.js';
import { decimalsOf } from '../formats/amount.js';
import { rateBetween } from './rates.js';
import { badRequest } from './refusal.js';
import type { Quote } from './transactions.js';
import { serviceFeeOf } from './unspecified.js';
import { isMovable } from './values.js';

export interface Order {
  readonly sourceCcy: string;
  readonly destCcy: string;
  /** The side whose amount was asked for; the other one is computed. */
  readonly side: 'source' | 'dest';
  readonly amount: Big;
  readonly fee: Parameters<typeof serviceFeeOf>[0];
  /** The network fee for a source amount, in the source currency. */
  readonly networkFee?: ((sourceAmount: Big, decimals: number) => Big) | undefined;
  /** Take the fees out of what is sent instead of charging them on top. */
  readonly deductFees?: boolean | undefined;
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
  const destAmount = side === 'dest' ? amount : amount.times(fxRate).round(destDecimals, Big.roundDown);
  if (!isMovable(sourceCcy, sourceAmount) || !isMovable(destCcy, destAmount)) {
    throw badRequest('the amount is too small, too large or has too many decimals');
  }

  const serviceFee = serviceFeeOf(order.fee, sourceAmount, sourceDecimals);
  const networkFee = order.networkFee?.(sourceAmount, sourceDecimals) ?? new Big(0);
  const fees = serviceFee.plus(networkFee);
  const base = { sourceCcy, sourceAmount, destCcy, destAmount, serviceFee, networkFee, fxRate };
  if (order.deductFees !== true) return { ...base, charge: sourceAmount.plus(fees), arrives: destAmount };

  const arrives = sourceAmount.minus(fees).times(fxRate).round(destDecimals, Big.roundDown);
  if (arrives.lte(0)) throw badRequest('the amount does not cover the fees');
  return { ...base, charge: sourceAmount, arrives };
}
