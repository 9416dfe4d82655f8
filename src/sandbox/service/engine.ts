// Moves transactions between states, and moves their money.
import type Big from 'big.js';
import { openWallet } from '../world/accounts.js';
import type { Context } from '../world/context.js';
import { announce } from '../deliveries/deliveries.js';
import { houseLeg, InsufficientFunds, post, reserved, wallet, type Leg } from '../world/ledger.js';
import { schedule, unschedule } from '../world/schedule.js';
import { settledOtherwise, type Ending } from './endings.js';
import {
  insertStateChange,
  updateTransaction,
  type Changes,
  type Transaction,
} from './transactions.js';
import { nextState, type Flow, type Trigger } from '../wire/states.js';

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
