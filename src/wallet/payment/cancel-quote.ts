// Takes a quote back. Where the service has no such operation the quote lapses by itself; the journal lets go of it.
import { CancelNotOffered, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { LostClaim, type Claim, type Intent, type Journal } from '../../store/journal/journal.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';
import { doubtAbout } from './references.js';

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
  const { journal, scope, service } = deps;
  const intent = await journal.find(scope, txnId);
  const txn = await service.transaction(txnId);
  if (hasLapsed(txn.txnState)) return lapsed(txn, intent);
  if (!isQuoted(txn.txnState)) throw tooLate(txn);
  const taken = intent?.txnId === txnId ? await take(intent, deps) : undefined;
  try {
    // Another process may have gone on to the next attempt just before: that one is not touched.
    const claim = taken?.intent.txnId === txnId ? await giveUp(taken, deps) : undefined;
    const ended = await cancelOrRead(txn, deps);
    if (!hasLapsed(ended.txnState)) return ended;
    if (claim?.intent.closed === true) await journal.write(claim, { step: 'final', txnState: ended.txnState, closed: false });
    return lapsed(ended, claim?.intent ?? intent);
  } catch (error) {
    throw error instanceof LostClaim ? atWork(txnId) : error;
  } finally {
    if (taken !== undefined) await journal.release(taken);
  }
}

/** That it lapsed proves nothing of a payment whose confirmation was sent. */
function lapsed(txn: Transaction, intent: Intent | undefined): Transaction {
  const doubt = doubtAbout(intent, txn);
  if (doubt !== undefined) throw doubt;
  return txn;
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

async function take({ id, txnId }: Intent, { journal, owner }: CancelDeps): Promise<Claim> {
  const claim = await journal.claim(id, owner);
  if (claim === undefined) throw atWork(txnId);
  return claim;
}

/** Otherwise `tx resume` would ask for the payment again. One that a confirmation may be on its way for stays open. */
async function giveUp(claim: Claim, { journal }: CancelDeps): Promise<Claim> {
  return claim.intent.step === 'created' ? journal.write(claim, { closed: true, consent: 'none' }) : claim;
}

const atWork = (txnId: string | null): Failure =>
  new Failure('refused', 'Not cancelled: another process is at work on this payment.', {
    hint: 'Answer its question with no, or interrupt it.',
    txnId: txnId ?? undefined,
  });

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
