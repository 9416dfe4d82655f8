// Records whether the money of an attempt moved, after a person has asked the service. A recorded
// answer about an attempt neither permits a new payment nor changes the amounts that count against
// limits.
import { Failure } from '../../formats/failure.js';
import { LostClaim, type Journal } from '../../store/journal/journal.js';
import {
  latest,
  needsAnswer,
  type Attempt,
  type Payment,
  type Resolution,
} from '../../store/journal/payment.js';

/**
 * Finds the attempt with the transaction id `name`, otherwise the only attempt whose outcome no
 * person has reported. Throws Failure `usage` if no attempt or several attempts match the name.
 */
export function attemptToResolve(payment: Payment, name: string): Attempt {
  const candidates = payment.attempts.filter(needsAnswer);
  const begins = ({ txnId }: Attempt): boolean => txnId?.startsWith(name.toLowerCase()) === true;
  const named = name === payment.ref ? undefined : payment.attempts.find(begins);
  const open = candidates.filter(({ resolution }) => resolution === null);
  const [first, ...others] = named === undefined ? (open.length > 0 ? open : candidates) : [named];
  if (first === undefined || !needsAnswer(first)) throw nothingToResolve(payment, first);
  if (others.length === 0) return first;
  const ids = [first, ...others].map(({ txnId }) => txnId).join(', ');
  throw new Failure(
    'usage',
    `Several attempts of ${payment.ref} have no reported outcome. ` +
      `Name one of the transactions: ${ids}.`,
    { next: { do: 'resolve', id: first.txnId ?? payment.ref } },
  );
}

/** Rejects with Failure `temporary` while another process is working on the payment. */
export async function recordResolution(
  { id, ref }: Payment,
  number: number,
  resolution: Resolution,
  journal: Journal,
  owner: string,
): Promise<void> {
  const claim = await journal.claim(id, owner);
  if (claim === undefined) throw beingWorkedOn(ref);
  try {
    const attempt = claim.payment.attempts.find((each) => each.number === number);
    if (attempt === undefined || !needsAnswer(attempt))
      throw nothingToResolve(claim.payment, attempt);
    await journal.write(claim, { attempt: { ...attempt, resolution } });
  } catch (error) {
    throw error instanceof LostClaim ? beingWorkedOn(ref) : error;
  } finally {
    await journal.release(claim).catch(() => undefined);
  }
}

function nothingToResolve(payment: Payment, attempt: Attempt | undefined): Failure {
  const { ref } = payment;
  const { state, txnId, txnState } = attempt ?? latest(payment);
  const is = txnState ?? state;
  return new Failure(
    'usage',
    `Nothing to record: ${ref} is ${is}. ` +
      'You can record a result only for an attempt with the outcome error or unknown.',
    { next: { do: 'show', id: txnId ?? ref }, txnId: txnId ?? undefined },
  );
}

const beingWorkedOn = (ref: string): Failure =>
  new Failure('temporary', `Nothing was recorded: another process is working on ${ref}.`, {
    hint: 'Run the command again when the other process has ended.',
  });
