// Lists the recipients that this home has paid and can pay again, and estimates the usual duration
// of payments by a method.
import type { Money } from '../../formats/amount.js';
import { latest, status, type Payment } from '../../store/journal/payment.js';
import { knownAmounts } from '../limits/limits.js';
import { instructionOf, type Instruction } from '../instruction/instruction.js';
import { decodeOrder } from '../order/orders.js';

/** A recipient that this home has paid, or that is in the address book. */
export interface KnownDestination<T> {
  /** A key that all payments to the same destination share. */
  readonly key: string;
  /** The recipient's name in the address book, otherwise the name on the recipient's account. */
  readonly name: string;
  readonly destination: string;
  readonly value: T;
  /**
   * The time of the last payment in epoch ms, or undefined if the home never paid the recipient.
   */
  readonly lastAt?: number;
  readonly lastAmount?: Money | undefined;
  /** The instruction of the last payment. */
  readonly last?: Instruction;
}

/**
 * Returns the instruction of a payment, or undefined if the payment cannot be repeated because it
 * paid an invoice or was imported.
 */
export function repeatable(payment: Payment): Instruction | undefined {
  const instruction = instructionOf(payment);
  const { once, isImported } = instruction;
  return once === null && isImported !== true ? instruction : undefined;
}

/**
 * Lists the last payment to each destination, newest first, followed by the entries of the address
 * book that were never paid.
 * @param describe returns the recipient of an instruction, or undefined for another kind of payment
 */
export function knownDestinations<T>(
  book: readonly KnownDestination<T>[],
  payments: readonly Payment[],
  describe: (instruction: Instruction) => KnownDestination<T> | undefined,
): KnownDestination<T>[] {
  const found = new Map<string, KnownDestination<T>>();
  for (const payment of payments.toSorted((a, b) => b.openedAt - a.openedAt)) {
    const asked = status(payment) === 'abandoned' ? undefined : repeatable(payment);
    const paid = asked && describe(asked);
    if (asked === undefined || paid === undefined || found.has(paid.key)) continue;
    const named = book.find(({ key }) => key === paid.key) ?? paid;
    const earlier = {
      last: asked,
      lastAt: payment.openedAt,
      lastAmount: knownAmounts(decodeOrder(latest(payment).request))[0],
    };
    found.set(paid.key, { ...named, ...earlier });
  }
  const others = book.filter(({ key }) => !found.has(key));
  return [...found.values(), ...others.toSorted((a, b) => a.name.localeCompare(b.name))];
}

const leastKnown = 3;

/**
 * Estimates how long payments by a method usually take, in ms, or returns undefined if the journal
 * has too few payments. The estimate is the first quartile of the recorded times. Many recorded
 * times are too long, because a command may read a settlement long after it happened.
 */
export function usualMs(payments: readonly Payment[], method: string): number | undefined {
  const took = payments
    .filter((each) => decodeOrder(latest(each).request).body.destReq.method === method)
    .flatMap(({ attempts, updatedAt }) =>
      attempts.flatMap(({ state, submittedAt }) =>
        state === 'paid' && submittedAt !== null ? updatedAt - submittedAt : [],
      ),
    )
    .filter((ms) => ms > 0)
    .toSorted((a, b) => a - b);
  return took.length < leastKnown ? undefined : took[Math.floor(took.length / 4)];
}
