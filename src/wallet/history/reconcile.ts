// Updates a journal restored from a backup from the service: imports payments submitted since,
// with their references, idempotency keys and spending.
import type { ListedTransaction, Transaction, TransactionFilter } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { isFinal, isQuoted, movedNothing } from '../../formats/states.js';
import type { ImportedAttempt, Journal } from '../../store/journal/journal.js';
import {
  attemptNamed,
  latest,
  mayHaveMoved,
  mayHavePaid,
  type Payment,
  type PaymentDraft,
} from '../../store/journal/payment.js';
import { lastDay } from '../limits/limits.js';
import { orderOf } from '../order/order-of-quote.js';
import { spanFilter } from '../payment/find.js';
import { decodeOrder, recordOf } from '../order/order-record.js';
import { lightningOrder, type Order } from '../order/orders.js';
import { readTransaction, type ReadService } from '../transaction/read-transaction.js';
import { echoes } from '../order/echo.js';
import { movedAmounts } from './moved-amounts.js';
import { createdSince } from './newest-first.js';

export interface ReconcileDeps {
  readonly service: ReadService & {
    eachTransactionPage(filter: TransactionFilter): AsyncIterable<readonly ListedTransaction[]>;
    serviceNow(): number;
    confirmedNow(): number;
  };
  readonly journal: Journal;
  readonly scope: string;
  readonly account: string;
  readonly now: () => number;
  readonly newId: () => string;
  /** Called after each page with the number of transactions so far. */
  readonly onRead: (count: number) => void;
}

export interface Reconciled {
  /** Number of listed transactions. */
  readonly read: number;
  /** Payments that the journal did not have, or not as submitted. */
  readonly entered: number;
  /** Ids of imported transactions without a reported cost, which limits do not count. */
  readonly uncounted: readonly string[];
}

/** A quote lasts an hour at most, so one from before the backup may have been submitted after it. */
const overlapMs = 3_600_000;

/**
 * Can be interrupted and repeated, also while others pay.
 *
 * @param since time of the backup, epoch ms by the service's clock
 */
export async function reconcile(since: number, deps: ReconcileDeps): Promise<Reconciled> {
  let [read, entered] = [0, 0];
  const uncounted: string[] = [];
  const look = async (txnId: string): Promise<void> => {
    const outcome = await account(txnId, deps);
    if (outcome !== 'known') entered += 1;
    if (outcome === 'uncounted') uncounted.push(txnId);
  };
  const from = since - overlapMs;
  for await (const page of createdSince(deps.service.eachTransactionPage(spanFilter(from)), from)) {
    deps.onRead((read += page.length));
    for (const row of page) if (mayBeOurs(row)) await look(row.txnId);
  }
  for (const payment of await deps.journal.open(deps.scope)) {
    const { txnId, state } = latest(payment);
    if (state === 'quoted' && txnId !== null) await look(txnId);
  }
  return { read, entered, uncounted };
}

/** svcpay's payments always have a reference. Quotes count too, because a list may lag behind submissions. */
const mayBeOurs = ({ txnId, txnState, extRefId, sourceReq }: ListedTransaction): boolean =>
  txnId !== '' &&
  extRefId != null &&
  !movedNothing(txnState) &&
  (sourceReq.method ?? 'servicepay') === 'servicepay';

async function account(
  txnId: string,
  deps: ReconcileDeps,
): Promise<'known' | 'entered' | 'uncounted'> {
  const { journal, scope } = deps;
  const known = await journal.find(scope, txnId);
  const attempt = known?.attempts.find((each) => each.txnId === txnId);
  if (attempt !== undefined && mayHaveMoved(attempt) && attempt.submittedAt !== null)
    return 'known';
  const txn = await readTransaction(deps.service, txnId);
  if (isQuoted(txn.txnState) || movedNothing(txn.txnState) || txn.sourceReq.method !== 'servicepay')
    return 'known';
  const [ref, number] = attemptNamed(txn.extRefId ?? txnId);
  const there = attempt !== undefined ? known : await journal.find(scope, ref);
  const imported = importedAttempt(txn, number, deps);
  const draft = draftOf(
    txn,
    there === undefined || isPlaceOf(there, txn) ? (there?.ref ?? ref) : txnId,
    deps,
  );
  const isNew = await journal.enter(
    draft,
    imported,
    lastDay(deps.now(), deps.service.confirmedNow()),
  );
  if (!isNew) return 'known';
  return imported.approvedTotal === null ? 'uncounted' : 'entered';
}

/** Whether the journal's payment under the reference is this transaction. */
function isPlaceOf(there: Payment, txn: Transaction): boolean {
  if (there.attempts.some(({ txnId }) => txnId === txn.txnId)) return true;
  return !mayHavePaid(there) && echoes(decodeOrder(there.request), txn);
}

const draftOf = (
  txn: Transaction,
  ref: string,
  { newId, scope, account }: ReconcileDeps,
): PaymentDraft => ({
  id: newId(),
  scope,
  account,
  ref,
  ...recordOf(importedOrder(txn)),
  terms: {},
  consent: 'none',
});

/** An invoice contains the whole order. */
function importedOrder(txn: Transaction): Order {
  const order = orderOf(txn);
  const { paymentRequest } = txn.destReq.reqDetails ?? {};
  const isInvoice = txn.destReq.method === 'lightning' && typeof paymentRequest === 'string';
  return isInvoice
    ? lightningOrder(decodeInvoice(paymentRequest), order.body.sourceReq.ccy)
    : { ...order, isImported: true };
}

function importedAttempt(
  txn: Transaction,
  number: number,
  { service }: ReconcileDeps,
): ImportedAttempt {
  const { txnId, txnState } = txn;
  const moved = movedAmounts(txn);
  // Negative amounts would raise the remaining limit.
  const figures =
    moved === undefined || moved.left.value.lt(0) || moved.arrived.value.lt(0) ? undefined : moved;
  return {
    txnId,
    number,
    txnState,
    state: txnState === 'completed' ? 'paid' : isFinal(txnState) ? 'error' : 'in-flight',
    approvedTotal: figures === undefined ? null : fixed(figures.left.value),
    approvedReceives: figures === undefined ? null : fixed(figures.arrived.value),
    spendCcy: figures?.left.ccy ?? null,
    ago: Math.max(service.serviceNow() - submittedAt(txn, service.serviceNow()), 0),
  };
}

/** The latest possible confirmation: the expiry of the quote, at most an hour after its creation. */
function submittedAt({ createdAt, sourceReq: { expiresAt } }: Transaction, now: number): number {
  if (createdAt == null) return now;
  return Math.min(Math.max(expiresAt ?? createdAt, createdAt), createdAt + overlapMs);
}
