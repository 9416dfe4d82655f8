// Prevents an agent from paying twice by repeating a request under another reference. Looks in the
// journal for an identical payment that was made recently or is in flight.
import { Failure } from '../../formats/failure.js';
import { latest, type Payment } from '../../store/journal/payment.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import type { PaymentDeps } from '../../wallet/payment/contract.js';
import { sameAgain, targetOf, type Target } from '../../wallet/payment/same-again.js';
import type { Context } from '../context.js';

const paidWithinMs = 24 * 60 * 60 * 1000;
/** The largest number of earlier payments that svcpay compares with a new payment. */
const mostCompared = 1_000;

/**
 * Throws Failure `usage` with the earlier transaction's id if the same amount went to the same
 * destination under a different reference within 24 hours. To permit the repetition, the caller
 * sets `differentFrom` to the reference or transaction id of the latest identical payment.
 * @param ref the reference of the new payment; an earlier payment with this reference is not
 * compared
 */
export async function refuseRepeat(
  target: Target | undefined,
  ref: string,
  differentFrom: string,
  context: Context,
): Promise<void> {
  if (target === undefined) return;
  const account = await context.account();
  const journal = await account.journal();
  const payments = [
    ...(await journal.open(account.scope)),
    ...(await journal.latest(account.id, mostCompared)),
  ];
  refuseAmong(payments, target, ref, differentFrom, context.now());
}

/**
 * Refuses a repeated payment at its submission too, because another server of this home may have
 * submitted an identical payment in the meantime.
 */
export const refuseRepeatAtSubmission =
  (differentFrom: string, now: () => number): NonNullable<PaymentDeps['refuse']> =>
  async (payment, latest) => {
    refuseAmong(
      await latest(mostCompared),
      targetOf(decodeOrder(payment.request)),
      payment.ref,
      differentFrom,
      now(),
    );
  };

/** @param payments the payments of the journal, in any order */
export function refuseAmong(
  payments: readonly Payment[],
  target: Target,
  ref: string,
  differentFrom: string,
  now: number,
): void {
  const earlier = sameAgain(target, payments, { ref, now, paidWithinMs })?.payment;
  if (
    earlier === undefined ||
    [earlier.ref, ...earlier.attempts.map(({ txnId }) => txnId)].includes(differentFrom)
  )
    return;
  const { txnId } = latest(earlier);
  const name = txnId ?? earlier.ref;
  throw new Failure(
    'usage',
    'Not sent: an identical payment to this destination is already paid or in flight ' +
      `as ${earlier.ref} (${name}).`,
    {
      txnId: txnId ?? undefined,
      hint:
        `For the same purpose, use the ref ${earlier.ref}. For a different payment, set ` +
        `differentFrom to ${name}. To see the earlier payment`,
      next: { do: 'show', id: name },
    },
  );
}
