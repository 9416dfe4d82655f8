// Moves transactions between states and moves their money, to the ending that an injected fault or
// the quote plans.
import Big from 'big.js';
import * as v from 'valibot';
import { decimalsOf } from '../formats/amount.js';
import type { Store } from './database.js';
import { type Context, schedule, unschedule } from './world.js';
import { takePaymentFault, takeReturn, takeSettledAmount, type PaymentOutcome } from './faults.js';
import { number, nextState, type Flow, type Trigger } from './wire.js';
import {
  type SideDetails,
  type Transaction,
  insertStateChange,
  updateTransaction,
  type Changes,
} from './transactions.js';
import {
  openWallet,
  houseLeg,
  InsufficientFunds,
  post,
  reserved,
  wallet,
  type Leg,
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
const settledOtherwise = ({ store }: Context, txn: Transaction): Transaction =>
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

type MoveDetails = Changes & {
  /** The message in the webhook event. */
  readonly msg?: string | undefined;
};

const endTriggers = { failed: 'fail', rejected: 'reject', error: 'break' } as const;

/**
 * Moves a transaction to a state, and records the change. Moving a transaction to a state cancels
 * all its scheduled actions, so callers schedule the next action afterwards.
 */
export function move(
  ctx: Context,
  flow: Flow,
  txn: Transaction,
  trigger: Trigger,
  details: MoveDetails = {},
): Transaction {
  const { msg = '', ...changes } = details;
  const moved = updateTransaction(ctx, txn, nextState(flow, txn.state, trigger), changes);
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

/**
 * Confirms a send: reserves the charge, or fails the transaction if the balance no longer covers
 * the charge.
 */
export function confirmSend(ctx: Context, txn: Transaction): Transaction {
  const { accountId, sourceCcy, charge } = txn;
  const legs = [wallet(accountId, sourceCcy, charge.neg()), reserved(accountId, sourceCcy, charge)];
  return ifFunded(ctx, 'send', txn, () => {
    post(ctx, { subject: txn.id, step: 'reserve', legs });
    return move(ctx, 'send', txn, 'confirm');
  });
}

/** Completes a send, so that its reserved money leaves the wallet. */
export function completeSend(ctx: Context, txn: Transaction): Transaction {
  const legs = [
    reserved(txn.accountId, txn.sourceCcy, txn.charge.neg()),
    ...costs(txn),
    houseLeg('outside', txn.destCcy, txn.arrives),
  ];
  post(ctx, { subject: txn.id, step: 'settle', legs });
  return move(ctx, 'send', txn, 'settle');
}

/** Ends a confirmed send that did not arrive, and releases the reserved money. */
export function endSend(ctx: Context, txn: Transaction, { state, msg }: Ending): Transaction {
  const { accountId, sourceCcy, charge } = txn;
  const legs = [reserved(accountId, sourceCcy, charge.neg()), wallet(accountId, sourceCcy, charge)];
  post(ctx, { subject: txn.id, step: 'release', legs });
  return move(ctx, 'send', txn, endTriggers[state], { msg });
}

/** Ends a send that was already completed, and reverses every movement of its settlement. */
export function returnSend(ctx: Context, txn: Transaction, { state, msg }: Ending): Transaction {
  const settled = [
    wallet(txn.accountId, txn.sourceCcy, txn.charge.neg()),
    ...costs(txn),
    houseLeg('outside', txn.destCcy, txn.arrives),
  ];
  const legs = settled.map((leg) => ({ ...leg, amount: leg.amount.neg() }));
  post(ctx, { subject: txn.id, step: 'return', legs });
  return move(ctx, 'send', txn, endTriggers[state], { msg });
}

/** Ends a transaction before any money has moved. */
export function endUnpaid(
  ctx: Context,
  flow: Flow,
  txn: Transaction,
  { state, msg }: Ending,
): Transaction {
  return move(ctx, flow, txn, endTriggers[state], { msg });
}

export function completeReceive(ctx: Context, flow: Flow, requested: Transaction): Transaction {
  const txn = settledOtherwise(ctx, requested);
  openWallet(ctx, txn.accountId, txn.destCcy);
  const legs = [
    houseLeg('outside', txn.sourceCcy, txn.charge.neg()),
    ...costs(txn),
    wallet(txn.accountId, txn.destCcy, txn.arrives),
  ];
  post(ctx, { subject: txn.id, step: 'settle', legs });
  return move(ctx, flow, txn, 'settle');
}

/**
 * Credits a deposit, which belongs to no transaction, to a wallet. The ledger refuses a second
 * credit for the same deposit id (`subject`).
 */
export function credit(
  ctx: Context,
  {
    subject,
    accountId,
    ccy,
    amount,
  }: { subject: string; accountId: string; ccy: string; amount: Big },
): void {
  openWallet(ctx, accountId, ccy);
  const legs = [houseLeg('outside', ccy, amount.neg()), wallet(accountId, ccy, amount)];
  post(ctx, { subject, step: 'deposit', legs });
}

/** Executes a swap, or fails the transaction if the balance no longer covers the swap. */
export function executeSwap(ctx: Context, txn: Transaction): Transaction {
  openWallet(ctx, txn.accountId, txn.destCcy);
  const legs = [
    wallet(txn.accountId, txn.sourceCcy, txn.charge.neg()),
    ...costs(txn),
    wallet(txn.accountId, txn.destCcy, txn.arrives),
  ];
  return ifFunded(ctx, 'swap', txn, () => {
    post(ctx, { subject: txn.id, step: 'settle', legs });
    return move(ctx, 'swap', txn, 'confirm');
  });
}

/**
 * The parts of the charge that do not reach the destination: service fee, network fee, and currency
 * conversion.
 */
function costs(txn: Transaction): Leg[] {
  const { sourceCcy, destCcy, serviceFee, networkFee } = txn;
  const changed: Big = txn.charge.minus(serviceFee).minus(networkFee);
  return [
    houseLeg('fees', sourceCcy, serviceFee),
    houseLeg('outside', sourceCcy, networkFee),
    houseLeg('desk', sourceCcy, changed),
    houseLeg('desk', destCcy, txn.arrives.neg()),
  ];
}

function ifFunded(
  ctx: Context,
  flow: Flow,
  txn: Transaction,
  step: () => Transaction,
): Transaction {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof InsufficientFunds)) throw error;
    return move(ctx, flow, txn, 'fail', { msg: 'insufficient balance' });
  }
}
