// Simulates blockchain transfers. Transfers get confirmations by the service's clock, or on
// request.
import type Big from 'big.js';
import { transferAnswer, type Transfer } from '../../formats/sandbox/answers.js';
import type { Context } from './context.js';
import type { Store } from '../storage/database.js';
import { schedule } from './schedule.js';
import { blockTimes, confirmationsNeeded } from '../unspecified.js';

export type Chain = Transfer['chain'];

export const chainCurrency: Readonly<Record<Chain, string>> = {
  bitcoin: 'BTC',
  tron: 'USDT',
  ethereum: 'USDT',
};

export const blockAction = 'chain.block';

/** Broadcasts a transfer, and starts counting its confirmations. */
export function broadcast(ctx: Context, id: string, chain: Chain, amount: Big): void {
  ctx.store.insert('transfer', { id, chain, needed: confirmationsNeeded(chain, amount) });
  awaitBlock(ctx, id, chain);
}

export function awaitBlock(ctx: Context, id: string, chain: Chain): void {
  schedule(ctx, blockAction, id, ctx.now + blockTimes[chain]);
}

export function pendingTransfers(store: Store): Transfer[] {
  return store.all(
    transferAnswer,
    'SELECT * FROM transfer WHERE confirmations < needed ORDER BY rowid',
  );
}

export function findTransfer(store: Store, id: string): Transfer | undefined {
  return store.one(transferAnswer, 'SELECT * FROM transfer WHERE id = ?', id);
}

export function requireTransfer(store: Store, id: string): Transfer {
  const found = findTransfer(store, id);
  if (found === undefined) throw new Error(`There is no transfer ${id}.`);
  return found;
}

/** Adds confirmations to a transfer, at most up to the number that the transfer needs. */
export function confirmTransfer({ store }: Context, transfer: Transfer, count: number): Transfer {
  const confirmations = Math.min(transfer.confirmations + count, transfer.needed);
  store.run('UPDATE transfer SET confirmations = ? WHERE id = ?', confirmations, transfer.id);
  return { ...transfer, confirmations };
}
