// The open payments of the chosen service and account: what the journal has, brought up to date from the service.
import type { ListedTransaction, Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { messageOf } from '../../formats/unknown.js';
import { hasLapsed, isFinal } from '../../formats/states.js';
import type { Intent } from '../../store/journal/journal.js';
import type { PendingPayment } from '../../terminal/views/intent-view.js';
import { clockTime } from '../../terminal/time.js';
import { knownAmounts } from '../../wallet/limits/limits.js';
import { decodeOrder } from '../../wallet/payment/order-record.js';
import type { PaymentService } from '../../wallet/payment/contract.js';
import { noteSeen } from '../../wallet/payment/note-seen.js';
import { resume } from '../../wallet/payment/payment.js';
import { isLetGo } from '../../wallet/payment/run.js';
import { readTransaction } from '../../wallet/transaction/read-transaction.js';
import type { Context } from '../context.js';
import { paymentDeps } from '../payment/payment-flow.js';
import { within } from '../within.js';
import { lastCheckedText } from './offline-list.js';
import { partyOf } from './parties.js';

/** Oldest first. */
export async function openIntents(context: Context): Promise<readonly Intent[]> {
  const { scope, journal } = await context.account();
  return (await journal()).open(scope);
}

/** A payment, and its transaction as the service told it just now; undefined where it has none or could not be read. */
export interface OpenPayment {
  readonly intent: Intent;
  readonly txn: Transaction | undefined;
}

export interface Refreshed {
  /** Still open, oldest first. */
  readonly open: readonly OpenPayment[];
  /** Found to be over; the journal has it now. */
  readonly ended: readonly Transaction[];
  /** Why some could not be read; undefined when all that have a transaction were. */
  readonly failure: Failure | undefined;
  /** The service's clock, epoch ms. */
  readonly asOf: number;
}

/** How many are read at once, how many at most, and how long they are awaited: the answer only decorates a screen. */
const atOnce = 4;
const atMost = 24;
const refreshTimeoutMs = 5_000;

/** Reads what became of the open payments. Nothing is confirmed, and nothing is asked of anybody. */
export async function refreshOpen(context: Context): Promise<Refreshed> {
  const { client: service } = await context.account();
  const intents = await openIntents(context);
  const outcomes = new Map<string, ListedTransaction | Failure>();
  const submitted = intents.filter(({ txnId }) => txnId !== null);
  // A single read shows more than a row of the list, and of a few it takes no longer.
  if (submitted.length > atOnce) await within(refreshTimeoutMs, readListed(submitted, outcomes, context).catch(failureOf), context);
  const waiting = submitted.filter(({ id }) => !outcomes.has(id)).slice(0, atMost).toReversed();
  const worker = async (): Promise<void> => {
    for (let intent = waiting.pop(); intent !== undefined; intent = waiting.pop()) {
      outcomes.set(intent.id, await lookAt(intent, context).catch(failureOf));
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, waiting.length) }, worker);
  if (workers.length > 0) await within(refreshTimeoutMs, Promise.all(workers), context);
  const payments = intents.map((intent) => ({ intent, outcome: outcomes.get(intent.id) }));
  const failures = payments.flatMap(({ intent, outcome }) =>
    outcome instanceof Failure ? outcome : outcome === undefined && intent.txnId !== null ? notAsked() : [],
  );
  const read = payments.map(({ intent, outcome }) => ({ intent, txn: outcome instanceof Failure ? undefined : outcome }));
  return {
    open: read.filter((payment) => !isOver(payment)),
    ended: read.filter(isOver).flatMap(({ txn }) => txn ?? []),
    failure: failures[0],
    asOf: service.serviceNow(),
  };
}

/** Enough for a batch of a thousand rows. */
const mostPages = 10;

