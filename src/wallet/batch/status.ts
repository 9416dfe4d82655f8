// Determines the outcomes of the rows of a batch after its run, from the journal and the service's
// list. Pure.
import type { ListedTransaction } from '../../api/types.js';
import { fromWire } from '../../formats/amount.js';
import { isFinal, movedNothing } from '../../formats/states.js';
import { status, type Payment } from '../../store/journal/payment.js';
import { decodeOrder } from '../order/orders.js';

/**
 * The states of a row. `returned`: the row was paid, and the service later reports a failure.
 * `underpaid`: less arrived than ordered. `ended`: the service does not report whether money moved.
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
 * @param txn the transaction in the service's list; undefined if the list was not read
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
  // The service may report a later state than the journal has. After submission, an expired
  // transaction proves nothing.
  if (txn?.txnState === 'completed') return isUnderpaid(payment, txn) ? 'underpaid' : 'paid';
  return paymentStatus === 'in-flight' && txn !== undefined && isFinal(txn.txnState)
    ? endedState(txn.txnState)
    : paymentStatus;
}

const endedState = (txnState: string): RowState =>
  txnState === 'failed' || txnState === 'rejected' ? 'failed' : 'unknown';

/** Whether less settled than ordered, although the fees were not deducted from the amount. */
function isUnderpaid(
  { request }: Payment,
  txn: Pick<ListedTransaction, 'destReq'> | undefined,
): boolean {
  const settled = txn?.destReq.amtSettled;
  const { receives, body } = decodeOrder(request);
  if (settled == null || receives === undefined || body.deductNetworkFeesFromDest === true)
    return false;
  return txn?.destReq.ccy === receives.ccy && fromWire(settled).lt(receives.value);
}
