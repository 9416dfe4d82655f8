// Decides how a transaction ends: as an injected fault specifies, or as its quote specifies if no
// fault applies.
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
  /** The final state of the transaction. Only faults cause the states `rejected` and `error`. */
  state: v.picklist(['failed', 'rejected', 'error']),
  /** The message in the webhook event. */
  msg: v.string(),
});

export type Ending = v.InferOutput<typeof ending>;

/**
 * The moments at which a transfer can fail: before its start, or before the money arrives. Swaps
 * and receive requests can fail only before the money arrives.
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
  /** The time from the completion of a send until the recipient returns the money, in ms. */
  delay: v.pipe(number, v.transform(Number)),
});

/**
 * The planned endings in the field `extra` of a transaction. `planned` describes how the transfer
 * fails, and `returned` describes how the recipient returns a completed send. If the destination is
 * unreachable, the quote already plans the failure (`planned`).
 */
const noted = v.object({
  planned: v.optional(plannedEnding),
  returned: v.optional(returned),
});

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

/** Returns the receive request, with a different settled amount if a fault changes the amount. */
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

export const settledSourceOf = ({ extra, sourceAmount }: Transaction): Big =>
  v.parse(settled, extra).settledSource ?? sourceAmount;

const named = v.object({
  paymentRequest: v.nullish(v.string()),
  address: v.nullish(v.string()),
  acctNum: v.optional(v.string()),
  bankAcctNum: v.optional(v.string()),
});

/**
 * Returns the invoice, address or account number that the transaction pays, or an empty string for
 * a swap.
 */
function destinationOf({ reqDetails }: SideDetails): string {
  const { paymentRequest, address, acctNum, bankAcctNum } = v.parse(named, reqDetails);
  return paymentRequest ?? address ?? acctNum ?? bankAcctNum ?? '';
}

/**
 * The ending that is planned for the given moment of a transfer, or undefined if no ending is
 * planned for that moment.
 */
export function plannedEndingOf(
  txn: Transaction,
  moment: (typeof moments)[number],
): Ending | undefined {
  const planned = v.parse(noted, txn.extra).planned;
  return planned?.instead === moment ? planned : undefined;
}

/**
 * The planned return of the money of a completed send, or undefined if the recipient keeps the
 * money.
 */
export function plannedReturn(txn: Transaction): (Ending & { readonly delay: number }) | undefined {
  const back = v.parse(noted, txn.extra).returned;
  return back && { ...back, msg: 'returned by the recipient' };
}
