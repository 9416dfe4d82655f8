// Completes transactions with the notes, the reference and the recipient that this home or database
// knows.
import type { ListedTransaction } from '../../api/types.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { shortened } from '../../formats/text.js';
import { latest, type Payment } from '../../store/journal/payment.js';
import type { TxnFact } from '../../store/journal/txn-facts.js';
import type { RecipientOf } from '../../terminal/views/transaction-view.js';
import type { KnownTransaction } from '../../wallet/history/export.js';
import { instructionOf } from '../../wallet/instruction/instruction.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import { actorInWords } from '../../wallet/payment/story.js';
import { payeeOf } from '../../wallet/payout/payee.js';
import type { Context } from '../context.js';
type FactsOf = (txnId: string) => TxnFact | undefined;

/** Opens the journal while the service answers. Its next use reports that it cannot be opened. */
export const openMeanwhile = ({ facts }: Pick<Context, 'facts'>): void =>
  void facts().catch(() => undefined);

/** Looks up transactions. Returns no facts if svcpay cannot read the journal. */
export async function factsOf(txnIds: readonly string[], context: Context): Promise<FactsOf> {
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
export async function localFacts(
  txnIds: readonly string[],
  context: Context,
): Promise<(txnId: string) => KnownTransaction | undefined> {
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
