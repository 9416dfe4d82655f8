// Blockchains: what was broadcast gathers confirmations, block by block, on the service's clock or when asked to.
import type Big from 'big.js';
import * as v from 'valibot';
import type { Context } from './context.js';
import type { Store } from '../storage/database.js';
import { schedule } from './schedule.js';
import { blockTimes, confirmationsNeeded } from '../unspecified.js';

export const chains = ['bitcoin', 'tron', 'ethereum'] as const;
export type Chain = (typeof chains)[number];

/** The currency that comes in over a chain. */
export const chainCurrency: Readonly<Record<Chain, string>> = { bitcoin: 'BTC', tron: 'USDT', ethereum: 'USDT' };

/** Name of the due action for the next block; its subject is the transfer. */
export const blockAction = 'chain.block';

const transferRow = v.object({
  /** Of the transaction or the deposit. */
  id: v.string(),
  chain: v.picklist(chains),
  confirmations: v.number(),
  needed: v.number(),
});

export type Transfer = v.InferOutput<typeof transferRow>;

/** Begins to count the confirmations of what was just broadcast. */
export function broadcast(ctx: Context, id: string, chain: Chain, amount: Big): void {
  ctx.store.insert('transfer', { id, chain, needed: confirmationsNeeded(chain, amount) });
  awaitBlock(ctx, id, chain);
}

export function awaitBlock(ctx: Context, id: string, chain: Chain): void {
  schedule(ctx, blockAction, id, ctx.now + blockTimes[chain]);
}

/** Every transfer that still waits for confirmations, the oldest first. */
export function pendingTransfers(store: Store): Transfer[] {
  return store.all(transferRow, 'SELECT * FROM transfer WHERE confirmations < needed ORDER BY rowid');
}

export function findTransfer(store: Store, id: string): Transfer | undefined {
  return store.one(transferRow, 'SELECT * FROM transfer WHERE id = ?', id);
}

export function requireTransfer(store: Store, id: string): Transfer {
  const found = findTransfer(store, id);
  if (found === undefined) throw new Error(`There is no transfer ${id}.`);
  return found;
}

/** Adds confirmations, as many as are still needed at most. */
export function confirmTransfer({ store }: Context, transfer: Transfer, count: number): Transfer {
  const confirmations = Math.min(transfer.confirmations + count, transfer.needed);
  store.run('UPDATE transfer SET confirmations = ? WHERE id = ?', confirmations, transfer.id);
  return { ...transfer, confirmations };
}
