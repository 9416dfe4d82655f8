// Reports the payment of a run that ends early, if an earlier run submitted the payment. Without a
// response from the service, only the journal shows that money may have moved.
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
 * Finds the payment with this reference or transaction id. Undefined if the run names no payment.
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
    return named.length > 0 ? named : unfinished(begins)(journal);
  };

/**
 * Kinds of failure that claim that no money moved although the run has not read the payment, such
 * as a failed sign-in.
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
 * Throws Failure `pending` instead of a failure that claims that no money moved, if an attempt may
 * have moved money.
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
