// Takes a quote back. Where the service has no such operation the quote lapses by itself; the journal lets go of it.
import { CancelNotOffered, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import type { Claim, Journal } from '../../store/journal/journal.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';

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
 * Resolves with the transaction, which is `usercanceled`, or had lapsed before. Throws Failure `refused` when it is
 * past the point of no return, or when the service cannot cancel.
 */
export async function cancelQuote(txnId: string, deps: CancelDeps): Promise<Transaction> {
  const txn = await deps.service.transaction(txnId);
  if (hasLapsed(txn.txnState)) return txn;
  if (!isQuoted(txn.txnState)) throw tooLate(txn);
  const claim = await giveUp(txnId, deps);
  try {
    const ended = await cancelOrRead(txn, deps);
    const isOver = hasLapsed(ended.txnState);
    if (claim?.intent.closed === true && isOver) await deps.journal.write(claim, { step: 'final', txnState: ended.txnState, closed: false });
    return ended;
  } finally {
    if (claim !== undefined) await deps.journal.release(claim);
  }
}

async function cancelOrRead(txn: Transaction, { service }: CancelDeps): Promise<Transaction> {
  try {
    return await service.cancelTransaction(txn.txnId);
  } catch (error) {
    if (error instanceof CancelNotOffered) throw lapsesByItself(txn, error);
    if (!(error instanceof ServiceError) || error.kind !== 'refused') throw error;
    const after = await service.transaction(txn.txnId);
    if (hasLapsed(after.txnState)) return after;
    throw isQuoted(after.txnState) ? error : tooLate(after);
  }
}

/** Otherwise `tx resume` would ask for the payment again. One that a confirmation may be on its way for stays open. */
async function giveUp(txnId: string, { journal, scope, owner }: CancelDeps): Promise<Claim | undefined> {
  const intent = await journal.find(scope, txnId);
  if (intent?.txnId !== txnId) return undefined;
  const claim = await journal.claim(intent.id, owner);
  if (claim === undefined) {
    throw new Failure('refused', 'Not cancelled: another process is at work on this payment.', {
      hint: 'Answer its question with no, or interrupt it.',
      txnId,
    });
  }
  const isStillQuote = claim.intent.step === 'intent' || claim.intent.step === 'created';
  return isStillQuote ? journal.write(claim, { closed: true, consent: 'none' }) : claim;
}

function tooLate({ txnId, txnState }: Transaction): Failure {
  return new Failure('refused', `Not cancelled: only a quote can be, and this transaction is ${txnState}.`, {
    next: { do: 'show', id: txnId },
    txnId,
  });
}

function lapsesByItself({ txnId, sourceReq }: Transaction, cause: CancelNotOffered): Failure {
  const { expiresAt } = sourceReq;
  const when = expiresAt == null ? 'soon' : `at ${new Date(expiresAt).toISOString()}`;
  return new Failure('refused', `Nothing moved: the service cannot cancel. This quote lapses by itself ${when}.`, {
    status: cause.status,
    txnId,
    cause,
  });
}
