// Moves transactions between states and moves their money, to the ending that an injected fault or
// the quote plans.
import Big from 'big.js';
import * as v from 'valibot';
import { decimalsOf } from '../formats/amount.js';
import type { Store } from './database.js';
import { type Context, schedule, unschedule } from './world.js';
import { pays, takeFault, type PaymentOutcome } from './faults.js';
import { nextState, number, type Trigger } from './wire.js';
import {
  type SideDetails,
  type Transaction,
  insertStateChange,
  updateTransaction,
  type Changes,
} from './transactions.js';
import {
  InsufficientFunds,
  leg,
  type Leg,
  type Movement,
  openWallet,
  post,
  type Role,
} from './accounts.js';
import { announce } from './deliveries.js';

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
 * unreachable, the quote already plans the failure (`planned`). `settledSource` is the settled
 * amount of the source if a fault changes the amount.
 */
const noted = v.object({
  planned: v.optional(plannedEnding),
  returned: v.optional(returned),
  settledSource: v.optional(number),
});

/** Plans the ending of a send or swap at its confirmation, as the injected faults require. */
export function plan({ store, wireNames }: Context, txn: Transaction): Transaction {
  if (txn.sourceMethod !== wireNames.method) return txn;
  const matches = pays(destinationOf(txn.destDetails));
  const outcome = takeFault(store, ['payment'], matches)?.outcome;
  const back = takeFault(store, ['returned'], matches);
  return withOtherAmount(store, matches, {
    ...txn,
    extra: {
      ...txn.extra,
      ...(outcome !== undefined && { planned: outcomes[outcome] }),
      ...(back !== undefined && { returned: { state: back.state, delay: back.delay } }),
    },
  });
}

function withOtherAmount(
  store: Store,
  matches: ReturnType<typeof pays>,
  txn: Transaction,
): Transaction {
  const fault = takeFault(store, ['settled-amount'], matches);
  if (fault === undefined) return txn;
  const other = (ccy: string, amount: Big): Big =>
    amount.times(fault.factor).round(decimalsOf(ccy), Big.roundDown);
  if (fault.side === 'dest') return { ...txn, arrives: other(txn.destCcy, txn.arrives) };
  const settledSource = other(txn.sourceCcy, txn.sourceAmount);
  const charge = txn.charge.plus(settledSource).minus(txn.sourceAmount);
  return { ...txn, charge, extra: { ...txn.extra, settledSource } };
}

export const settledSourceOf = ({ extra, sourceAmount }: Transaction): Big =>
  v.parse(noted, extra).settledSource ?? sourceAmount;

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

type MoveDetails = Changes & {
  /** The message in the webhook event. */
  readonly msg?: string | undefined;
};

/**
 * Moves a transaction to a state, and records the change. Moving a transaction to a state cancels
 * all its scheduled actions, so callers schedule the next action afterwards.
 */
export function move(
  ctx: Context,
  txn: Transaction,
  trigger: Trigger,
  { msg, ...changes }: MoveDetails = {},
): Transaction {
  const moved = updateTransaction(ctx, txn, nextState(txn.kind, txn.state, trigger), changes);
  unschedule(ctx, txn.id);
  recordState(ctx, moved, msg);
  return moved;
}

/** Records a transaction's new state and enqueues the webhook event. */
export function recordState(ctx: Context, txn: Transaction, msg = ''): void {
  insertStateChange(ctx, txn, msg);
  const { id: txnId, extRefId, state: txnState, updatedAt } = txn;
  announce(ctx, txn.accountId, {
    txnId,
    extRefId: extRefId ?? undefined,
    txnState,
    msg,
    updatedAt,
  });
}

/** Schedules the expiry of a transaction's quote, invoice or address. */
export function scheduleLapse(ctx: Context, txn: Transaction): void {
  schedule(ctx, 'lapse', txn.id, txn.expiresAt);
}

/** Ends a transaction before any money has moved. */
export const endUnpaid = (ctx: Context, txn: Transaction, { state, msg }: Ending): Transaction =>
  move(ctx, txn, state, { msg });

/**
 * Confirms a send: reserves the charge, or fails the transaction if the balance no longer covers
 * the charge.
 */
