// How long payments by a method usually take: from this home's own payments, otherwise from the
// method's data.
import type { Transaction } from '../../api/types.js';
import { roughDuration } from '../../formats/duration.js';
import { methodProperties } from '../../formats/rails.js';
import type { Payment } from '../../store/journal/payment.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import type { Context } from '../context.js';
import { latestPayments } from './known-destinations.js';

const leastKnown = 3;

/**
 * Undefined without enough payments. The journal records a payment as paid when a command sees
 * that, which can be long after its settlement. So the quicker quarter is the best estimate.
 */
export function usualMs(payments: readonly Payment[], method: string): number | undefined {
  const took = payments
    .filter(({ request }) => decodeOrder(request).body.destReq.method === method)
    .flatMap(({ attempts, updatedAt }) =>
      attempts.flatMap(({ state, submittedAt }) =>
        state === 'paid' && submittedAt !== null ? updatedAt - submittedAt : [],
      ),
    )
    .filter((ms) => ms > 0)
    .toSorted((a, b) => a - b);
  return took.length < leastKnown ? undefined : took[Math.floor(took.length / 4)];
}

/** The text `on-chain usually takes 30 min`. Undefined if the time is unknown. */
export function usualText(method: string, own: number | undefined): string | undefined {
  const properties = methodProperties(method);
  const ms = own ?? properties?.usualMs;
  return ms === undefined
    ? undefined
    : `${properties?.named ?? 'a payout like this'} usually takes ${roughDuration(ms)}`;
}

/** Starts an optional read of the journal. Until it ends, the method's own time counts. */
export function readUsual(context: Context): (txn: Transaction) => string | undefined {
  let known: readonly Payment[] = [];
  void latestPayments(context).then(
    (payments) => (known = payments),
    () => undefined,
  );
  return ({ destReq: { method } }) =>
    method == null ? undefined : usualText(method, usualMs(known, method));
}
