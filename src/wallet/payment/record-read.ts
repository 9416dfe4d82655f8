// What somebody else's read of a transaction shows is recorded in the journal, if a payment of this home is behind it.
import type { Transaction } from '../../api/types.js';
import { LostClaim, type Journal } from '../../store/journal/journal.js';
import { isUnordered, latest, type Payment } from '../../store/journal/payment.js';
import { decodeOrder } from '../order/order-record.js';
import { apply } from './apply.js';
import { nothingKnown, resultOf } from './model.js';

/**
 * A read that reports progress or an end is recorded for good, from any command. One that reports a quote or a lapse changes nothing:
 * only a run of the payment weighs those. A payment that another process works on is left to that process.
 */
export async function recordRead(
  payment: Payment,
  txn: Transaction,
  journal: Journal,
  owner: string,
): Promise<void> {
  if (['quoted', 'lapsed'].includes(resultOf(txn.txnState)) || change(payment, txn) === undefined)
    return;
  const claim = await journal.claim(payment.id, owner);
  if (claim === undefined) return;
  try {
    const news = change(claim.payment, txn);
    if (news !== undefined) await journal.write(claim, news);
  } catch (error) {
    if (!(error instanceof LostClaim)) throw error;
  } finally {
    await journal.release(claim);
  }
}

function change(payment: Payment, txn: Transaction) {
  const attempt = payment.attempts.find(({ txnId }) => txnId === txn.txnId);
  if (attempt === undefined || isUnordered(attempt)) return undefined;
  const known = nothingKnown(latest(payment).state, false);
  const at = { ms: 0, service: 0 };
  return apply(
    { payment, order: decodeOrder(payment.request), known },
    { is: 'read', number: attempt.number, txn, at },
  ).change;
}
