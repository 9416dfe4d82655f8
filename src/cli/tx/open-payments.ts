// Reads the account's open payments from the journal, and refreshes their states from the service.
import pLimit from 'p-limit';
import type { ServiceClient } from '../../api/client.js';
import type { Transaction } from '../../api/types.js';
import { hasLapsed } from '../../formats/states.js';
import { decisive, isUnfinished, mayHavePaid, type Payment } from '../../store/journal/payment.js';
import type { PendingPayment } from '../../terminal/views/pending-view.js';
import { clockTime } from '../../terminal/time.js';
import { knownAmounts } from '../../wallet/limits/limits.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import { recordRead } from '../../wallet/payment/resolve.js';
import { readTransaction } from '../../wallet/transaction/read.js';
import type { Context } from '../context.js';
import { within } from '../within.js';
import { lastCheckedText } from './offline-list.js';
import { partyOf } from './local-facts.js';

/** The states in which the service reports a confirmed, unfinished transaction. */
export const openStates = ['srcintent', 'srccreated', 'destsent'];

/** Returns the open payments of the journal, oldest first. */
export async function openPayments(context: Context): Promise<readonly Payment[]> {
  const { scope, journal } = await context.account();
  return (await journal()).open(scope);
}

/**
 * An open payment and its current transaction. The transaction is undefined if the payment has no
 * transaction, or if svcpay could not read the transaction.
 */
export interface OpenPayment {
  readonly payment: Payment;
  readonly txn: Transaction | undefined;
}

export interface Refreshed {
  /** The payments that are still open, oldest first. */
  readonly open: readonly OpenPayment[];
  /**
   * The transactions that ended since the last check, and that the journal now records as ended.
   */
  readonly ended: readonly Transaction[];
  /** Whether svcpay could not read a submitted payment. */
  readonly isStale: boolean;
  /** The time of the refresh by the service's clock, in epoch ms. */
  readonly asOf: number;
}

/**
 * The number of concurrent reads of a refresh, kept low because a refresh only serves the display.
 */
const concurrentReads = 4;
const mostReads = 24;
const refreshTimeoutMs = 5_000;

/** Reads the states of the open payments without confirming a payment. */
export async function refreshOpen(context: Context): Promise<Refreshed> {
  const { client: service } = await context.account();
  const payments = await openPayments(context);
  const outcomes = new Map<string, OpenPayment>();
  const submitted = payments.filter(hasTransaction);
  // Reads the service's list of transactions only for many payments, because a single read returns
  // more fields than the list, and a few single reads take no longer.
  if (submitted.length > concurrentReads)
    await within(
      refreshTimeoutMs,
      readListed(submitted, outcomes, service, context).catch(() => undefined),
      context,
    );
  const waiting = submitted
    .filter(({ id }) => !outcomes.has(id))
    .slice(0, mostReads)
    .toReversed();
  const worker = async (): Promise<void> => {
    for (let payment = waiting.pop(); payment !== undefined; payment = waiting.pop()) {
      const read = await readDecisive(payment, context).catch(() => undefined);
      if (read !== undefined) outcomes.set(payment.id, read);
    }
  };
  const workers = Array.from({ length: Math.min(concurrentReads, waiting.length) }, worker);
  if (workers.length > 0) await within(refreshTimeoutMs, Promise.all(workers), context);
  const read = payments.map(
    (payment): OpenPayment => outcomes.get(payment.id) ?? { payment, txn: undefined },
  );
  return {
    open: read.filter((each) => !isOver(each)),
    ended: read.filter(isOver).flatMap(({ txn }) => txn ?? []),
    isStale: submitted.some(({ id }) => !outcomes.has(id)),
    asOf: service.serviceNow(),
  };
}

const hasTransaction = (payment: Payment): boolean => decisive(payment).txnId !== null;

/** The largest number of pages that svcpay reads, enough for a batch of a thousand rows. */
const mostPages = 10;

/**
 * Reads the states of payments from the service's list of transactions, newest first, and records
 * the states.
 */
export async function readListed(
  submitted: readonly Payment[],
  outcomes: Map<string, OpenPayment>,
  service: ServiceClient,
  context: Context,
): Promise<void> {
  const journal = await context.journal();
  const byId = new Map(submitted.map((payment) => [decisive(payment).txnId, payment]));
  const dayMs = 86_400_000;
  const startTime = new Date(
    Math.min(...submitted.map(({ openedAt }) => openedAt)) - dayMs,
  ).toISOString();
  const limit = pLimit(concurrentReads);
  let pages = 0;
  for await (const page of service.eachTransactionPage({ time: 'other', startTime })) {
    await Promise.all(
      page.map(async (txn) => {
        const payment = byId.get(txn.txnId);
        if (payment === undefined) return;
        outcomes.set(payment.id, { payment, txn });
        const read = await limit(() => recordRead(payment, txn, journal, context.owner));
        outcomes.set(payment.id, { payment: read, txn });
      }),
    );
    pages += 1;
    if (pages === mostPages || outcomes.size === submitted.length) return;
  }
}

/** Whether a payment has ended, as the journal records it, or its quote has expired. */
const isOver = ({ payment, txn }: OpenPayment): boolean =>
  !isUnfinished(payment) || (txn !== undefined && hasLapsed(txn.txnState) && !mayHavePaid(payment));

/** Reads the current transaction of a payment, and records its state. */
export async function readDecisive(payment: Payment, context: Context): Promise<OpenPayment> {
  const { client, journal } = await context.account();
  const txn = await readTransaction(client, decisive(payment).txnId ?? '');
  return { payment: await recordRead(payment, txn, await journal(), context.owner), txn };
}

/** Converts an open payment to a row of a list. */
export function pendingPayment({ payment, txn }: OpenPayment, asOf: number): PendingPayment {
  const { ref, kind, openedAt, updatedAt } = payment;
  const { request, state, txnId, txnState, number } = decisive(payment);
  const order = decodeOrder(request);
  const [amount] = knownAmounts(order).toReversed();
  return {
    ref,
    kind,
    destination: order.destination,
    with: partyOf(payment),
    ccy: amount?.ccy ?? null,
    amount: amount?.value ?? null,
    step: state,
    agreed: mayHavePaid(payment),
    txnId,
    txnState: txn?.txnState ?? txnState,
    attempt: number,
    openedAt,
    updatedAt,
    asOf: txn === undefined ? updatedAt : asOf,
    transaction: txn,
  };
}

/**
 * Returns a text such as `as of 14:02:11`. If svcpay could not read some open payments, the
 * returned text contains the time of the last check of these payments.
 */
export function asOfText({ open, isStale, asOf }: Refreshed): string {
  if (!isStale) return `as of ${clockTime(asOf)}`;
  return lastCheckedText(
    open
      .filter(({ payment, txn }) => txn === undefined && hasTransaction(payment))
      .map(({ payment }) => payment),
  );
}
