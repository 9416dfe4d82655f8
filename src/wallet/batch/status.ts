// Determines the outcomes of the rows of a batch after its run, from the journal and the service's
// list. Pure.
import type { ListedTransaction } from '../../api/types.js';
import { fromWire } from '../../formats/amount.js';
import { isFinal, movedNothing } from '../../formats/states.js';
import { latest, status, type Payment } from '../../store/journal/payment.js';
import { decodeOrder } from '../order/orders.js';

/**
 * The states of a row. A row is `returned` if the journal records it as paid, but the service now
 * reports that no money moved. A row is `underpaid` if less money arrived than the order requested.
 * A row is `ended` if the service reports the state `error`, which does not show whether money
 * moved.
 */
export const rowStates = [
  'returned',
  'underpaid',
  'failed',
  'ended',
  'unknown',
  'in-flight',
  'not-started',
  'paid',
] as const;

export type RowState = (typeof rowStates)[number];

/**
 * Determines the state of a row.
 * @param txn the row's transaction in the service's list, or undefined if svcpay did not read the
 * list
 */
export function rowState(
  payment: Payment | undefined,
  txn: Pick<ListedTransaction, 'txnState' | 'destReq'> | undefined,
): RowState {
  if (payment === undefined) return 'not-started';
  const paymentStatus = status(payment);
  if (paymentStatus === 'paid') {
    if (txn !== undefined && movedNothing(txn.txnState)) return 'returned';
    return isUnderpaid(payment, txn) ? 'underpaid' : 'paid';
  }
  if (paymentStatus === 'open' || paymentStatus === 'abandoned') return 'not-started';
  if (paymentStatus === 'error' || txn?.txnState === 'error') return 'ended';
  if (paymentStatus === 'failed') return 'failed';
  // The service may report a later state than the journal has. An expired transaction does not
  // prove that a submitted payment moved no money.
  if (txn?.txnState === 'completed') return isUnderpaid(payment, txn) ? 'underpaid' : 'paid';
  return paymentStatus === 'in-flight' && txn !== undefined && isFinal(txn.txnState)
    ? endedState(txn.txnState)
    : paymentStatus;
}

const endedState = (txnState: string): RowState =>
  txnState === 'failed' || txnState === 'rejected' ? 'failed' : 'unknown';

/**
 * Whether less money arrived than the order requested. Returns false for an order that deducts the
 * network fees from the requested amount.
 */
function isUnderpaid(
  payment: Payment,
  txn: Pick<ListedTransaction, 'destReq'> | undefined,
): boolean {
  const settled = txn?.destReq.amtSettled;
  const { receives, body } = decodeOrder(latest(payment).request);
  if (settled == null || receives === undefined || body.deductNetworkFeesFromDest === true)
    return false;
  return txn?.destReq.ccy === receives.ccy && fromWire(settled).lt(receives.value);
}
