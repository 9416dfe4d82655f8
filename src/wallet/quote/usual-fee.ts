// What this home usually pays in fees for a kind of payment, from those that it has made. Pure: intents in, a share out.
import Big from 'big.js';
import type { Intent } from '../../store/journal/journal.js';
import { decodeOrder } from '../payment/order-record.js';
import type { Order } from '../payment/orders.js';

/** The middle one of the earlier payments. */
export interface UsualFee {
  /** Percent of what was paid for. */
  readonly percent: Big;
  /** In the currency that left. */
  readonly fees: Big;
}

/** Undefined where no payment of this kind, and in this currency alone, has cost anything. */
export function usualFee(intents: readonly Intent[], kind: string, ccy: string): UsualFee | undefined {
  const paid = intents
    .filter((intent) => intent.kind === kind && intent.txnState === 'completed' && intent.spendCcy === ccy)
    .flatMap((intent) => feesOf(intent, ccy) ?? [])
    .filter(({ fees }) => fees.gt(0));
  const middle = (pick: (fee: UsualFee) => Big): Big | undefined =>
    paid.map(pick).toSorted((a, b) => a.cmp(b))[Math.floor(paid.length / 2)];
  const [percent, fees] = [middle((fee) => fee.percent), middle((fee) => fee.fees)];
  return percent === undefined || fees === undefined ? undefined : { percent, fees };
}

function feesOf({ request, approvedTotal, approvedReceives }: Intent, ccy: string): UsualFee | undefined {
  const order = readable(request);
  const arrived = order?.receives?.value ?? approvedReceives;
  if (approvedTotal === null || arrived === null || order?.body.destReq.ccy !== ccy || new Big(arrived).lte(0)) return undefined;
  const fees = new Big(approvedTotal).minus(arrived);
  return { fees, percent: fees.times(100).div(arrived) };
}

/** One of another version tells nothing here, and stops no payment. */
function readable(request: string): Order | undefined {
  try {
    return decodeOrder(request);
  } catch {
    return undefined;
  }
}
