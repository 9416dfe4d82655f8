// Reads the earlier runs of batches from the journal, and determines the outcomes of the rows of a
// batch from the journal and the service's list.
import Big from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import { fromWire, type Money } from '../../formats/amount.js';
import { hasLapsed, isFinal, isQuoted, movedNothing } from '../../formats/states.js';
import {
  type Attempt,
  attemptRef,
  decisive,
  type Payment,
  status,
} from '../../store/journal/payment.js';
import { decodeOrder } from '../order/orders.js';
import { reported } from '../payment/apply.js';
import { type PaidRow, readPaidRow, type Row, type RowState } from './row.js';
import type { Journal } from '../../store/journal/journal.js';

/** The parts of a transaction that decide the state of its row. */
type Read = Pick<ListedTransaction, 'txnState' | 'destReq'> &
  Partial<Pick<ListedTransaction, 'txnId' | 'sourceReq'>>;

/**
 * Fills the columns of the result, from the payment of the row in the journal.
 * @param txn the row's transaction at the service, or undefined if svcpay did not read it
 */
export function withResult(row: Row, payment: Payment | undefined, txn?: Read): Row {
  const attempt = payment && decisive(payment);
  const state = rowState(payment, txn);
  const settled = Math.max(txn?.sourceReq?.updatedAt ?? 0, txn?.destReq.updatedAt ?? 0);
  return {
    ...row,
    payment,
    state,
    txnId: attempt?.txnId ?? txn?.txnId,
    txnState: txn?.txnState ?? attempt?.txnState ?? undefined,
    total: attempt && totalOf(attempt),
    settledAt: state === 'paid' ? settled || payment?.updatedAt : undefined,
  };
}

/** The reference of the row's attempt at the service, if it is not the reference of the row. */
export const furtherAttempt = ({ payment, ref }: Row): string | undefined => {
  const attempt = payment && decisive(payment);
  return attempt === undefined || attempt.number === 1
    ? undefined
    : attemptRef(ref, attempt.number);
};

const totalOf = ({ approvedTotal: total, spendCcy }: Attempt): Money | undefined =>
  total === null || spendCcy === null ? undefined : { ccy: spendCcy, value: new Big(total) };

export function rowState(payment: Payment | undefined, txn: Read | undefined): RowState {
  if (payment === undefined) return txn === undefined ? 'not-started' : stateAt(txn.txnState);
  const attempt = decisive(payment);
  // The service may report a later state than the journal has.
  const { txnId } = attempt;
  const seen =
    txn === undefined ? attempt : reported(attempt, { txnId: txnId ?? '', txnState: txn.txnState });
  const is = status({ ...payment, attempts: [seen] });
  if (is !== 'paid') return is;
  const isReturned = txn !== undefined && movedNothing(txn.txnState);
  if (isReturned && seen.resolution === null) return 'returned';
  return isUnderpaid(payment, txn) ? 'underpaid' : is;
}

/** The state of a row that only the service knows. */
const stateAt = (txnState: string): RowState => {
  if (txnState === 'completed') return 'paid';
  if (txnState === 'error') return 'error';
  if (isQuoted(txnState) || hasLapsed(txnState)) return 'not-started';
  return isFinal(txnState) ? 'failed' : 'in-flight';
};

/**
 * Whether less money arrived than the order requested. Returns false for an order that deducts the
 * network fees from the requested amount.
 */
function isUnderpaid(payment: Payment, txn: Read | undefined): boolean {
  const settled = txn?.destReq.amtSettled;
  const { receives, body } = decodeOrder(decisive(payment).request);
  if (settled == null || receives === undefined || body.deductNetworkFeesFromDest === true)
    return false;
  return txn?.destReq.ccy === receives.ccy && fromWire(settled).lt(receives.value);
}

/** A run of a batch, with the rows that it paid. */
export interface PastRun {
  /** The name of the run. See `BatchMark`. */
  readonly run: string;
  readonly rows: readonly PaidRow[];
}

/** The number of runs that svcpay compares with a batch: this run and a year of monthly runs. */
const runsCompared = 13;

/** The number of latest runs in which svcpay searches for a run with a given name. */
export const runsKept = 1_000;

/** The name of a run: its start, by which runs are sorted, and the name of the batch. */
export const runName = (startedAt: number, name: string): string =>
  `${new Date(startedAt).toISOString()} ${name}`;

/** The start of a run in epoch ms, and the name of its batch. */
export const readRunName = (
  run: string,
): { readonly startedAt: number; readonly name: string } => ({
  startedAt: Date.parse(run.slice(0, isoLength)),
  name: run.slice(isoLength + 1),
});

const isoLength = '2026-10-22T09:12:03.123Z'.length;

/** Lists earlier runs, newest first. */
export async function pastRuns(
  journal: Pick<Journal, 'runs' | 'paidInRun'>,
  scope: string,
): Promise<PastRun[]> {
  const past: PastRun[] = [];
  for (const { run } of await journal.runs(scope, runsCompared)) {
    const rows = (await journal.paidInRun(scope, run)).flatMap((row) => readPaidRow(row) ?? []);
    if (rows.length > 0) past.push({ run, rows });
  }
  return past;
}
