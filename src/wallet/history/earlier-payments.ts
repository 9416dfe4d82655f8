// Derives facts from the earlier payments of a home: the recipients that the home can pay again,
// and the usual time of a method.
import type { Money } from '../../formats/amount.js';
import { status, type Payment } from '../../store/journal/payment.js';
import { knownAmounts } from '../limits/limits.js';
import { decodeOrder, type Order } from '../order/orders.js';

/** A party that was paid, or that is in the address book. */
export interface KnownDestination<T> {
  /** A key that is equal for payments to the same destination. */
  readonly key: string;
  /** The recipient's name in the address book, or on the account. */
  readonly name: string;
  readonly destination: string;
  readonly value: T;
  /** The time of the last payment in epoch ms. Undefined before the first payment. */
  readonly lastAt?: number;
  readonly lastAmount?: Money | undefined;
}

/**
 * The order of a payment that can be repeated. Undefined for a payment of an invoice, and for an
 * imported payment.
 */
export function repeatable(payment: Payment): Order | undefined {
  const order = decodeOrder(payment.request);
  return order.idempotencyKey === null && order.isImported !== true ? order : undefined;
}

/**
 * Lists the last payment to each destination, newest first, followed by the entries of the address
 * book that were never paid.
 * @param describe returns the recipient of an order, or undefined for an order of a different kind
 */
export function knownDestinations<T>(
  book: readonly KnownDestination<T>[],
  payments: readonly Payment[],
  describe: (order: Order) => KnownDestination<T> | undefined,
): KnownDestination<T>[] {
  const found = new Map<string, KnownDestination<T>>();
  for (const payment of payments.toSorted((a, b) => b.openedAt - a.openedAt)) {
    const order = status(payment) === 'abandoned' ? undefined : repeatable(payment);
    const paid = order && describe(order);
    if (order === undefined || paid === undefined || found.has(paid.key)) continue;
    const named = book.find(({ key }) => key === paid.key) ?? paid;
    const last = { lastAt: payment.openedAt, lastAmount: knownAmounts(order)[0] };
    found.set(paid.key, { ...named, ...last });
  }
  const others = book.filter(({ key }) => !found.has(key));
  return [...found.values(), ...others.toSorted((a, b) => a.name.localeCompare(b.name))];
}

const leastKnown = 3;

/**
 * Estimates how long payments by a method usually take, in ms. Undefined if there are too few
 * payments. A command may read a settlement long after it happened, so the first quartile of the
 * recorded times is the best estimate.
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