export const confirmSend = (ctx: Context, txn: Transaction): Transaction =>
  ifFunded(ctx, txn, 'reserve', reservation(txn, txn.charge));

/** Completes a send, so that its reserved money leaves the wallet. */
export const completeSend = (ctx: Context, txn: Transaction): Transaction =>
  take(ctx, txn, 'settle', settlement(txn, 'reserved', 'outside'), 'settle');

/** Ends a confirmed send that did not arrive, and releases the reserved money. */
export const endSend = (ctx: Context, txn: Transaction, { state, msg }: Ending): Transaction =>
  take(ctx, txn, 'release', reservation(txn, txn.charge.neg()), state, { msg });

/** Ends a send that was already completed, and reverses every movement of its settlement. */
export function returnSend(ctx: Context, txn: Transaction, { state, msg }: Ending): Transaction {
  const settled = settlement(txn, 'available', 'outside');
  const legs = settled.map((each) => ({ ...each, amount: each.amount.neg() }));
  return take(ctx, txn, 'return', legs, state, { msg });
}

/** Completes a receive request, with a different settled amount if a fault changes the amount. */
export function completeReceive(ctx: Context, requested: Transaction): Transaction {
  const matches = pays(destinationOf(requested.sourceDetails));
  const txn = withOtherAmount(ctx.store, matches, requested);
  openWallet(ctx, txn.accountId, txn.destCcy);
  return take(ctx, txn, 'settle', settlement(txn, 'outside', 'available'), 'settle');
}

/**
 * Credits a deposit, which belongs to no transaction, to a wallet. The ledger refuses a second
 * credit for the same deposit id (`subject`).
 */
export function credit(
  ctx: Context,
  subject: string,
  accountId: string,
  ccy: string,
  amount: Big,
): void {
  openWallet(ctx, accountId, ccy);
  const legs = [
    leg('outside', accountId, ccy, amount.neg()),
    leg('available', accountId, ccy, amount),
  ];
  post(ctx, { subject, step: 'deposit', legs });
}

/** Executes a swap, or fails the transaction if the balance no longer covers the swap. */
export function executeSwap(ctx: Context, txn: Transaction): Transaction {
  openWallet(ctx, txn.accountId, txn.destCcy);
  return ifFunded(ctx, txn, 'settle', settlement(txn, 'available', 'available'));
}

/** Takes a step of a transaction: posts its movement, and moves the transaction. */
function take(
  ctx: Context,
  txn: Transaction,
  step: Movement['step'],
  legs: readonly Leg[],
  trigger: Trigger,
  details?: MoveDetails,
): Transaction {
  post(ctx, { subject: txn.id, step, legs });
  return move(ctx, txn, trigger, details);
}

const reservation = ({ accountId, sourceCcy }: Transaction, amount: Big): Leg[] => [
  leg('available', accountId, sourceCcy, amount.neg()),
  leg('reserved', accountId, sourceCcy, amount),
];

/**
 * The movements of a settlement: the charge leaves the book `from`, the arriving amount enters the
 * book `to`, and the difference is service fee, network fee, and currency conversion.
 */
function settlement(txn: Transaction, from: Role, to: Role): Leg[] {
  const { accountId, sourceCcy, destCcy, charge, arrives, serviceFee, networkFee } = txn;
  const legs: [Role, string, Big][] = [
    [from, sourceCcy, charge.neg()],
    ['fees', sourceCcy, serviceFee],
    ['outside', sourceCcy, networkFee],
    ['desk', sourceCcy, charge.minus(serviceFee).minus(networkFee)],
    ['desk', destCcy, arrives.neg()],
    [to, destCcy, arrives],
  ];
  return legs.map(([role, ccy, amount]) => leg(role, accountId, ccy, amount));
}

function ifFunded(
  ctx: Context,
  txn: Transaction,
  step: Movement['step'],
  legs: readonly Leg[],
): Transaction {
  try {
    return take(ctx, txn, step, legs, 'confirm');
  } catch (error) {
    if (!(error instanceof InsufficientFunds)) throw error;
    return move(ctx, txn, 'failed', { msg: 'insufficient balance' });
  }
}
