// Lists all kinds of transaction, collects their scheduled actions, and mines blocks.
import type { Transfer } from '../../formats/sandbox/answers.js';
import type { Context } from '../world/context.js';
import { endUnpaid, executeSwap, move } from '../service/engine.js';
import { bringForward, type DueAction, runDueActions, unschedule } from '../world/schedule.js';
import { requireTransaction, type Transaction } from '../service/transactions.js';
import { type Kind, requestedAmount } from './kind.js';
import { creditDeposit, findDeposit, lightningReceive, onchainReceive } from './receives.js';
import { lightningSend, lnurlSend, onchainSend, usdtSend } from './sends.js';
import { payout } from './payout.js';
import { startAction } from './sending.js';
import {
  awaitBlock,
  blockAction,
  confirmTransfer,
  pendingTransfers,
  requireTransfer,
} from '../world/chain.js';
import { plannedEndingOf } from '../service/endings.js';
import { price } from '../service/pricing.js';
import { badRequest } from '../wire/refusal.js';

/** Swaps between two wallets of one account, which the client's confirmation executes. */
const swap: Kind = {
  name: 'swap',
  flow: 'swap',
  serves: (source, dest, wallet) => source === wallet && dest === wallet,
  quote(_ctx, request) {
    const { source, dest } = request;
    if (source.ccy === dest.ccy) throw badRequest('a swap must have two different currencies');
    return price(request, { ...requestedAmount(request), fee: 'swap' });
  },
  confirm(ctx, txn) {
    const ending = plannedEndingOf(txn, 'settle');
    return ending === undefined ? executeSwap(ctx, txn) : endUnpaid(ctx, 'swap', txn, ending);
  },
  due: {},
};

const kinds: readonly Kind[] = [
  lightningReceive,
  lightningSend,
  lnurlSend,
  onchainReceive,
  onchainSend,
  payout,
  swap,
  usdtSend,
];

/** The names of the scheduled actions that start a blockchain transfer. */
const startActions: readonly string[] = [onchainSend, usdtSend].map(({ name }) =>
  startAction(name),
);

export function findKind(
  sourceMethod: string,
  destMethod: string,
  wallet: string,
): Kind | undefined {
  return kinds.find((kind) => kind.serves(sourceMethod, destMethod, wallet));
}

export function kindOf(txn: Transaction): Kind {
  const kind = kinds.find(({ name }) => name === txn.kind);
  if (kind === undefined)
    throw new Error(`Transaction ${txn.id} has the unknown kind ${txn.kind}.`);
  return kind;
}

function lapse(ctx: Context, txnId: string): void {
  const txn = requireTransaction(ctx.store, txnId);
  move(ctx, kindOf(txn).flow, txn, 'lapse');
}

/** Scheduled actions of transactions and blockchains, by name. */
export function dueActions(): ReadonlyMap<string, DueAction> {
  return new Map([
    ['lapse', lapse],
    [blockAction, nextBlock],
    ...kinds.flatMap((kind) => Object.entries(kind.due)),
  ]);
}

const nextBlock: DueAction = (ctx, id) => {
  const transfer = requireTransfer(ctx.store, id);
  if (!addConfirmations(ctx, transfer, 1)) awaitBlock(ctx, id, transfer.chain);
};

/**
 * Mines `count` blocks on every chain: starts the transfers that are scheduled for later, then adds
 * `count` confirmations to each transfer that needs confirmations. Returns the transfers with their
 * new confirmations.
 */
export function mine(
  ctx: Context,
  count: number,
  actions: ReadonlyMap<string, DueAction>,
): Transfer[] {
  bringForward(ctx, startActions);
  runDueActions(ctx, actions);
  const waiting = pendingTransfers(ctx.store);
  for (const transfer of waiting) addConfirmations(ctx, transfer, count);
  return waiting.map(({ id }) => requireTransfer(ctx.store, id));
}

/** Adds confirmations to a transfer. Returns true if the transfer has all its confirmations. */
export function addConfirmations(ctx: Context, transfer: Transfer, count: number): boolean {
  const { id, confirmations, needed } = confirmTransfer(ctx, transfer, count);
  if (confirmations < needed) return false;
  unschedule(ctx, id);
  const deposit = findDeposit(ctx.store, id);
  if (deposit !== undefined) creditDeposit(ctx, deposit);
  else arrive(ctx, id);
  return true;
}

function arrive(ctx: Context, txnId: string): void {
  const txn = requireTransaction(ctx.store, txnId);
  const { name, onConfirmed } = kindOf(txn);
  if (onConfirmed === undefined) throw new Error(`A ${name} does not wait for confirmations.`);
  onConfirmed(ctx, txn);
}
