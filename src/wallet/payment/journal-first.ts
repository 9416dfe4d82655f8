// What a run that ends early reports of a payment that an earlier run submitted. Without an answer
// from the service, only the journal knows that money may have moved.
import { Failure, type FailureKind } from '../../formats/failure.js';
import type { Journal } from '../../store/journal/journal.js';
import { mayHavePaid, type Payment } from '../../store/journal/payment.js';
import { allUnreadable, unreadable } from './outcomes.js';

/**
 * Finds the payments that a run concerns, in every account of the journal, because the account is
 * unknown before the sign-in.
 */
export type FindPayments = (
  journal: Pick<Journal, 'named' | 'openSince'>,
) => Promise<readonly Payment[]>;

/** The payment with this reference or transaction id; undefined for a run without a name. */
export const named = (name: string | undefined): FindPayments | undefined =>
  name === undefined ? undefined : (journal) => journal.named(name);

/** The unfinished payments that fit. */
export const unfinished =
  (fits: (payment: Payment) => boolean = () => true): FindPayments =>
  async (journal) =>
    (await journal.openSince(0)).filter(fits);

/** The payment of a reference, of a transaction id, or of an unfinished one's beginning. */
export const concernedBy =
  (name: string): FindPayments =>
  async (journal) => {
    const known = await journal.named(name);
    const begins = ({ attempts }: Payment): boolean =>
      attempts.some(({ txnId }) => txnId?.startsWith(name.toLowerCase()));
    return known.length > 0 ? known : unfinished(begins)(journal);
  };

/**
 * Ends that claim that nothing moved, without a look at the payment, such as those of a sign-in in
 * any way that it can fail.
 */
const endsEarly: ReadonlySet<FailureKind> = new Set([
  'unexpected',
  'refused',
  'authentication',
  'not-found',
  'temporary',
  'interrupted',
]);

/** Throws Failure `pending` in place of such an end if an attempt may have moved money. */
export async function journalFirst<T>(
  concerned: FindPayments | undefined,
  journal: () => Promise<Parameters<FindPayments>[0]>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (concerned === undefined || !(error instanceof Failure) || !endsEarly.has(error.kind))
      throw error;
    const [submitted, ...others] = (await concerned(await journal())).filter(mayHavePaid);
    if (submitted === undefined) throw error;
    throw others.length === 0
      ? unreadable(submitted, error)
      : allUnreadable(others.length + 1, error);
  }
}
