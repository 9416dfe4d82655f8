// Determines when a transaction settled, and whether it settled in the period of its creation.
import type { ListedTransaction } from '../../api/types.js';
import { methodProperties } from '../../formats/rails.js';

/**
 * Returns the time of the last update of a completed transaction, in epoch ms, or undefined if the
 * transaction has no update time. In most lists, transactions have no update time.
 */
export function settledAt({ txnState, sourceReq, destReq }: ListedTransaction): number | undefined {
  if (txnState !== 'completed') return undefined;
  const latest = Math.max(sourceReq.updatedAt ?? 0, destReq.updatedAt ?? 0);
  return latest === 0 ? undefined : latest;
}

/**
 * Whether svcpay needs the missing settlement time of a transaction, because a period starts or
 * ends between the transaction's creation and its latest possible settlement. The `edges` of the
 * periods are in epoch ms.
 */
export const mayHaveCrossed = (txn: ListedTransaction, edges: readonly number[]): boolean => {
  const { txnState, createdAt } = txn;
  if (txnState !== 'completed' || createdAt == null || settledAt(txn) !== undefined) return false;
  const latest = createdAt + longestMs(txn);
  return edges.some((edge) => createdAt < edge && latest >= edge);
};

const hourMs = 3_600_000;

/**
 * Returns the longest time from creation to settlement, in ms. The longest times from creation to
 * settlement assume that a quote is valid for an hour, and an invoice for a day. On-chain payments
 * and bank transfers may take a month, if a bank asks for documents.
 */
function longestMs({ sourceReq, destReq }: ListedTransaction): number {
  const isQuick = [sourceReq, destReq].every(
    ({ method }) => methodProperties(method)?.pace === 'quick',
  );
  if (!isQuick) return 31 * 24 * hourMs;
  return sourceReq.method === 'servicepay' ? 2 * hourMs : 25 * hourMs;
}

/** The settlement times that this home has stored. A stored time never changes. */
export interface StoredTimes {
  of(txnIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  keep(times: ReadonlyMap<string, number>): Promise<void>;
}

/**
 * Adds the stored settlement time to each listed transaction that has no update time. For a
 * transaction near one of the `edges`, also asks `settled`, and stores the time.
 */
export async function* withStoredTimes(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  stored: StoredTimes,
  edges: readonly number[],
  settled: (txnId: string) => Promise<number | undefined>,
): AsyncGenerator<readonly ListedTransaction[], void, void> {
  for await (const page of pages) {
    const lacking = page.filter(
      (txn) => txn.txnState === 'completed' && settledAt(txn) === undefined,
    );
    const times = await stored.of(lacking.map(({ txnId }) => txnId));
    const found = new Map<string, number>();
    for (const txn of lacking) {
      if (times.has(txn.txnId) || !mayHaveCrossed(txn, edges)) continue;
      const at = await settled(txn.txnId);
      if (at !== undefined) found.set(txn.txnId, at);
    }
    if (found.size > 0) await stored.keep(found);
    yield page.map((txn) => {
      const updatedAt = times.get(txn.txnId) ?? found.get(txn.txnId);
      return updatedAt === undefined ? txn : { ...txn, destReq: { ...txn.destReq, updatedAt } };
    });
  }
}
