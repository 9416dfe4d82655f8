// Payments that this home submitted, by their ids in the journal.
import Big from 'big.js';
import type { Journal } from '../../store/journal/journal.js';
import { mayHaveMoved, type Attempt, type Payment } from '../../store/journal/payment.js';
import type { Books } from '../../wallet/books/gather.js';
import type { Candidate } from '../../wallet/books/movement.js';
import type { Context } from '../context.js';

/** More than a home ever submits. */
const all = 1_000_000;

/** An attempt that may have moved money, with its payment. */
export interface Submitted {
  readonly payment: Payment;
  readonly attempt: Attempt;
}

/** The attempts of an account that may have moved money, newest payment first. */
export async function submittedHere(
  journal: Journal,
  account: string,
  scope: string,
): Promise<readonly Submitted[]> {
  const known = await journal.latest(account, all);
  return known
    .filter((payment) => payment.scope === scope)
    .flatMap((payment) =>
      payment.attempts
        .filter((attempt) => mayHaveMoved(attempt) && attempt.txnId !== null)
        .map((attempt) => ({ payment, attempt })),
    );
}

/** Empty if the journal cannot be read, because it only explains. */
export async function knownHere({ has }: Books, context: Context): Promise<readonly Candidate[]> {
  try {
    const { id, scope, journal } = await context.account();
    const submitted = await submittedHere(await journal(), id, scope);
    return submitted.filter(({ attempt }) => !has(attempt.txnId ?? '')).flatMap(candidateOf);
  } catch {
    return [];
  }
}

function candidateOf({
  payment: { openedAt },
  attempt: { txnId, txnState, spendCcy, approvedTotal },
}: Submitted): Candidate[] {
  if (txnId === null || spendCcy === null) return [];
  const effect = approvedTotal === null ? null : new Big(approvedTotal).neg();
  return [
    {
      ccy: spendCcy,
      at: openedAt,
      txnId,
      reason: 'not in the list',
      txnState: txnState ?? 'unknown',
      effect,
    },
  ];
}
