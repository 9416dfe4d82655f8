// Takes a payment over, or follows the process that works on it until its turn comes.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import type { Claim } from '../../store/journal/journal.js';
import { latest, mayHavePaid, type Payment } from '../../store/journal/payment.js';
import { readTransaction } from '../transaction/read-transaction.js';
import type { PaymentDeps, PaymentOptions } from './contract.js';
import { differentPayment, journalLost } from './outcomes.js';

const followEveryMs = 150;
const followAtMostMs = 120_000;

export interface Taken {
  readonly claim: Claim;
  /** Another process worked on it until now. */
  readonly followed: boolean;
}

/** Claims the payment. While another process works on it, waits for that process and then reports what it did. */
export async function takeOver(
  opened: Payment,
  { wait }: PaymentOptions,
  deps: PaymentDeps,
): Promise<Taken | { readonly txn: Transaction }> {
  const atMost = typeof wait === 'number' ? Math.min(wait, followAtMostMs) : followAtMostMs;
  let payment = opened;
  for (let turn = 0; ; turn += 1) {
    const isFollowing = turn > 0;
    const claim = await orUnknown(payment, isFollowing, deps.journal.claim(opened.id, deps.owner));
    if (claim !== undefined)
      return { claim: await sameOrder(claim, opened, deps), followed: isFollowing };
    payment = (await orUnknown(payment, isFollowing, deps.journal.read(opened.id))) ?? opened;
    if (!isFollowing) deps.on({ type: 'following', payment });
    const { state, txnId } = latest(payment);
    if (wait === false && (state === 'in-flight' || state === 'unknown') && txnId !== null) {
      const txn = await readTransaction(deps.service, txnId).catch((error: unknown) =>
        leaveTo(payment, 'temporary', 'the service does not answer.', error),
      );
      // How it ended is reported once the other process has written it; a stale `quoted` reports nothing.
      if (!isFinal(txn.txnState) && !isQuoted(txn.txnState)) return { txn };
    }
    if (deps.signal.aborted) return leaveTo(payment, 'interrupted', 'you interrupted.');
    if (turn * followEveryMs >= atMost) return leaveTo(payment, 'temporary', 'it takes long.');
    await deps.sleep(followEveryMs, deps.signal).catch(() => undefined);
  }
}

/** @param isFollowing another process worked on it a moment ago, and may submit it unseen */
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
      leaveTo(payment, 'pending', `it is out of sight. ${error.message}`, error);
    throw error;
  }
}

/** Another order can have replaced a payment that came to nothing since it was opened here. */
async function sameOrder(claim: Claim, opened: Payment, deps: PaymentDeps): Promise<Claim> {
  if (claim.payment.fingerprint === opened.fingerprint) return claim;
  await deps.journal.release(claim);
  throw differentPayment(opened.ref, latest(claim.payment).txnId);
}

/** @param otherwise the kind of failure if nothing had been submitted when the journal was last read */
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
    `${kind === 'pending' ? 'Outcome unknown' : 'Nothing moved here'}: another process works on ${payment.ref}, and ${why}`,
    {
      next: { do: 'resume', id: txnId ?? payment.ref },
      txnId: txnId ?? undefined,
      cause,
    },
  );
}
