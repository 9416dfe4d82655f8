// For a run that ends before it has read its payment, reports whether an earlier run submitted the
// payment. If the service does not respond, only the journal shows that money may have moved.
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

/**
 * Returns a function that searches for the payment with this reference or transaction id, or
 * undefined if the run names no payment.
 */
export const named = (name: string | undefined): FindPayments | undefined =>
  name === undefined ? undefined : (journal) => journal.named(name);

/** Finds the unfinished payments that `fits` accepts. */
export const unfinished =
  (fits: (payment: Payment) => boolean = () => true): FindPayments =>
  async (journal) =>
    (await journal.openSince(0)).filter(fits);

/**
 * Finds the payment with a reference, a transaction id, or the beginning of the id of an unfinished
 * payment.
 */
export const concernedBy =
  (name: string): FindPayments =>
  async (journal) => {
    const named = await journal.named(name);
    const begins = ({ attempts }: Payment): boolean =>
      attempts.some(({ txnId }) => txnId?.startsWith(name.toLowerCase()));
    return named.length > 0 || name.length < 6 ? named : unfinished(begins)(journal);
  };

/**
 * Kinds of failure that report that no money moved, and that can end a run before it has read the
 * payment, for example because the sign-in failed.
 */
const endsEarly: ReadonlySet<FailureKind> = new Set([
  'unexpected',
  'refused',
  'authentication',
  'not-found',
  'temporary',
  'interrupted',
]);

/**
 * If an attempt may have moved money, throws Failure `pending` instead of a failure that reports
 * that no money moved.
 */
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
