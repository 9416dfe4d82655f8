// Determines when a transaction settled, and whether it settled in the period of its creation.
import type { ListedTransaction } from '../../api/types.js';
import { methodProperties } from '../../formats/rails.js';

/**
 * The settlement time in epoch ms, from the last update of a completed transaction. Undefined if
 * the transaction does not report an update, as in most lists.
 */
export function settledAt({ txnState, sourceReq, destReq }: ListedTransaction): number | undefined {
  if (txnState !== 'completed') return undefined;
  const latest = Math.max(sourceReq.updatedAt ?? 0, destReq.updatedAt ?? 0);
  return latest === 0 ? undefined : latest;
}

/**
 * Whether the settlement time is missing, and an edge of a period (epoch ms) lies between the
 * creation and the latest possible settlement.
 */
export const mayHaveCrossed = (txn: ListedTransaction, edges: readonly number[]): boolean => {
  const { txnState, createdAt } = txn;
  if (txnState !== 'completed' || createdAt == null || settledAt(txn) !== undefined) return false;
  const latest = createdAt + longestMs(txn);
  return edges.some((edge) => createdAt < edge && latest >= edge);
};

const hourMs = 3_600_000;

/**
 * The longest time from creation to settlement, in ms. A quote is valid for an hour, and an invoice
 * for a day. On-chain and bank transfers take days, at most three business days between holidays.
 */
function longestMs({ sourceReq, destReq }: ListedTransaction): number {
  const isQuick = [sourceReq, destReq].every(
    ({ method }) => methodProperties(method)?.pace === 'quick',
  );
  if (!isQuick) return 8 * 24 * hourMs;
  return sourceReq.method === 'servicepay' ? 2 * hourMs : 25 * hourMs;
}

/**
 * Adds the settlement times that this home has, if the period of a transaction depends on its time.
 */
export async function* withKnownTimes(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  edges: readonly number[],
  settledAt: (txnId: string) => Promise<number | undefined>,
): AsyncGenerator<readonly ListedTransaction[], void, void> {
  for await (const page of pages) {
    const timed: ListedTransaction[] = [];
    for (const txn of page) {
      const updatedAt = mayHaveCrossed(txn, edges) ? await settledAt(txn.txnId) : undefined;
      timed.push(
        updatedAt === undefined ? txn : { ...txn, destReq: { ...txn.destReq, updatedAt } },
      );
    }
    yield timed;
  }
}
