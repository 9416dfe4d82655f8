// Reads the payments of this home: from the journal, and their current state from the service.
import Big from 'big.js';
import pLimit from 'p-limit';
import type { ServiceClient } from '../../api/client.js';
import { detailsOf } from '../../api/reading.js';
import type { CreateSide, ListedTransaction, RequestSide, Transaction } from '../../api/types.js';
import { fixed, readDecimal } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';
import {
  attemptOf,
  decisive,
  isUnfinished,
  latest,
  mayHaveMoved,
  mayHavePaid,
  type Payment,
} from '../../store/journal/payment.js';
import { receipt } from '../../terminal/cards/receipt.js';
import { clockTime, dateTime } from '../../terminal/time.js';
import type { PendingPayment } from '../../terminal/views/transaction-view.js';
import { sendWord } from '../../terminal/cards/steps.js';
import { knownAmounts } from '../../wallet/limits/limits.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import { endOf, resolutionText } from '../../wallet/payment/outcomes.js';
import { recordRead } from '../../wallet/payment/record.js';
import { readTransaction } from '../../wallet/transaction/read.js';
import type { Context } from '../context.js';
import { within } from '../process.js';
import { eventsOf, openMeanwhile, partyOf } from './local-facts.js';
import { resolveId } from './resolve-id.js';

/**
 * Returns the payments of the journal that have a transaction, newest first, or no payments if
 * svcpay cannot read the journal.
 */
