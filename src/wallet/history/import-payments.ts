// Updates a restored journal from the service: imports payments that were submitted since the
// backup, with their references, idempotency keys and spending.
import type { ListedTransaction, Transaction, TransactionFilter } from '../../api/types.js';
import { fixed } from '../../formats/amount.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { unlessFailure, unlessKind } from '../../formats/failure.js';
import { isFinal, isQuoted, movedNothing } from '../../formats/states.js';
import type { ImportedAttempt, Journal } from '../../store/journal/journal.js';
import {
  attemptOf,
  attemptNamed,
  latest,
  mayHaveMoved,
  mayHavePaid,
  type Payment,
  type PaymentDraft,
} from '../../store/journal/payment.js';
import { instructionOfOrder, invoiceOrder, orderOfQuote } from '../instruction/order.js';
import { askedColumns } from '../instruction/instruction.js';
import { spanFilter } from '../../api/pages.js';
import { directionOf, type ReadService, readTransaction } from '../transaction/read.js';
import { decodeOrder, encodeOrder, type Order, echoes, isOfAccount } from '../order/orders.js';
import { movedAmounts, severalAtOnce, createdSince } from './moved-amounts.js';

interface ImportDeps {
  readonly service: ReadService & {
    eachTransactionPage(filter: TransactionFilter): AsyncIterable<readonly ListedTransaction[]>;
    serviceNow(): number;
    datedNow(): number | undefined;
  };
  readonly journal: Journal;
  readonly scope: string;
  readonly account: string;
  readonly now: () => number;
  readonly newId: () => string;
  /** Called after each page of the list with the number of transactions on the page. */
  readonly onRead: (count: number) => void;
}

export interface Imported {
  /** The number of transactions that the service listed. */
  readonly read: number;
  /** The number of imported payments, which the journal lacked or did not record as submitted. */
  readonly entered: number;
  /**
   * The ids of imported transactions that the limits cannot count, because the service does not
   * report their cost.
   */
  readonly uncounted: readonly string[];
  /** The ids of transactions that may be submitted payments, but lack data for an import. */
  readonly unclear: readonly string[];
}

/**
 * The longest lifetime of a quote, in ms. A quote from the hour before the backup may have been
 * submitted after the backup.
 */
const overlapMs = 3_600_000;

/**
 * Imports payments from the service into the journal. A caller can interrupt and repeat
 * `importMissing`, even while other processes pay. A repeated import reads no imported payment
 * again.
 * @param since the time of the backup, epoch ms by the service's clock
 */
export async function importMissing(since: number, deps: ImportDeps): Promise<Imported> {
  const outcomes = new Map<string, Outcome>();
  const importAll = async (txnIds: readonly string[]): Promise<void> => {
    const missing: string[] = [];
    for (const txnId of txnIds) if (!(await isSubmittedHere(txnId, deps))) missing.push(txnId);
    // The service may list a transaction, but not find it by its id.
    const found = await severalAtOnce(missing, (txnId) =>
      unlessKind(['not-found'], readTransaction(deps.service, txnId)),
    );
    for (const [index, txnId] of missing.entries())
      outcomes.set(txnId, await account(txnId, found[index], deps));
  };
  let read = 0;
  const from = since - overlapMs;
  for await (const page of createdSince(deps.service.eachTransactionPage(spanFilter(from)), from)) {
    read += page.length;
    deps.onRead(page.length);
    await importAll(page.filter((row) => mayBeOurs(row, deps.account)).map(({ txnId }) => txnId));
  }
  const open = (await deps.journal.open(deps.scope)).map(latest);
  await importAll(open.flatMap(({ state, txnId }) => (state === 'quoted' && txnId) || []));
  const those = (outcome: Outcome): string[] =>
    [...outcomes].flatMap(([txnId, each]) => (each === outcome ? txnId : []));
  const uncounted = those('uncounted');
  const entered = those('entered').length + uncounted.length;
  return { read, entered, uncounted, unclear: those('unclear') };
}

type Outcome = 'known' | 'entered' | 'uncounted' | 'unclear';

/**
 * Whether a listed transaction may be a payment by svcpay. Every payment by svcpay has a reference.
 * A listed quote may be a payment, because the list may lag behind a submission. A listed
 * transaction without methods may be a payment, because the service may omit fields from its list.
 */
function mayBeOurs(row: ListedTransaction, account: string): boolean {
  const { txnId, txnState, extRefId, sourceReq, destReq } = row;
  const isWhole = sourceReq.method != null && destReq.method != null;
  return (
    txnId !== '' &&
    isOfAccount(row, account) &&
    (extRefId != null || !isWhole) &&
    !movedNothing(txnState) &&
    directionNamed(row) !== 'receive'
  );
}

