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

/** Before a transfer is sent, and before the money arrives. A swap and a receive know the second alone. */
const moments = ['start', 'settle'] as const;

const fate = v.object({ ...ending.entries, instead: v.picklist(moments) });

export type Fate = v.InferOutput<typeof fate>;

/** A kind notes in `extra.fate` of its quote that the destination is one that nothing reaches. */
const noted = v.object({ fate: v.optional(fate) });

/** How the transaction ends at this moment; undefined when it goes on. Asked once for each moment. */
export function plannedFate(txn: Transaction, moment: (typeof moments)[number]): Ending | undefined {
  const planned = v.parse(noted, txn.extra).fate;
  return planned?.instead === moment ? planned : undefined;
}
