// Counts the unfinished payments of a journal, across all accounts, for monitoring. Pure.
import { status, type Payment } from './payment.js';

/**
 * The status of a counted payment. `unattended` means that the payment was submitted and that its
 * process died or ended before the service acknowledged the payment, so the outcome is unknown.
 */
export const unfinishedStatuses = ['open', 'in-flight', 'unattended', 'unknown', 'error'] as const;

export interface UnfinishedPayments {
  readonly status: (typeof unfinishedStatuses)[number];
  /**
   * The time since the payment was submitted, or since it was opened if its status is `open`. The
   * four age groups are up to a minute, up to 10 minutes, up to an hour, and longer.
   */
  readonly age: '1m' | '10m' | '1h' | 'older';
  readonly count: number;
  /**
   * The time at which the oldest counted payment was submitted, or opened if its status is `open`,
   * in epoch ms by the journal's clock.
   */
  readonly oldest: number;
  readonly oldestSeconds: number;
}

export interface DrivenPayment {
  readonly payment: Payment;
  /** The process that works on the payment, or that left the payment unfinished. */
  readonly owner: string | null;
  /** Whether the owner is still working on the payment. */
  readonly isHeld: boolean;
}

/**
 * Counts payments by status and age. Within each status, the age group with the oldest payment
 * comes first.
 * @param now the journal's clock
 */
export function unfinishedOf(
  payments: readonly DrivenPayment[],
  now: number,
): readonly UnfinishedPayments[] {
  const groups = new Map<string, UnfinishedPayments>();
  for (const driven of payments) {
    const is = statusOf(driven);
    if (is === undefined) continue;
    const since = sinceOf(driven.payment, is);
    const age = ageOf(now - since);
    const { count = 0, oldest = since } = groups.get(`${is} ${age}`) ?? {};
    const first = Math.min(oldest, since);
    groups.set(`${is} ${age}`, {
      status: is,
      age,
      count: count + 1,
      oldest: first,
      oldestSeconds: Math.max(0, now - first) / 1_000,
    });
  }
  return [...groups.values()].toSorted((a, b) =>
    a.status === b.status ? a.oldest - b.oldest : a.status < b.status ? -1 : 1,
  );
}

function statusOf({ payment, owner, isHeld }: DrivenPayment) {
  const is = status(payment);
  if (is !== 'in-flight') return unfinishedStatuses.find((each) => each === is);
  const isAcknowledged = payment.attempts.every(({ state }) => state !== 'submitting');
  return isHeld || (isAcknowledged && owner === null) ? is : 'unattended';
}

/**
 * Returns the time at which svcpay submitted the oldest unfinished attempt. If no unfinished
 * attempt was submitted, returns the time at which the payment was opened. A reopened payment may
 * have been submitted much later than it was opened.
 */
function sinceOf({ attempts, openedAt }: Payment, is: UnfinishedPayments['status']): number {
  const isThese = (state: string): boolean =>
    is === 'unknown' || is === 'error' ? state === is : ['submitting', 'in-flight'].includes(state);
  const times = attempts.flatMap(({ state, submittedAt }) =>
    isThese(state) && submittedAt !== null ? submittedAt : [],
  );
  return times.length === 0 ? openedAt : Math.min(...times);
}

const ageOf = (ms: number): UnfinishedPayments['age'] =>
  ms < 60_000 ? '1m' : ms < 600_000 ? '10m' : ms < 3_600_000 ? '1h' : 'older';