export async function offlineList(atMost: number, context: Context): Promise<readonly Payment[]> {
  try {
    const { id, scope, ...account } = await context.account();
    const journal = await account.journal();
    const submitted = await journal.latest(id, atMost);
    const payments = new Map(
      [...submitted, ...(await journal.open(scope))].map((payment) => [payment.id, payment]),
    );
    return [...payments.values()]
      .filter((payment) => payment.scope === scope && hasTransaction(payment))
      .toSorted((a, b) => b.openedAt - a.openedAt)
      .slice(0, atMost);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/**
 * Converts a payment to a transaction, with the fields that the order and the approved quote
 * contain.
 */
export function asTransaction(payment: Payment): ListedTransaction {
  const { ref, openedAt, updatedAt } = payment;
  const { request, txnId, txnState, approvedTotal, approvedReceives } = decisive(payment);
  const { body, receives } = decodeOrder(request);
  const { sourceReq, destReq, note } = body;
  return {
    txnId: txnId ?? '',
    txnState: txnState ?? 'quoted',
    extRefId: ref,
    note,
    createdAt: openedAt,
    sourceReq: { ...sideOf(sourceReq, sourceReq.amtRequested ?? approvedTotal), updatedAt },
    destReq: sideOf(destReq, receives?.value ?? approvedReceives ?? destReq.amtRequested),
  };
}

const sideOf = (
  { ccy, method, reqDetails }: CreateSide,
  amount: Big | string | number | null | undefined,
): RequestSide => ({
  ccy,
  method,
  reqDetails: detailsOf(reqDetails),
  amtRequested: amount == null ? undefined : readDecimal(fixed(new Big(amount))),
});

/**
 * Returns a text such as `last checked 2026-11-21 14:02:11`, with the time of the oldest check of
 * an unfinished payment or, if all payments are finished, of any payment.
 */
export function lastCheckedText(payments: readonly Payment[]): string {
  const open = payments.filter(isUnfinished);
  const checked = (open.length === 0 ? payments : open).map(({ updatedAt }) => updatedAt);
  return `last checked ${dateTime(Math.min(...checked))}`;
}

/** Whether a failure means that svcpay could not reach the service. */
export const isNotReached = (error: unknown): error is Failure =>
  error instanceof Failure && error.kind === 'temporary';

/**
 * Returns the payment of a transaction, or undefined if svcpay cannot read the journal, and with
 * `--account`, because the journal contains only payments of the account of the API key.
 */
export async function paymentOf(txnId: string, context: Context): Promise<Payment | undefined> {
  if (context.settings.accountId !== undefined) return undefined;
  try {
    const { scope, journal } = await context.account();
    return await (await journal()).find(scope, txnId);
  } catch {
    return undefined;
  }
}

/** A transaction and its payment, which is undefined if this home did not make the transaction. */
interface ReadDetails {
  readonly txn: Transaction;
  readonly payment: Payment | undefined;
}

/**
 * Reads the named transaction, and records its state. If the service does not answer, throws a
 * Failure with the last known state of the transaction.
 * @param submitted the kind of the failure for a payment that svcpay has submitted, or may have
 * submitted; for all other payments, the kind is `temporary`
 */
export async function readDetails(
  name: string,
  context: Context,
  submitted: 'temporary' | 'pending' = 'temporary',
): Promise<ReadDetails> {
  const { client } = await context.account();
  const txnId = await resolveId(name, context);
  try {
    const reading = client.transaction(txnId);
    openMeanwhile(context);
    const txn = await reading;
    return { txn, payment: await recordState(txn, context) };
  } catch (error) {
    throw isNotReached(error) ? await lastSeen(txnId, error, submitted, context) : error;
  }
}

/** Records the state of a transaction in its payment, and returns the payment. */
export async function recordState(
  txn: Transaction,
  context: Context,
): Promise<Payment | undefined> {
  const payment = await paymentOf(txn.txnId, context);
  if (payment === undefined || isQuoted(txn.txnState)) return payment;
  const journal = await context.journal();
  return recordRead(payment, txn, journal, context.owner).catch(() => payment);
}

/** The failure for a transaction that ended unpaid. Shows a recorded answer that it is paid. */
export function endedFailure(
  txn: Transaction,
  payment: Payment | undefined,
  { out }: Pick<Context, 'out'>,
): Failure | undefined {
  const { failure, recorded } = endOf(payment, txn);
  if (failure === undefined && recorded !== undefined) out.say(resolutionText(recorded));
  return failure;
}

/**
 * Shows the last known state of a payment of this home, and when svcpay read that state. Returns a
 * failure whose message contains the last known state of the payment.
 */
async function lastSeen(
  txnId: string,
  failure: Failure,
  submitted: 'temporary' | 'pending',
  context: Context,
): Promise<Failure> {
  const payment = await paymentOf(txnId, context);
  const attempt = payment && latest(payment);
  if (payment === undefined || attempt?.txnId !== txnId || attempt.txnState === null)
    return failure;
  const { txnState } = attempt;
  const seen = lastCheckedText([payment]);
  context.out.card((canvas) =>
    receipt(asTransaction(payment), { now: context.now(), seen }, canvas),
  );
  const why = `${failure.why} The transaction was last seen as ${sendWord(txnState)} (${seen}).`;
  const known = { ref: payment.ref, txnId, txnState };
  if (submitted === 'temporary' || !mayHaveMoved(attempt))
    return failure.saying(why, { kind: 'temporary', ...known });
  const next = { do: 'resume', id: txnId } as const;
  return failure.saying(why, { kind: 'pending', money: 'Outcome unknown', next, ...known });
}

/** Returns the times of a transaction's state changes, from the journal and the webhook inbox. */
export async function stateTimes(
  txnId: string,
  context: Context,
): Promise<ReadonlyMap<string, number>> {
  const [payment, events] = await Promise.all([
    paymentOf(txnId, context),
    eventsOf(txnId, context),
  ]);
  const attempt = attemptOf(payment, txnId);
  const trail = payment === undefined ? [] : await (await context.journal()).trails([payment.id]);
  const read = trail
    .filter((step) => step.attempt === attempt?.number)
    .map(({ detail: { service, txnState } }) => [txnState, service] as const);
  const reported = events.map(({ txnState, updatedAt }) => [txnState, updatedAt] as const);
  return new Map(
    [...read.toReversed(), ...reported].flatMap(([state, at]) =>
      state == null || at == null ? [] : [[state, at]],
    ),
  );
}

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

interface Refreshed {
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
 * The number of concurrent reads, kept low because they only serve the display. For more payments,
 * svcpay first reads the service's list of transactions: a single read returns more fields than the
 * list, and a few single reads take no longer.
 */
export const concurrentReads = 4;
const mostReads = 24;
const refreshTimeoutMs = 5_000;

/** Reads the states of the open payments without confirming a payment. */
export async function refreshOpen(context: Context): Promise<Refreshed> {
  const { client: service } = await context.account();
  const payments = await openPayments(context);
  const outcomes = new Map<string, OpenPayment>();
  const submitted = payments.filter(hasTransaction);
  const reading = async (): Promise<void> => {
    if (submitted.length > concurrentReads)
      await readListed(submitted, outcomes, service, context).catch(() => undefined);
    const others = submitted.filter(({ id }) => !outcomes.has(id)).slice(0, mostReads);
    await pLimit(concurrentReads).map(others, async (payment) => {
      const read = await readDecisive(payment, context).catch(() => undefined);
      if (read !== undefined) outcomes.set(payment.id, read);
    });
  };
  await within(refreshTimeoutMs, reading(), context);
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
const dayMs = 86_400_000;

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
  const first = Math.min(...submitted.map(({ openedAt }) => openedAt));
  const startTime = new Date(first - dayMs).toISOString();
  const limit = pLimit(concurrentReads);
  let pages = 0;
  for await (const page of service.eachTransactionPage({ time: 'other', startTime })) {
    await limit.map(page, async (txn) => {
      const payment = byId.get(txn.txnId);
      if (payment === undefined) return;
      outcomes.set(payment.id, { payment, txn });
      const read = await recordRead(payment, txn, journal, context.owner);
      outcomes.set(payment.id, { payment: read, txn });
    });
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
    with: partyOf({ ...payment, request }),
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
  const unread = open.filter(({ payment, txn }) => txn === undefined && hasTransaction(payment));
  return lastCheckedText(unread.map(({ payment }) => payment));
}
