// Records in the journal a state of a transaction that was read outside its payment: by a list, a receipt, the home screen.
import type { ListedTransaction } from '../../api/types.js';
import { hasLapsed, isFinal, isQuoted } from '../../formats/states.js';
import { LostClaim, type Intent, type IntentChange, type Journal } from '../../store/journal/journal.js';

/**
 * A quote of this journal that is in flight was confirmed elsewhere: once that was seen, a read that calls it lapsed proves
 * nothing. A process that drives the payment records its states itself, so nothing is written then.
 */
export async function noteSeen(intent: Intent, txn: ListedTransaction, journal: Journal, owner: string): Promise<void> {
  if (changeFor(intent, txn) === undefined) return;
  const claim = await journal.claim(intent.id, owner);
  if (claim === undefined) return;
  try {
    const change = changeFor(claim.intent, txn);
    if (change !== undefined) await journal.write(claim, change);
  } catch (error) {
    if (!(error instanceof LostClaim)) throw error;
  } finally {
    await journal.release(claim);
  }
}

function changeFor({ step, txnId, doubts }: Intent, txn: ListedTransaction): IntentChange | undefined {
  const { txnState } = txn;
  if (txn.txnId !== txnId || isQuoted(txnState) || hasLapsed(txnState)) return undefined;
  if (step === 'created') return { step: isFinal(txnState) ? 'final' : 'confirmed', txnState, closed: false };
  // After a failed attempt the outcome of an earlier unresolved one decides: only the payment process can tell.
  const isEnd = txnState === 'completed' || (isFinal(txnState) && doubts.length === 0);
  return step === 'confirmed' && isEnd ? { step: 'final', txnState } : undefined;
}
