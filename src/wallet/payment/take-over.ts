// Takes a payment over, or follows the process that works on it until its turn comes.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { policies } from '../../formats/policies.js';
import { poll, type Next, type Turn } from '../../formats/poll.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import type { Claim } from '../../store/journal/journal.js';
import { latest, mayHavePaid, type Payment } from '../../store/journal/payment.js';
import { readTransaction } from '../transaction/read-transaction.js';
import type { PaymentDeps, PaymentOptions } from './contract.js';
import { differentPayment, journalLost } from './outcomes.js';

const followAtMostMs = 120_000;

export interface Taken {
  readonly claim: Claim;
  /** Another process worked on it until now. */
  readonly followed: boolean;
}

type TakenOver = Taken | { readonly txn: Transaction };

/**
 * Claims the payment. While another process works on it, waits for that process and then reports
 * what it did.
 */
export async function takeOver(
  opened: Payment,
  { wait }: PaymentOptions,
  deps: PaymentDeps,
): Promise<TakenOver> {
  const atMost = typeof wait === 'number' ? Math.min(wait, followAtMostMs) : followAtMostMs;
  let payment = opened;
  const step = async ({ number }: Turn): Promise<Next<TakenOver>> => {
    const isFollowing = number > 1;
    const claim = await orUnknown(payment, isFollowing, deps.journal.claim(opened.id, deps.owner));
    if (claim !== undefined)
      return { done: { claim: await sameOrder(claim, opened, deps), followed: isFollowing } };
    payment = (await orUnknown(payment, isFollowing, deps.journal.read(opened.id))) ?? opened;
    if (!isFollowing) deps.on({ type: 'following', payment });
    const { state, txnId } = latest(payment);
    if (wait === false && (state === 'in-flight' || state === 'unknown') && txnId !== null) {
      const txn = await readTransaction(deps.service, txnId).catch((error: unknown) =>
        leaveTo(payment, 'temporary', 'the service does not answer.', error),
      );
      // The end is reported once the other process has written it. A stale `quoted` is not an end.
      if (!isFinal(txn.txnState) && !isQuoted(txn.txnState)) return { done: { txn } };
    }
    return {};
  };
  const end = await poll(policies.takeOver, step, deps, atMost);
  if ('done' in end) return end.done;
  return end.over === 'interrupted'
    ? leaveTo(payment, 'interrupted', 'you interrupted.')
    : leaveTo(payment, 'temporary', 'it takes long.');
}

/**
 * @param isFollowing another process worked on the payment a moment ago, and may submit it
 * unnoticed
 */
async function orUnknown<T>(
  payment: Payment,
  isFollowing: boolean,
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (mayHavePaid(payment)) throw journalLost(payment, error);
    if (isFollowing && error instanceof Failure)
      leaveTo(payment, 'pending', `its state cannot be read now. ${error.message}`, error);
    throw error;
  }
}

/** Since this run opened the payment, another order may have taken its reference. */
async function sameOrder(claim: Claim, opened: Payment, deps: PaymentDeps): Promise<Claim> {
  if (claim.payment.fingerprint === opened.fingerprint) return claim;
  await deps.journal.release(claim);
  throw differentPayment(opened.ref, latest(claim.payment).txnId);
}

/**
 * @param otherwise the kind of failure if nothing had been submitted when the journal was last read
 */
function leaveTo(
  payment: Payment,
  otherwise: 'temporary' | 'interrupted' | 'pending',
  why: string,
  cause?: unknown,
): never {
  const { txnId, number } = latest(payment);
  const kind = mayHavePaid(payment) || number > 1 ? 'pending' : otherwise;
  throw new Failure(
    kind,
    `${kind === 'pending' ? 'Outcome unknown' : 'Nothing moved here'}: another process works ` +
      `on ${payment.ref}, and ${why}`,
    {
      next: { do: 'resume', id: txnId ?? payment.ref },
      txnId: txnId ?? undefined,
      cause,
    },
  );
}
