// How long payments of a rail usually take: from this home's own payments, otherwise from the rail.
import type { Transaction } from '../../api/types.js';
import { roughDuration } from '../../formats/duration.js';
import { methodFacts } from '../../formats/rails.js';
import type { Payment } from '../../store/journal/payment.js';
import { decodeOrder } from '../../wallet/order/order-record.js';
import type { Context } from '../context.js';
import { latestPayments } from './known-destinations.js';

const leastKnown = 3;

/**
 * Undefined without enough payments. A payment is recorded as paid when somebody looks, which can
 * be long after its settlement: the quicker quarter is nearest to the truth.
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

/** `on-chain usually takes 30 min`; undefined where nothing is known. */
export function usualText(method: string, own: number | undefined): string | undefined {
  const facts = methodFacts(method);
  const ms = own ?? facts?.usualMs;
  return ms === undefined
    ? undefined
    : `${facts?.named ?? 'a payout like this'} usually takes ${roughDuration(ms)}`;
}

/** Starts an optional look into the journal; until it is done, the rail's own time counts. */
export function readUsual(context: Context): (txn: Transaction) => string | undefined {
  let known: readonly Payment[] = [];
  void latestPayments(context).then(
    (payments) => (known = payments),
    () => undefined,
  );
  return ({ destReq: { method } }) =>
    method == null ? undefined : usualText(method, usualMs(known, method));
}
