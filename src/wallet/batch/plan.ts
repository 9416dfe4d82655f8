// A row of a batch as a payment to be made, and the reference under which it is made once.
import { createHash } from 'node:crypto';
import Big from 'big.js';
import { fixed } from '../../formats/amount.js';
import { asAsked } from '../order/order-record.js';
import type { Order } from '../order/orders.js';
import { ownRef } from '../payment/outcomes.js';
import { payoutDestination } from '../payout/order.js';

export interface PlannedRow {
  readonly line: number;
  readonly ref: string;
  /** Whether the file has the reference, or it was derived from the payment. */
  readonly named: boolean;
  readonly order: Order;
  /** As the file has them. */
  readonly to: string;
  readonly amount: string;
  /** It settles within hours or days, so svcpay does not wait. */
  readonly slow: boolean;
}

/**
 * The reference of a row without one: destination and amount, under the name of the batch. It does not depend on
 * the file, its place, or the order of its rows, so that a file that was moved, sorted, mended or piped in again pays
 * nothing twice. A note, another wallet to pay from, or how an amount is spelled makes no other payment of it. What can be
 * paid once only has the reference that it has everywhere.
 */
export function derivedRef(order: Order, name: string): string {
  if (order.idempotencyKey !== null) return ownRef(order.idempotencyKey);
  const { sourceReq, destReq } = order.body;
  const amounts = [sourceReq, destReq].flatMap(({ ccy, amtRequested }) =>
    amtRequested === undefined ? [] : [ccy, fixed(new Big(amtRequested))],
  );
  const destination = order.kind === 'payout' ? payoutDestination(asAsked(destReq)) : order.destination;
  const what = [destReq.method, destination, ...amounts];
  const digest = createHash('sha256').update(JSON.stringify([name, what])).digest('hex');
  return `batch-${digest.slice(0, 32)}`;
}
