// Amounts, fees, currencies and methods that the items of the list leave out: those transactions are read one by one.
import type { ListedTransaction } from '../../api/types.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import { withKnown } from '../transaction/read-transaction.js';

/** How many are read at a time. */
const width = 8;

/**
 * The same history in the same order, every completed transaction with its amounts and fees. The specification calls
 * the sides of a listed transaction reduced without saying what of: where a figure is missing, `read` is asked for it.
 */
export async function* withFigures(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  read: (txnId: string) => Promise<ListedTransaction>,
): AsyncGenerator<readonly ListedTransaction[], void, void> {
  for await (const page of pages) yield page.every(hasFigures) ? page : await completed(page, read);
}

async function completed(
  page: readonly ListedTransaction[],
  read: (txnId: string) => Promise<ListedTransaction>,
): Promise<readonly ListedTransaction[]> {
  const whole = [...page];
  const left = page.entries();
  const readOn = async (): Promise<void> => {
    for (const [index, txn] of left) if (!hasFigures(txn)) whole[index] = await wholeOf(txn, read);
  };
  await Promise.all(Array.from({ length: width }, readOn));
  return whole;
}

/** One that cannot be read, or asked for by its id, stays as it was listed: it must not end what the others are read for. */
async function wholeOf(txn: ListedTransaction, read: (txnId: string) => Promise<ListedTransaction>): Promise<ListedTransaction> {
  try {
    return withKnown(txn, await read(txn.txnId));
  } catch (error) {
    if (error instanceof Failure && unreadable.has(error.kind)) return txn;
    throw error;
  }
}

const unreadable: ReadonlySet<FailureKind> = new Set(['unexpected', 'not-found', 'usage']);

const isTold = ({ amtSettled, ccy, method }: ListedTransaction['sourceReq']): boolean =>
  amtSettled != null && ccy != null && method != null;

function hasFigures({ txnId, txnState, sourceReq, destReq }: ListedTransaction): boolean {
  if (txnState !== 'completed' || txnId === '') return true;
  return sourceReq.servicepayFees != null && sourceReq.networkFees != null && isTold(sourceReq) && isTold(destReq);
}
