// Brings a journal that was restored from a back-up up to what the service knows: payments that were let go since are
// entered with their references, with what they pay once only, and with what they spent, so that all of it counts again.
import type { ListedTransaction, Transaction, TransactionFilter } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { isFinal, isQuoted, movedNothing } from '../../formats/states.js';
import type { ImportedAttempt, Journal } from '../../store/journal/journal.js';
import { attemptNamed, latest, mayHaveMoved, mayHavePaid, type Payment, type PaymentDraft } from '../../store/journal/payment.js';
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
  /** Called for each page of the list: how many transactions so far. */
  readonly onRead: (count: number) => void;
}

export interface Reconciled {
  /** Transactions of the list that were looked at. */
  readonly read: number;
  /** Payments that the journal did not know, or not as let go. */
  readonly entered: number;
  /** Transaction ids of those whose cost the service does not tell: no sum counts them. */
  readonly uncounted: readonly string[];
}

/** A quote holds for minutes: what was quoted before the back-up can have been let go after it. */
const overlapMs = 3_600_000;

/**
 * May be interrupted anywhere and run again, also while others pay.
 *
 * @param since epoch ms by the service's clock: the moment of the back-up
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

/** A payment of this program always has a reference. A list may lag behind what is let go, so that quotes are read too. */
const mayBeOurs = ({ txnId, txnState, extRefId, sourceReq }: ListedTransaction): boolean =>
  txnId !== '' && extRefId != null && !movedNothing(txnState) && (sourceReq.method ?? 'servicepay') === 'servicepay';

async function account(txnId: string, deps: ReconcileDeps): Promise<'known' | 'entered' | 'uncounted'> {
  const { journal, scope } = deps;
  const known = await journal.find(scope, txnId);
  const attempt = known?.attempts.find((each) => each.txnId === txnId);
  if (attempt !== undefined && mayHaveMoved(attempt) && attempt.submittedAt !== null) return 'known';
  const txn = await readTransaction(deps.service, txnId);
  if (isQuoted(txn.txnState) || movedNothing(txn.txnState) || txn.sourceReq.method !== 'servicepay') return 'known';
  const [ref, number] = attemptNamed(txn.extRefId ?? txnId);
  const there = attempt !== undefined ? known : await journal.find(scope, ref);
  const imported = importedAttempt(txn, number, deps);
  const draft = draftOf(txn, there === undefined || isPlaceOf(there, txn) ? (there?.ref ?? ref) : txnId, deps);
  const isNew = await journal.enter(draft, imported, lastDay(deps.now(), deps.service.confirmedNow()));
  if (!isNew) return 'known';
  return imported.approvedTotal === null ? 'uncounted' : 'entered';
}

/** Whether the journal's payment is the one that the service tells of; another one keeps its reference. */
function isPlaceOf(there: Payment, txn: Transaction): boolean {
  if (there.attempts.some(({ txnId }) => txnId === txn.txnId)) return true;
  return !mayHavePaid(there) && echoes(decodeOrder(there.request), txn);
}

const draftOf = (txn: Transaction, ref: string, { newId, scope, account }: ReconcileDeps): PaymentDraft => ({
  id: newId(),
  scope,
  account,
  ref,
  ...recordOf(importedOrder(txn)),
  terms: {},
  consent: 'none',
});

/** An invoice says all that was asked. */
function importedOrder(txn: Transaction): Order {
  const order = orderOf(txn);
  const { paymentRequest } = txn.destReq.reqDetails ?? {};
  const isInvoice = txn.destReq.method === 'lightning' && typeof paymentRequest === 'string';
  return isInvoice ? lightningOrder(decodeInvoice(paymentRequest), order.body.sourceReq.ccy) : { ...order, isImported: true };
}

function importedAttempt(txn: Transaction, number: number, { service }: ReconcileDeps): ImportedAttempt {
  const { txnId, txnState } = txn;
  const told = movedAmounts(txn);
  // What is below zero would make room under a limit.
  const figures = told === undefined || told.left.value.lt(0) || told.arrived.value.lt(0) ? undefined : told;
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

/** The latest that it can have been confirmed: when its quote was over, which a service holds for an hour at most. */
function submittedAt({ createdAt, sourceReq: { expiresAt } }: Transaction, now: number): number {
  if (createdAt == null) return now;
  return Math.min(Math.max(expiresAt ?? createdAt, createdAt), createdAt + overlapMs);
}
