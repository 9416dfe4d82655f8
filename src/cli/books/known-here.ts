// Payments that this home submitted and that the service's list does not show: the journal knows them by their ids.
import Big from 'big.js';
import { movedNothing } from '../../formats/states.js';
import type { Intent, Journal } from '../../store/journal/journal.js';
import type { Books } from '../../wallet/books/gather.js';
import type { Candidate } from '../../wallet/books/movement.js';
import type { Context } from '../context.js';

/** More of them than a home has submitted. */
const all = 1_000_000;

/** The payments of an account that may have moved money, newest first. */
export async function submittedHere(journal: Journal, account: string, scope: string): Promise<readonly Intent[]> {
  const known = await journal.latest(account, all);
  return known.filter((intent) => intent.scope === scope && intent.txnId !== null && !movedNothing(intent.txnState ?? ''));
}

/** Empty if the journal cannot be read, because it only explains. */
export async function knownHere({ has }: Books, context: Context): Promise<readonly Candidate[]> {
  try {
    const { id, scope, journal } = await context.account();
    const intents = await submittedHere(await journal(), id, scope);
    return intents.filter(({ txnId }) => !has(txnId ?? '')).flatMap(candidateOf);
  } catch {
    return [];
  }
}

function candidateOf({ txnId, txnState, spendCcy, approvedTotal, openedAt }: Intent): Candidate[] {
  if (txnId === null || spendCcy === null) return [];
  const effect = approvedTotal === null ? null : new Big(approvedTotal).neg();
  return [{ ccy: spendCcy, at: openedAt, txnId, reason: 'not in the list', txnState: txnState ?? 'unknown', effect }];
}
