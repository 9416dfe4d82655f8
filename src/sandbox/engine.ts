// Moves transactions between states and moves their money, to the ending that an injected fault or
// the quote plans.
import Big from 'big.js';
import { decimalsOf } from '../formats/amount.js';
import type { Store } from './database.js';
import { type Context, schedule, unschedule } from './world.js';
import { pays, takeFault, type PaymentOutcome } from './faults.js';
import { nextState, type Trigger } from './wire.js';
import {
  type Ending,
  type SideDetails,
  type Transaction,
  insertStateChange,
  updateTransaction,
} from './transactions.js';
import { InsufficientFunds, leg, type Leg, type Movement, post, type Role } from './accounts.js';
import { announce } from './deliveries.js';

const outcomes: Readonly<Record<PaymentOutcome, Ending>> = {
  'no-route': { state: 'failed', msg: 'no route' },
  rejected: { state: 'rejected', msg: 'rejected by the destination' },
  error: { state: 'error', msg: 'internal error' },
};

/** Plans the ending of a send or swap at its confirmation, as the injected faults require. */
export function plan({ store, wireNames }: Context, txn: Transaction): Transaction {
  if (txn.sourceMethod !== wireNames.method) return txn;
  const matches = pays(destinationOf(txn.destDetails));
  const outcome = takeFault(store, ['payment'], matches)?.outcome;
  const back = takeFault(store, ['returned'], matches);
  return withOtherAmount(store, matches, {
    ...txn,
    planned: outcome && outcomes[outcome],
    returned: back && { state: back.state, msg: 'returned by the recipient', delay: back.delay },
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
  return { ...txn, charge, settledSource };
}

/**
 * Returns the invoice, address or account number that the transaction pays, or an empty string for
 * a swap.
 */
function destinationOf({ reqDetails }: SideDetails): string {
  const { paymentRequest, address, acctNum, bankAcctNum } = reqDetails;
  return String(paymentRequest ?? address ?? acctNum ?? bankAcctNum ?? '');
}

type MoveDetails = Partial<Transaction> & {
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
  announce(ctx, txn.accountId, { txnId, extRefId, txnState, msg, updatedAt });
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
export function returnSend(ctx: Context, txn: Transaction): Transaction {
  if (txn.returned === undefined) throw new Error(`Transaction ${txn.id} has no planned return.`);
  const { state, msg } = txn.returned;
  const settled = settlement(txn, 'available', 'outside');
  const legs = settled.map((each) => ({ ...each, amount: each.amount.neg() }));
  return take(ctx, txn, 'return', legs, state, { msg });
}

/** Completes a receive request, with a different settled amount if a fault changes the amount. */
export function completeReceive(ctx: Context, requested: Transaction): Transaction {
  const matches = pays(destinationOf(requested.sourceDetails));
  const txn = withOtherAmount(ctx.store, matches, requested);
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
  const legs = [
    leg('outside', accountId, ccy, amount.neg()),
    leg('available', accountId, ccy, amount),
  ];
  post(ctx, { subject, step: 'deposit', legs });
}

/** Executes a swap, or fails the transaction if the balance no longer covers the swap. */
export function executeSwap(ctx: Context, txn: Transaction): Transaction {
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
 * The movements of a settlement: the charge leaves the role `from`, the arriving amount enters the
 * role `to`, and the difference is service fee, network fee, and currency conversion.
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
