// How a transaction ends badly when it is not to complete, and when: known from its quote, or planned by a fault.
import * as v from 'valibot';
import type { Transaction } from './transactions.js';

const ending = v.object({
  /** `rejected` and `error` come about by fault injection only. */
  state: v.picklist(['failed', 'rejected', 'error']),
  /** Told to the webhook. */
  msg: v.string(),
});

export type Ending = v.InferOutput<typeof ending>;

const fate = v.object({
  ...ending.entries,
  /** Instead of being sent, or instead of arriving. A swap and a receive know the second alone. */
  instead: v.picklist(['start', 'settle']),
});

export type Fate = v.InferOutput<typeof fate>;

/** A kind notes in `extra.fate` of its quote that the destination is one that nothing reaches. */
const noted = v.object({ fate: v.optional(fate) });

/** The fate of a transaction, undefined when it is to go well. Asked anew before each step. */
export function plannedFate(txn: Transaction): Fate | undefined {
  return v.parse(noted, txn.extra).fate;
}
