// Completes transactions with the notes, the reference, the recipient and the reason of a failure
// that this home or database knows.
import type { ListedTransaction } from '../../api/types.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { shortened, clip } from '../../formats/text.js';
import { latest, type Payment } from '../../store/journal/payment.js';
import type { TxnFact } from '../../store/journal/records.js';
import type { RecipientOf } from '../../terminal/views/transaction-view.js';
import { instructionOf } from '../../wallet/instruction/instruction.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import { actorInWords } from '../../wallet/payment/story.js';
import { payeeOf } from '../../wallet/payout/methods.js';
import type { Context } from '../context.js';
import { failureReasonOf } from '../../api/unspecified.js';
import { Failure, ifAvailable, type FailureKind } from '../../formats/failure.js';
import { isFinal } from '../../formats/states.js';
import { readPayload } from '../../webhooks/events.js';
import { existsSync } from 'node:fs';
import type { StoredEvent } from '../../store/events/event-store.js';
import { eventsFile } from '../../store/files/home.js';

type FactsOf = (txnId: string) => TxnFact | undefined;

/** Opens the journal while the service answers. Its next use reports that it cannot be opened. */
export const openMeanwhile = ({ facts }: Pick<Context, 'facts'>): void =>
  void facts().catch(() => undefined);

/** Looks up transactions. Returns no facts if svcpay cannot read the journal. */
async function factsOf(txnIds: readonly string[], context: Context): Promise<FactsOf> {
  if (txnIds.length === 0) return () => undefined;
  try {
    const { scope } = await context.account();
    const found = await (await context.facts()).of(scope, txnIds);
    return (txnId) => found.get(txnId);
  } catch {
    return () => undefined;
  }
}

/** Looks up the columns of transactions that this home or database has paid. */
export async function localFacts(txnIds: readonly string[], context: Context): Promise<KnownOf> {
  const factOf = await factsOf(txnIds, context);
  return (txnId) => {
    const { payment } = factOf(txnId) ?? {};
    if (payment === undefined) return undefined;
    const { ref, idempotencyKey, approvedBy } = payment;
    return {
      destination: instructionOf(payment).to,
      paymentHash: /^bolt11:(.*)$/.exec(idempotencyKey ?? '')?.[1] ?? null,
      reference: ref,
      approvedBy: approvedBy && actorInWords(approvedBy),
    };
  };
}

/** Adds the notes of people to the notes that the service has. */
export async function withNotes<T extends ListedTransaction>(
  rows: readonly T[],
  context: Context,
): Promise<readonly T[]> {
  const factOf = await factsOf(
    rows.map(({ txnId }) => txnId),
    context,
  );
  return rows.map((txn) => {
    const added = factOf(txn.txnId)?.notes.map(({ note }) => note) ?? [];
    const text = added.join('; ');
    const is = txn.note ?? '';
    // The rows of a search already have the notes.
    if (text === '' || is === text || is.endsWith(`; ${text}`)) return txn;
    return { ...txn, note: is === '' ? text : `${is}; ${text}` };
  });
}

/** Returns a function that finds the recipients of the sends among the given transactions. */
export const recipientsOf = (
  transactions: readonly ListedTransaction[],
  context: Context,
): Promise<RecipientOf> =>
  partiesOf(
    transactions.flatMap(({ txnId, sourceReq }) =>
      sourceReq.method === 'servicepay' ? txnId : [],
    ),
    context,
  );

/**
 * Looks up the recipients of transactions. Returns no recipients if svcpay cannot read the journal.
 */
export async function partiesOf(txnIds: readonly string[], context: Context): Promise<RecipientOf> {
  if (txnIds.length === 0) return () => undefined;
  try {
    const { scope, ...account } = await context.account();
    const journal = await account.journal();
    const parties = new Map<string, string>();
    for (const txnId of txnIds) {
      const payment = await journal.find(scope, txnId);
      if (payment !== undefined) parties.set(txnId, partyOf(payment));
    }
    return (txnId) => parties.get(txnId);
  } catch {
    return () => undefined;
  }
}

