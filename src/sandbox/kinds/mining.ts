// Finds blocks: transfers get their confirmations, one by one in time or many at once, and arrive when they have enough.
import { awaitBlock, blockAction, confirmTransfer, pendingTransfers, requireTransfer, type Transfer } from '../world/chain.js';
import type { Context } from '../world/context.js';
import { creditDeposit, findDeposit } from './incoming.js';
import { kindOf, startActions } from './index.js';
import { bringForward, carryOut, unschedule, type DueAction } from '../world/schedule.js';
import { requireTransaction } from '../service/transactions.js';

/** The next block of a transfer was found. */
const nextBlock: DueAction = (ctx, id) => {
  const transfer = requireTransfer(ctx.store, id);
  if (!advance(ctx, transfer, 1)) awaitBlock(ctx, id, transfer.chain);
};

export const chainActions: ReadonlyMap<string, DueAction> = new Map([[blockAction, nextBlock]]);

/**
 * Finds `count` blocks at once on every chain: what waits to be broadcast is, and every transfer gets that many
 * confirmations. Gives the transfers that were waiting, as they are then.
 */
export function mine(ctx: Context, count: number, actions: ReadonlyMap<string, DueAction>): Transfer[] {
  bringForward(ctx, startActions);
  carryOut(ctx, actions);
  const waiting = pendingTransfers(ctx.store);
  for (const transfer of waiting) advance(ctx, transfer, count);
  return waiting.map(({ id }) => requireTransfer(ctx.store, id));
}

/** Adds confirmations; true when there are enough and the transfer has arrived. */
function advance(ctx: Context, transfer: Transfer, count: number): boolean {
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
  if (onConfirmed === undefined) throw new Error(`A ${name} waits for no confirmations.`);
  onConfirmed(ctx, txn);
}
