// Completes transactions with the notes, the reference, the recipient and the reason of a failure
// that this home or database knows.
import type { ListedTransaction } from '../../api/types.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { shortened, clip } from '../../formats/text.js';
import type { Attempt, Payment } from '../../store/journal/payment.js';
import type { TxnFact } from '../../store/journal/records.js';
import type { RecipientOf } from '../../terminal/views/transaction-view.js';
import { instructionOf } from '../../wallet/instruction/instruction.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import { actorInWords } from '../../wallet/payment/story.js';
import { payeeOf } from '../../wallet/payout/methods.js';
import type { Context } from '../context.js';
import { failureReasonOf } from '../../api/unspecified.js';
import { Failure, ifAvailable, unlessFailure, type FailureKind } from '../../formats/failure.js';
import { isFinal } from '../../formats/states.js';
import { readPayload } from '../../webhooks/events.js';
import { existsSync } from 'node:fs';
import type { StoredEvent } from '../../store/events/event-store.js';
import { eventsFile } from '../../store/files/home.js';

/** Opens the journal while the service answers. Its next use reports that it cannot be opened. */
export const openMeanwhile = ({ facts }: Pick<Context, 'facts'>): void =>
  void facts().catch(() => undefined);

/** The number of transactions that svcpay looks up in one statement of the database. */
const mostAtOnce = 1000;

/** Looks up transactions. Returns no facts if svcpay cannot read the journal. */
async function factsOf(
  txnIds: readonly string[],
  context: Context,
): Promise<ReadonlyMap<string, TxnFact>> {
  const found = new Map<string, TxnFact>();
  if (txnIds.length === 0) return found;
  try {
    const { scope } = await context.account();
    const facts = await context.facts();
    for (let at = 0; at < txnIds.length; at += mostAtOnce)
      for (const each of await facts.of(scope, txnIds.slice(at, at + mostAtOnce)))
        found.set(...each);
    return found;
  } catch {
    return new Map();
  }
}

/** The facts about transactions that this home or database knows, by transaction id. */
export interface LocalFacts {
  readonly recipientOf: RecipientOf;
  /** Returns the values that match a transaction with an invoice, a reference and an approval. */
  readonly knownOf: (txnId: string) =>
    | {
        readonly destination: string;
        readonly paymentHash: string | null;
        readonly reference: string;
        readonly approvedBy: string | null;
      }
    | undefined;
  /** Returns the notes that people added, joined to one text. */
  readonly notesOf: (txnId: string) => string;
}

/** Looks up transactions. Knows nothing about them if svcpay cannot read the journal. */
export async function localFacts(txnIds: readonly string[], context: Context): Promise<LocalFacts> {
  const facts = await factsOf(txnIds, context);
  return {
    recipientOf(txnId) {
      const payment = facts.get(txnId)?.payment;
      return payment && unlessFailure(() => partyOf(payment));
    },
    knownOf(txnId) {
      const payment = facts.get(txnId)?.payment;
      if (payment === undefined) return undefined;
      const { ref, idempotencyKey, approvedBy } = payment;
      return {
        destination: instructionOf(payment).to,
        paymentHash: /^bolt11:(.*)$/.exec(idempotencyKey ?? '')?.[1] ?? null,
        reference: ref,
        approvedBy: approvedBy && actorInWords(approvedBy),
      };
    },
    notesOf: (txnId) => (facts.get(txnId)?.notes ?? []).map(({ note }) => note).join('; '),
  };
}

export const idsOf = (rows: readonly ListedTransaction[]): string[] =>
  rows.map(({ txnId }) => txnId);

/** Looks up listed transactions, and adds the notes of people to them. */
export async function lookUp<T extends ListedTransaction>(
  listed: readonly T[],
  context: Context,
): Promise<LocalFacts & { readonly rows: readonly T[] }> {
  const facts = await localFacts(idsOf(listed), context);
  const rows = listed.map((txn) => {
    const text = facts.notesOf(txn.txnId);
    const is = txn.note ?? '';
    // The rows of a search already have the notes.
    if (text === '' || is === text || is.endsWith(`; ${text}`)) return txn;
    return { ...txn, note: is === '' ? text : `${is}; ${text}` };
  });
  return { ...facts, rows };
}

/** Looks up the recipients of the payments among the given transactions. */
export const recipientsOf = async (
  transactions: readonly ListedTransaction[],
  context: Context,
): Promise<RecipientOf> => (await localFacts(idsOf(transactions), context)).recipientOf;

/**
 * Describes the recipient in words: the name in the address book or on the account, the invoice's
 * description, or the destination.
 */
export function partyOf(
  payment: Pick<Payment, 'ref' | 'instruction'> & Pick<Attempt, 'request'>,
): string {
  const { verb, to, name, payout } = instructionOf(payment);
  if (verb === 'swap') return `${to} wallet`;
  if (name !== undefined) return name;
  const { body, destination } = decodeOrder(payment.request);
  const { paymentRequest } = body.destReq.reqDetails ?? {};
  const named =
    payout !== undefined
      ? payeeOf(payout).name
      : typeof paymentRequest === 'string' && decodeInvoice(paymentRequest).description;
  return named || shortened(destination);
}

/** Adds the `msg` of the webhook event to a transaction that has no reason itself. */
export async function explained<T extends ListedTransaction>(txn: T, context: Context): Promise<T> {
  if (!hasFailed(txn) || failureReasonOf(txn) !== undefined) return txn;
  const msg = (await eventsOf(txn.txnId, context))
    .filter(({ txnState }) => txnState === txn.txnState)
    .flatMap(({ body }) => readPayload(body)?.msg ?? [])
    .findLast((text) => text.trim() !== '');
  return msg === undefined ? txn : { ...txn, msg };
}

export async function allExplained<T extends ListedTransaction>(
  rows: readonly T[],
  context: Context,
): Promise<readonly T[]> {
  if (!rows.some(hasFailed) || !(await hasInbox(context))) return rows;
  return Promise.all(rows.map((txn) => explained(txn, context)));
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
async function tellReason(txnId: string, text: string, context: Context): Promise<void> {
  const reason = clip(text, 300);
  const { scope, ...account } = await context.account();
  const journal = await account.journal();
  const payment = await journal.find(scope, txnId);
  if (payment === undefined) return;
  const trail = await journal.trails([payment.id]);
  if (trail.some(({ detail }) => detail.reason === reason)) return;
  const claim = await journal.claim(payment.id, context.owner);
  if (claim === undefined) return;
  const steps = [{ step: 'explained' as const, detail: { reason }, ago: 0 }];
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