/**
 * Describes the recipient in words: the name in the address book or on the account, the invoice's
 * description, or the destination.
 */
export function partyOf(payment: Payment): string {
  const { verb, to, name, payout } = instructionOf(payment);
  if (verb === 'swap') return `${to} wallet`;
  if (name !== undefined) return name;
  const { body, destination } = decodeOrder(latest(payment).request);
  const { paymentRequest } = body.destReq.reqDetails ?? {};
  if (payout !== undefined) return payeeOf(payout).name || shortened(destination);
  if (typeof paymentRequest !== 'string') return shortened(destination);
  return decodeInvoice(paymentRequest).description || shortened(destination);
}

/** Returns what the journal knows of a transaction. */
export type KnownOf = (txnId: string) => KnownTransaction | undefined;

/** The values that match a transaction with an invoice, a reference and an approval. */
interface KnownTransaction {
  readonly destination: string | null;
  readonly paymentHash: string | null;
  readonly reference: string | null;
  readonly approvedBy: string | null;
}

/** Adds the `msg` of the webhook event to a transaction that has no reason itself. */
export async function explained<T extends ListedTransaction>(txn: T, context: Context): Promise<T> {
  if (!hasFailed(txn) || failureReasonOf(txn) !== undefined) return txn;
  const events = await eventsOf(txn.txnId, context);
  const msg = events
    .filter(({ txnState }) => txnState === txn.txnState)
    .flatMap(({ body }) => readPayload(body)?.msg ?? [])
    .findLast((text) => text.trim() !== '');
  return msg === undefined ? txn : { ...txn, msg };
}

export async function allExplained<T extends ListedTransaction>(
  rows: readonly T[],
  context: Context,
): Promise<readonly T[]> {
  const noted = await withNotes(rows, context);
  if (!noted.some(hasFailed) || !(await hasInbox(context))) return noted;
  return Promise.all(noted.map((txn) => explained(txn, context)));
}

const hasFailed = ({ txnState }: ListedTransaction): boolean =>
  isFinal(txnState) && txnState !== 'completed';

const hasEnded: ReadonlySet<FailureKind> = new Set(['payment-failed', 'outcome-unknown']);

/**
 * Adds the reason to the failure of a payment, or returns the failure unchanged if svcpay cannot
 * read the reason.
 */
export async function withReason(error: unknown, context: Context): Promise<unknown> {
  if (!(error instanceof Failure) || !hasEnded.has(error.kind) || error.txnId === undefined)
    return error;
  try {
    const { client } = await context.account();
    const reason = failureReasonOf(await explained(await client.transaction(error.txnId), context));
    if (reason === undefined) return error;
    await ifAvailable(tellReason(error.txnId, reason, context));
    return error.saying(`${error.why} The service's reason: ${reason.replace(/\.$/, '')}.`);
  } catch {
    return error;
  }
}

/** Adds the reason to the trail of a payment whose steps lack it. */
async function tellReason(txnId: string, reason: string, context: Context): Promise<void> {
  const told = clip(reason, 300);
  const { scope, journal: open } = await context.account();
  const journal = await open();
  const payment = await journal.find(scope, txnId);
  const trail = payment === undefined ? [] : await journal.trails([payment.id]);
  if (payment === undefined || trail.some(({ detail }) => detail.reason === told)) return;
  const claim = await journal.claim(payment.id, context.owner);
  if (claim === undefined) return;
  const steps = [{ step: 'explained' as const, detail: { reason: told }, ago: 0 }];
  await journal.write(claim, { trail: { steps } }).finally(() => journal.release(claim));
}

/** Returns the webhook events of a transaction, or no events if svcpay cannot read the inbox. */
export async function eventsOf(txnId: string, context: Context): Promise<readonly StoredEvent[]> {
  if (!(await hasInbox(context))) return [];
  return context
    .events()
    .then((inbox) => inbox.ofTransaction(txnId))
    .catch(() => []);
}

export const hasInbox = async ({ home, database }: Context): Promise<boolean> =>
  existsSync(eventsFile(home)) || (await database()) !== undefined;
