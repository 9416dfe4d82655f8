// How a transaction ends. Its quote determines the end, or a fault does.
import Big from 'big.js';
import * as v from 'valibot';
import { decimalsOf } from '../../formats/amount.js';
import type { Store } from '../storage/database.js';
import type { Context } from '../world/context.js';
import {
  takePaymentFault,
  takeReturn,
  takeSettledAmount,
  type PaymentOutcome,
} from '../world/faults.js';
import { number } from '../wire/values.js';
import type { SideDetails, Transaction } from './transactions.js';

const ending = v.object({
  /** Only faults cause `rejected` and `error`. */
  state: v.picklist(['failed', 'rejected', 'error']),
  /** The text for the webhook. */
  msg: v.string(),
});

export type Ending = v.InferOutput<typeof ending>;

/**
 * Ends occur before a transfer starts, and before the money arrives. Swaps and receives have only
 * the second moment.
 */
const moments = ['start', 'settle'] as const;

const plannedEnding = v.object({ ...ending.entries, instead: v.picklist(moments) });

export type PlannedEnding = v.InferOutput<typeof plannedEnding>;

const outcomes: Readonly<Record<PaymentOutcome, PlannedEnding>> = {
  'no-route': { state: 'failed', msg: 'no route', instead: 'settle' },
  rejected: { state: 'rejected', msg: 'rejected by the destination', instead: 'settle' },
  error: { state: 'error', msg: 'internal error', instead: 'settle' },
};

const returned = v.object({
  state: v.picklist(['failed', 'rejected']),
  /** Ms after the completion. */
  delay: v.pipe(number, v.transform(Number)),
});

/** A kind sets `extra.planned` of its quote if the destination cannot be reached. */
const noted = v.object({
  planned: v.optional(plannedEnding),
  returned: v.optional(returned),
});

/** Adds the endings that faults inject. */
export function plan({ store, wireNames }: Context, txn: Transaction): Transaction {
  if (txn.sourceMethod !== wireNames.method) return txn;
  const destination = destinationOf(txn.destDetails);
  const outcome = takePaymentFault(store, destination);
  const back = takeReturn(store, destination);
  return withOtherAmount(store, destination, {
    ...txn,
    extra: {
      ...txn.extra,
      ...(outcome !== undefined && { planned: outcomes[outcome] }),
      ...(back !== undefined && { returned: { state: back.state, delay: back.delay } }),
    },
  });
}

/** The amounts of a receive that a fault changes. */
export const settledOtherwise = ({ store }: Context, txn: Transaction): Transaction =>
  withOtherAmount(store, destinationOf(txn.sourceDetails), txn);

function withOtherAmount(store: Store, destination: string, txn: Transaction): Transaction {
  const fault = takeSettledAmount(store, destination);
  if (fault === undefined) return txn;
  const other = (ccy: string, amount: Big): Big =>
    amount.times(fault.factor).round(decimalsOf(ccy), Big.roundDown);
  if (fault.side === 'dest') return { ...txn, arrives: other(txn.destCcy, txn.arrives) };
  const settledSource = other(txn.sourceCcy, txn.sourceAmount);
  const charge = txn.charge.plus(settledSource).minus(txn.sourceAmount);
  return { ...txn, charge, extra: { ...txn.extra, settledSource } };
}

const settled = v.object({ settledSource: v.optional(number) });

/** The settled amount of the source. */
export const settledSourceOf = ({ extra, sourceAmount }: Transaction): Big =>
  v.parse(settled, extra).settledSource ?? sourceAmount;

const named = v.object({
  paymentRequest: v.nullish(v.string()),
  address: v.nullish(v.string()),
  acctNum: v.optional(v.string()),
  bankAcctNum: v.optional(v.string()),
});

/** The paid invoice, address or account number; empty for a swap. */
function destinationOf({ reqDetails }: SideDetails): string {
  const { paymentRequest, address, acctNum, bankAcctNum } = v.parse(named, reqDetails);
  return paymentRequest ?? address ?? acctNum ?? bankAcctNum ?? '';
}

/**
 * How the transaction ends at this moment, or undefined if it continues. Called once per moment.
 */
export function plannedEndingOf(
  txn: Transaction,
  moment: (typeof moments)[number],
): Ending | undefined {
  const planned = v.parse(noted, txn.extra).planned;
  return planned?.instead === moment ? planned : undefined;
}

/** How and when a completed send is returned, or undefined if it stays completed. */
export function plannedReturn(txn: Transaction): (Ending & { readonly delay: number }) | undefined {
  const back = v.parse(noted, txn.extra).returned;
  return back && { ...back, msg: 'returned by the recipient' };
}
