// How and when a transaction fails: known from its quote, or injected by a fault.
import * as v from 'valibot';
import type { Context } from '../world/context.js';
import { takePaymentFault, type PaymentOutcome } from '../world/faults.js';
import type { Transaction } from './transactions.js';

const ending = v.object({
  /** `rejected` and `error` only by fault injection. */
  state: v.picklist(['failed', 'rejected', 'error']),
  /** Reported to the webhook. */
  msg: v.string(),
});

export type Ending = v.InferOutput<typeof ending>;

/** Before a transfer starts, and before the money arrives. Swaps and receives have only the second. */
const moments = ['start', 'settle'] as const;

const fate = v.object({ ...ending.entries, instead: v.picklist(moments) });

export type Fate = v.InferOutput<typeof fate>;

const outcomes: Readonly<Record<PaymentOutcome, Fate>> = {
  'no-route': { state: 'failed', msg: 'no route', instead: 'settle' },
  rejected: { state: 'rejected', msg: 'rejected by the destination', instead: 'settle' },
  error: { state: 'error', msg: 'internal error', instead: 'settle' },
};

/** A kind sets `extra.fate` of its quote if the destination cannot be reached. */
const noted = v.object({ fate: v.optional(fate) });

/** Adds the fate that a fault injects. */
export function plan({ store, maker }: Context, txn: Transaction): Transaction {
  if (txn.sourceMethod !== maker.method) return txn;
  const outcome = takePaymentFault(store, destinationOf(txn));
  return outcome === undefined ? txn : { ...txn, extra: { ...txn.extra, fate: outcomes[outcome] } };
}

const named = v.object({
  paymentRequest: v.optional(v.string()),
  address: v.optional(v.string()),
  acctNum: v.optional(v.string()),
  bankAcctNum: v.optional(v.string()),
});

/** The paid invoice, address or account number; empty for a swap. */
function destinationOf({ destDetails }: Transaction): string {
  const { paymentRequest, address, acctNum, bankAcctNum } = v.parse(named, destDetails.reqDetails);
  return paymentRequest ?? address ?? acctNum ?? bankAcctNum ?? '';
}

/** How the transaction ends at this moment; undefined if it continues. Called once per moment. */
export function plannedFate(
  txn: Transaction,
  moment: (typeof moments)[number],
): Ending | undefined {
  const planned = v.parse(noted, txn.extra).fate;
  return planned?.instead === moment ? planned : undefined;
}
