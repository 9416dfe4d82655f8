// Records in the journal the state of a payment's transaction that code outside the payment core
// has read.
import type { Transaction } from '../../api/types.js';
import { LostClaim, type Journal } from '../../store/journal/journal.js';
import { differsFromOrder, latest, type Payment } from '../../store/journal/payment.js';
import { decodeOrder } from '../order/orders.js';
import { apply } from './apply.js';
import { emptyMemory, resultOf } from './model.js';

/**
 * Records that a transaction is under way or has ended, and resolves with the payment as recorded.
 * A quoted, expired or cancelled transaction changes nothing in the journal, because only a run of
 * the payment records these states. If another process is working on the payment, that process
 * records the state itself.
 */
export async function recordRead(
  payment: Payment,
  txn: Transaction,
  journal: Journal,
  owner: string,
): Promise<Payment> {
  if (['quoted', 'lapsed'].includes(resultOf(txn.txnState)) || change(payment, txn) === undefined)
    return payment;
  const claim = await journal.claim(payment.id, owner);
  if (claim === undefined) return payment;
  try {
    const news = change(claim.payment, txn);
    return news === undefined ? claim.payment : (await journal.write(claim, news)).payment;
  } catch (error) {
    if (!(error instanceof LostClaim)) throw error;
    return payment;
  } finally {
    await journal.release(claim);
  }
}

function change(payment: Payment, txn: Transaction) {
  const attempt = payment.attempts.find(({ txnId }) => txnId === txn.txnId);
  if (attempt === undefined || differsFromOrder(attempt)) return undefined;
  const last = latest(payment);
  const memory = emptyMemory(last.state, false);
  const at = { ms: 0, service: 0 };
  return apply(
    { payment, attempt: last, order: decodeOrder(last.request), memory },
    { is: 'read', number: attempt.number, txn, at },
  ).change;
}