/** Takes the states of the payments from the service's list and writes their ends to the journal. */
async function readListed(
  submitted: readonly Intent[],
  outcomes: Map<string, ListedTransaction | Failure>,
  context: Context,
): Promise<void> {
  const service = await context.client();
  const journal = await context.journal();
  const byId = new Map(submitted.map((intent) => [intent.txnId, intent]));
  const dayMs = 86_400_000;
  const startTime = new Date(Math.min(...submitted.map(({ openedAt }) => openedAt)) - dayMs).toISOString();
  let pages = 0;
  for await (const page of service.eachTransactionPage({ time: 'other', startTime })) {
    for (const txn of page) {
      const intent = byId.get(txn.txnId);
      if (intent === undefined) continue;
      outcomes.set(intent.id, txn);
      await noteSeen(intent, txn, journal, context.owner);
    }
    pages += 1;
    if (pages === mostPages || outcomes.size === submitted.length) return;
  }
}

/** That a quote lapsed proves nothing of a payment that was let go: it stays open, and in doubt. */
const isOver = ({ intent, txn }: OpenPayment): boolean =>
  txn !== undefined && isFinal(txn.txnState) && !(isLetGo(intent) && hasLapsed(txn.txnState));

const notAsked = (): Failure => new Failure('temporary', 'The service did not answer in time.');

const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure('unexpected', messageOf(error), { cause: error });

/** The transaction as it is now, which the journal learns. */
export async function lookAt(intent: Intent, context: Context): Promise<Transaction> {
  const txn = await readTransaction((await context.account()).client, intent.txnId ?? '');
  await recordRead(intent, txn, context);
  return txn;
}

/**
 * Lets the journal know what was read. A payment that the service has taken is resumed, without waiting and without another
 * read; where the confirmation may not have been sent, nothing else is done.
 */
export async function recordRead(intent: Intent, txn: Transaction, context: Context): Promise<void> {
  if (intent.step !== 'confirmed' || !isFinal(txn.txnState)) {
    return noteSeen(intent, txn, await (await context.account()).journal(), context.owner);
  }
  const deps = await paymentDeps(context, { on: () => undefined, approve: () => Promise.resolve(false) });
  const options = { wait: false, retry: false } as const;
  await resume(intent, options, { ...deps, service: alreadyRead(txn, deps.service) }).catch((error: unknown) => {
    // The end of the payment is what had to be written. Another process at work on it writes that itself.
    if (!(error instanceof Failure)) throw error;
  });
}

/** The service, which need not be asked for this transaction again. */
const alreadyRead = (txn: Transaction, service: PaymentService): PaymentService => ({
  transaction: async (txnId) => (txnId === txn.txnId ? txn : service.transaction(txnId)),
  transactions: (filter) => service.transactions(filter),
  eachTransaction: (filter) => service.eachTransaction(filter),
  createTransaction: (body) => service.createTransaction(body),
  confirmTransaction: (txnId) => service.confirmTransaction(txnId),
  cancelTransaction: (txnId) => service.cancelTransaction(txnId),
  wallets: () => service.wallets(),
  rates: () => service.rates(),
  serviceNow: () => service.serviceNow(),
});

/** As a list shows it. */
export function pendingPayment({ intent, txn }: OpenPayment, asOf: number): PendingPayment {
  const { ref, kind, step, consent, txnId, txnState, attempt, openedAt, updatedAt } = intent;
  const order = decodeOrder(intent.request);
  const [amount] = knownAmounts(order).toReversed();
  return {
    ref,
    kind,
    destination: order.destination,
    with: partyOf(intent),
    ccy: amount?.ccy ?? null,
    amount: amount?.value ?? null,
    step,
    agreed: consent !== 'none',
    txnId,
    txnState: txn?.txnState ?? txnState,
    attempt,
    openedAt,
    updatedAt,
    asOf: txn === undefined ? updatedAt : asOf,
    transaction: txn,
  };
}

/** `as of 14:02:11`; if the service did not answer for all of them, when they were last checked. */
export function asOfText({ open, failure, asOf }: Refreshed): string {
  if (failure === undefined) return `as of ${clockTime(asOf)}`;
  return lastCheckedText(open.filter(({ intent, txn }) => txn === undefined && intent.txnId !== null).map(({ intent }) => intent));
}
