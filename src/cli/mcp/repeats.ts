// Prevents an agent from paying twice by repeating a request under another reference. Every payment
// of an agent is compared with the earlier payments of a day.
import { Failure } from '../../formats/failure.js';
import { decisive, status } from '../../store/journal/payment.js';
import type { Repeats } from '../../wallet/payment/contract.js';
import { concerned } from '../../wallet/payment/outcomes.js';

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Refuses the same payment within 24 hours, whatever its reference. To permit the repetition, the
 * caller sets `differentFrom` to the reference or transaction id of the latest one, or a person
 * agrees. A payment whose outcome is unknown is never repeated.
 */
export const repeatsOf = (differentFrom: string, isAgreed = false): Repeats => ({
  of: 'every reference',
  paidWithinMs: dayMs,
  async decide({ payment }) {
    const { ref, attempts } = payment;
    const isNamed = [ref, ...attempts.map(({ txnId }) => txnId)].includes(differentFrom);
    const isUnknown = ['unknown', 'error'].includes(status(payment));
    if ((isNamed || isAgreed) && !isUnknown) return 'another';
    const attempt = decisive(payment);
    const name = attempt.txnId ?? ref;
    const advice = isUnknown
      ? 'Its outcome must be known before the same payment can be made again. To see it'
      : `For a different payment, set differentFrom to ${name}. To see the earlier payment`;
    const Refusal = isUnknown ? Failure : Repetition;
    throw new Refusal(
      'usage',
      'an identical payment to this destination is already paid or in flight ' +
        `as ${ref} (${name}).`,
      {
        money: 'Not sent',
        ...concerned(payment, attempt),
        hint: `For the same purpose, use the ref ${ref}. ${advice}`,
        next: { do: 'show', id: name },
      },
    );
  },
});

/** The refusal of a repetition that a person can permit. */
export class Repetition extends Failure {}
