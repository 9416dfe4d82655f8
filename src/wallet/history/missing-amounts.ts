// Completes listed transactions that lack amounts, fees, currencies, methods or a time. svcpay
// reads each incomplete transaction by its id.
import type { ListedTransaction } from '../../api/types.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import { withEarlierFields } from '../transaction/read.js';

const width = 8;

/**
 * Yields the history in order, with amounts and fees for completed transactions. If a listed
 * transaction lacks an amount or another field that the caller needs, `read` fetches the complete
 * transaction, because the specification does not define which fields a listed transaction may
 * omit.
 */
export async function* withFigures(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  read: (txnId: string) => Promise<ListedTransaction>,
  lacksMore: (txn: ListedTransaction) => boolean = () => false,
): AsyncGenerator<readonly ListedTransaction[], void, void> {
  const isWhole = (txn: ListedTransaction): boolean => hasFigures(txn) && !lacksMore(txn);
  for await (const page of pages)
    yield page.every(isWhole) ? page : await completed(page, isWhole, read);
}

async function completed(
  page: readonly ListedTransaction[],
  isWhole: (txn: ListedTransaction) => boolean,
  read: (txnId: string) => Promise<ListedTransaction>,
): Promise<readonly ListedTransaction[]> {
  const whole = [...page];
  await severalAtOnce(page.entries(), async ([index, txn]) => {
    if (!isWhole(txn)) whole[index] = await wholeOf(txn, read);
  });
  return whole;
}

/** Calls `each` for all items, up to eight at the same time. */
export async function severalAtOnce<T>(
  items: Iterable<T>,
  each: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const shared: Iterable<T> = { [Symbol.iterator]: () => ({ next: () => left.next() }) };
  const work = async (): Promise<void> => {
    for (const item of shared) await each(item);
  };
  await Promise.all(Array.from({ length: width }, work));
}

/**
 * Reads a listed transaction by its id. If the read fails, returns the listed transaction
 * unchanged, so that the export continues.
 */
async function wholeOf(
  txn: ListedTransaction,
  read: (txnId: string) => Promise<ListedTransaction>,
): Promise<ListedTransaction> {
  try {
    return withEarlierFields(txn, await read(txn.txnId));
  } catch (error) {
    if (error instanceof Failure && unreadable.has(error.kind)) return txn;
    throw error;
  }
}

const unreadable: ReadonlySet<FailureKind> = new Set(['unexpected', 'not-found', 'usage']);

const isReported = ({ amtSettled, ccy, method }: ListedTransaction['sourceReq']): boolean =>
  amtSettled != null && ccy != null && method != null;

function hasFigures({ txnId, txnState, sourceReq, destReq }: ListedTransaction): boolean {
  if (txnState !== 'completed' || txnId === '') return true;
  return (
    sourceReq.servicepayFees != null &&
    sourceReq.networkFees != null &&
    isReported(sourceReq) &&
    isReported(destReq)
  );
}
