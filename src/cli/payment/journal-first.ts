// A run under a reference that ends early, such as at its sign-in, reports what the journal knows
// of the reference: an attempt that may have moved money is never "nothing moved".
import { Failure, type FailureKind } from '../../formats/failure.js';
import { mayHavePaid } from '../../store/journal/payment.js';
import { unreadable } from '../../wallet/payment/outcomes.js';
import type { Context } from '../context.js';

/** Ends that report that nothing moved, without a look at the payment. */
const early: ReadonlySet<FailureKind> = new Set(['temporary', 'authentication', 'interrupted']);

/**
 * @param ref as given, or derived from the invoice; the account is not known without a sign-in, so
 * that the reference counts in every account of this journal
 */
export async function journalFirst<T>(
  ref: string | undefined,
  context: Pick<Context, 'journal'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (ref === undefined || !(error instanceof Failure) || !early.has(error.kind)) throw error;
    const journal = await context.journal();
    const known = (await journal.openSince(0)).find((payment) => payment.ref === ref);
    throw known !== undefined && mayHavePaid(known) ? unreadable(known, error) : error;
  }
}