/** Returns the direction of a transaction, or undefined if a method is missing or unrecognized. */
const directionNamed = (txn: ListedTransaction): 'payment' | 'receive' | undefined =>
  unlessFailure(() => directionOf(txn));

/** Whether the journal contains the transaction as a submitted attempt. */
async function isSubmittedHere(txnId: string, { journal, scope }: ImportDeps): Promise<boolean> {
  const payment = await journal.find(scope, txnId);
  const attempt = attemptOf(payment, txnId);
  return attempt !== undefined && mayHaveMoved(attempt) && attempt.submittedAt !== null;
}

async function account(
  txnId: string,
  txn: Transaction | undefined,
  deps: ImportDeps,
): Promise<Outcome> {
  const { journal, scope } = deps;
  if (txn === undefined) return 'unclear';
  const payment = await journal.find(scope, txnId);
  const attempt = attemptOf(payment, txnId);
  const isOurs = isOfAccount(txn, deps.account) && (txn.extRefId != null || attempt !== undefined);
  if (isQuoted(txn.txnState) || movedNothing(txn.txnState) || !isOurs) return 'known';
  const direction = directionNamed(txn);
  if (direction === 'receive') return 'known';
  const order = direction === undefined ? undefined : importedOrder(txn);
  if (order === undefined) return 'unclear';
  const [ref, number] = attemptNamed(txn.extRefId ?? txnId);
  const there = attempt !== undefined ? payment : await journal.find(scope, ref);
  const isOther = there !== undefined && !isPaymentOf(there, txn, deps.account);
  const imported = importedAttempt(txn, number, deps);
  const draft = draftOf(order, isOther ? txnId : (there?.ref ?? ref), deps);
  const isNew = await journal.enter(draft, imported, deps.service.datedNow());
  return isNew ? (imported.approvedTotal === null ? 'uncounted' : 'entered') : 'known';
}

/**
 * Whether a payment in the journal has this transaction, or is an unsubmitted payment with the same
 * order.
 */
function isPaymentOf(there: Payment, txn: Transaction, account: string): boolean {
  if (attemptOf(there, txn.txnId) !== undefined) return true;
  return !mayHavePaid(there) && echoes(decodeOrder(latest(there).request), txn, account);
}

const draftOf = (
  order: Order,
  ref: string,
  { newId, scope, account }: ImportDeps,
): PaymentDraft => ({
  id: newId(),
  scope,
  account,
  ref,
  ...askedColumns(instructionOfOrder(order, order.isImported === true), order.kind),
  request: encodeOrder(order),
  terms: {},
});

/**
 * Returns the order of an imported transaction, or undefined if the transaction lacks a currency or
 * a method. For an invoice payment, svcpay restores the complete order from the invoice.
 */
const importedOrder = (txn: Transaction): Order | undefined =>
  unlessFailure(() => {
    const order = orderOfQuote(txn);
    const { paymentRequest } = txn.destReq.reqDetails ?? {};
    return txn.destReq.method === 'lightning' && typeof paymentRequest === 'string'
      ? invoiceOrder(decodeInvoice(paymentRequest), order.body.sourceReq.ccy)
      : { ...order, isImported: true };
  });

function importedAttempt(
  txn: Transaction,
  number: number,
  { service }: ImportDeps,
): ImportedAttempt {
  const { txnId, txnState } = txn;
  const moved = movedAmounts(txn);
  // Ignores negative amounts, because a negative amount would raise the remaining daily limit.
  const isCounted = moved !== undefined && moved.left.value.gte(0) && moved.arrived.value.gte(0);
  const now = service.serviceNow();
  return {
    txnId,
    number,
    txnState,
    state: txnState === 'completed' ? 'paid' : isFinal(txnState) ? 'error' : 'in-flight',
    approvedTotal: isCounted ? fixed(moved.left.value) : null,
    approvedReceives: isCounted ? fixed(moved.arrived.value) : null,
    spendCcy: isCounted ? moved.left.ccy : null,
    ago: Math.max(now - submittedAt(txn, now), 0),
  };
}

/**
 * Returns the latest possible time of the confirmation: the expiry of the quote, but at most an
 * hour after the quote's creation.
 */
function submittedAt({ createdAt, sourceReq: { expiresAt } }: Transaction, now: number): number {
  if (createdAt == null) return now;
  return Math.min(Math.max(expiresAt ?? createdAt, createdAt), createdAt + overlapMs);
}
