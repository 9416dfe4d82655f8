// Amounts, fees, currencies and methods that the items of the list leave out: those transactions are read one by one.
import type { ListedTransaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { withKnown } from '../payment/read-transaction.js';

/** How many are read at a time. */
const width = 8;

/**
 * The same history in the same order, every completed transaction with its amounts and fees. The specification calls
 * the sides of a listed transaction reduced without saying what of: where a figure is missing, `read` is asked for it.
 */
export async function* withFigures(
  listed: AsyncIterable<ListedTransaction>,
  read: (txnId: string) => Promise<ListedTransaction>,
): AsyncGenerator<ListedTransaction, void, void> {
  const ahead: Promise<ListedTransaction>[] = [];
  for await (const txn of listed) {
    if (ahead.length === 0 && hasFigures(txn)) {
      yield txn;
      continue;
    }
    const whole = hasFigures(txn) ? Promise.resolve(txn) : wholeOf(txn, read);
    // Whoever takes it meets its failure; one that is left behind by another's failure is not to end the program.
    whole.catch(() => undefined);
    ahead.push(whole);
    if (ahead.length < width) continue;
    const first = ahead.shift();
    if (first !== undefined) yield await first;
  }
  for (const each of ahead) yield await each;
}

/** One that cannot be read stays as it was listed: it must not end what the others are read for. */
async function wholeOf(txn: ListedTransaction, read: (txnId: string) => Promise<ListedTransaction>): Promise<ListedTransaction> {
  try {
    return withKnown(txn, await read(txn.txnId));
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'unexpected' || error.kind === 'not-found')) return txn;
    throw error;
  }
}

const isTold = ({ amtSettled, ccy, method }: ListedTransaction['sourceReq']): boolean =>
  amtSettled != null && ccy != null && method != null;

function hasFigures({ txnId, txnState, sourceReq, destReq }: ListedTransaction): boolean {
  if (txnState !== 'completed' || txnId === '') return true;
  return sourceReq.servicepayFees != null && sourceReq.networkFees != null && isTold(sourceReq) && isTold(destReq);
}
