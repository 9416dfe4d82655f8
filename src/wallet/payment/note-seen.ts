// What is seen of a transaction beside its payment, by whoever looks at it, is kept by the journal.
import type { Transaction } from '../../api/types.js';
import { hasLapsed, isFinal, isQuoted } from '../../formats/states.js';
import { LostClaim, type Intent, type Journal } from '../../store/journal/journal.js';

/**
 * A quote of this journal that is on its way was let go elsewhere: once that was seen, a read that calls it lapsed is doubt.
 * Whoever is at work on the payment sees it for himself.
 */
export async function noteSeen(intent: Intent, { txnId, txnState }: Transaction, journal: Journal, owner: string): Promise<void> {
  if (intent.step !== 'created' || isQuoted(txnState) || hasLapsed(txnState)) return;
  const claim = await journal.claim(intent.id, owner);
  if (claim === undefined) return;
  try {
    const isStill = claim.intent.step === 'created' && claim.intent.txnId === txnId;
    if (isStill) await journal.write(claim, { step: isFinal(txnState) ? 'final' : 'confirmed', txnState, closed: false });
  } catch (error) {
    if (!(error instanceof LostClaim)) throw error;
  } finally {
    await journal.release(claim);
  }
}
