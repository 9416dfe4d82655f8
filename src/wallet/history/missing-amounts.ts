// Amounts and fees that the items of the list leave out: those transactions are read one by one.
import type { ListedTransaction } from '../../api/types.js';

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
    const whole = hasFigures(txn) ? Promise.resolve(txn) : read(txn.txnId);
    // Whoever takes it meets its failure; one that is left behind by another's failure is not to end the program.
    whole.catch(() => undefined);
    ahead.push(whole);
    if (ahead.length < width) continue;
    const first = ahead.shift();
    if (first !== undefined) yield await first;
  }
  for (const each of ahead) yield await each;
}

function hasFigures({ txnState, sourceReq, destReq }: ListedTransaction): boolean {
  if (txnState !== 'completed') return true;
  const { servicepayFees, networkFees } = sourceReq;
  return [servicepayFees, networkFees, sourceReq.amtSettled, destReq.amtSettled].every((figure) => figure != null);
}
