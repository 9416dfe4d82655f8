// Cancels a quote. If the service does not offer cancellation, the quote expires unconfirmed, and
// svcpay abandons the payment in the journal.
import { CancelNotOffered, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { LostClaim, type Claim, type Journal } from '../../store/journal/journal.js';
import { latest, mayHaveMoved, type Payment } from '../../store/journal/payment.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';
import { unresolvedTransaction } from './outcomes.js';
import { transactionConcerned } from '../transaction/read.js';

export interface CancelDeps {
  readonly service: {
    transaction(txnId: string): Promise<Transaction>;
    cancelTransaction(txnId: string): Promise<Transaction>;
  };
  readonly journal: Journal;
  readonly scope: string;
  readonly owner: string;
}

/**
 * Resolves with the transaction, which is `usercanceled` or had already expired. Throws Failure
 * `refused` if the transaction can no longer be cancelled, or if the service does not offer
 * cancellation.
 */
export async function cancelQuote(txnId: string, deps: CancelDeps): Promise<Transaction> {
  const { journal, scope, service } = deps;
  const payment = await journal.find(scope, txnId);
  const txn = await service.transaction(txnId);
  if (hasLapsed(txn.txnState)) return lapsed(txn, payment);
  if (!isQuoted(txn.txnState)) throw tooLate(txn);
  const taken =
    payment !== undefined && latest(payment).txnId === txnId
      ? await take(payment, deps)
      : undefined;
  try {
    // If another process has started the payment's next attempt, the cancellation leaves the
    // payment unchanged.
    const claim =
      taken !== undefined && latest(taken.payment).txnId === txnId
        ? await abandon(taken, deps)
        : undefined;
    const { txn: ended, isCancelled } = await cancelOrRead(txn, deps);
    if (!hasLapsed(ended.txnState)) return ended;
    const attempt = claim && latest(claim.payment);
    // The attempt lapses here only if svcpay cancelled the quote, because a single read that
    // reports `expired` may be stale.
    if (claim !== undefined && attempt?.state === 'quoted' && isCancelled) {
      await journal.write(claim, {
        attempt: { ...attempt, state: 'lapsed', txnState: ended.txnState },
      });
    }
    return lapsed(ended, claim?.payment ?? payment);
  } catch (error) {
    throw error instanceof LostClaim ? isBusy(txnId) : error;
  } finally {
    if (taken !== undefined) await journal.release(taken);
  }
}

/**
 * Throws if the payment was submitted, because an expired or cancelled state then does not prove
 * that no money moved.
 */
function lapsed(txn: Transaction, payment: Payment | undefined): Transaction {
  const failure = unresolvedTransaction(payment, txn);
  if (failure !== undefined) throw failure;
  const attempt = payment?.attempts.find(({ txnId }) => txnId === txn.txnId);
  if (attempt !== undefined && mayHaveMoved(attempt)) throw tooLate(txn);
  return txn;
}

/**
 * Cancels the quote. If the service refuses the cancellation, reads the transaction, which may have
 * lapsed. `isCancelled` is true if the service accepted the cancellation.
 */
async function cancelOrRead(
  txn: Transaction,
  { service }: CancelDeps,
): Promise<{ readonly txn: Transaction; readonly isCancelled: boolean }> {
  try {
    return { txn: await service.cancelTransaction(txn.txnId), isCancelled: true };
  } catch (error) {
    if (error instanceof CancelNotOffered) throw expiresByItself(txn, error);
    if (!(error instanceof ServiceError) || error.kind !== 'refused') throw error;
    const after = await service.transaction(txn.txnId);
    if (hasLapsed(after.txnState)) return { txn: after, isCancelled: false };
    throw isQuoted(after.txnState) ? error : tooLate(after);
  }
}

async function take(payment: Payment, { journal, owner }: CancelDeps): Promise<Claim> {
  const claim = await journal.claim(payment.id, owner);
  if (claim === undefined) throw isBusy(latest(payment).txnId);
  return claim;
}

/**
 * Abandons the payment, so that `tx resume` does not ask about it again. A payment that may have
 * been submitted stays open.
 */
async function abandon(claim: Claim, { journal }: CancelDeps): Promise<Claim> {
  return latest(claim.payment).state === 'quoted'
    ? journal.write(claim, { abandoned: true })
    : claim;
}

const isBusy = (txnId: string | null): Failure =>
  new Failure('refused', 'Not cancelled: another process is working on this payment.', {
    hint: 'Decline the quote in the other svcpay process, or interrupt that process.',
    txnId: txnId ?? undefined,
  });

function tooLate(txn: Transaction): Failure {
  const { txnId, txnState } = txn;
  return new Failure(
    'refused',
    `Not cancelled: this transaction is ${txnState}, and only a quote can be cancelled.`,
    {
      next: { do: 'show', id: txnId },
      ...transactionConcerned(txn),
    },
  );
}

function expiresByItself(txn: Transaction, cause: CancelNotOffered): Failure {
  const { expiresAt } = txn.sourceReq;
  const when = expiresAt == null ? 'soon' : `at ${new Date(expiresAt).toISOString()}`;
  return new Failure(
    'refused',
    `the service cannot cancel quotes. This quote expires unconfirmed ${when}.`,
    { money: 'Nothing moved', status: cause.status, ...transactionConcerned(txn), cause },
  );
}
