// An amount in another currency that the bitcoin wallet pays: at the current rate, but under a
// reference that was used before in the bitcoin of its payment.
import Big from 'big.js';
import { fixed } from '../../formats/amount.js';
import type { Payment } from '../../store/journal/payment.js';
import { decodeOrder } from '../order/order-record.js';
import { isForeign } from '../receive/asked.js';
import type { SendWords } from './send.js';

/** Whether its amount is converted to bitcoin, which takes the service's rates. */
export const isConverted = ({ amount, from }: Pick<SendWords, 'amount' | 'from'>): boolean =>
  from === 'BTC' && amount !== undefined && isForeign(amount);

/** The amount of an earlier payment in bitcoin; undefined if it was not paid in bitcoin. */
export function submittedAmount({ request }: Payment): string | undefined {
  const { sourceReq, destReq } = decodeOrder(request).body;
  const side = sourceReq.amtRequested === undefined ? destReq : sourceReq;
  return side.ccy === 'BTC' && side.amtRequested !== undefined
    ? `${fixed(new Big(side.amtRequested))}btc`
    : undefined;
}
