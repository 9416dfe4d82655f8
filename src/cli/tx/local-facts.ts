// Completes transactions with what this home or database knows of them.
import type { ListedTransaction } from '../../api/types.js';
import type { TxnFact } from '../../store/journal/txn-facts.js';
import type { KnownTransaction } from '../../wallet/history/export.js';
import { actorInWords } from '../../wallet/payment/story.js';
import { instructionOf } from '../../wallet/instruction/instruction.js';
import type { Context } from '../context.js';

type FactsOf = (txnId: string) => TxnFact | undefined;

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
