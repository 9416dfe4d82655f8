// Derives the service's own blockchain addresses, and simulates blockchain transfers. Transfers get
// confirmations by the service's clock, or on request.
import type Big from 'big.js';
import { chains, type Transfer, transferAnswer } from '../../formats/sandbox/answers.js';
import type { Context } from './context.js';
import { requireSetting, type Store } from '../storage/database.js';
import { schedule } from './schedule.js';
import { blockTimes, confirmationsNeeded } from '../unspecified.js';
import { createHmac } from 'node:crypto';
import * as v from 'valibot';
import { encodeSegwitAddress, encodeEvmAddress, encodeTronAddress } from '../../formats/address.js';

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

const addressRow = v.object({
  address: v.string(),
  chain: v.picklist(chains),
  accountId: v.string(),
  txnId: v.nullable(v.string()),
});

export type OwnAddress = v.InferOutput<typeof addressRow>;

export function staticAddress(store: Store, accountId: string, chain: Chain): string {
  const sql = 'SELECT * FROM address WHERE account_id = ? AND chain = ? AND txn_id IS NULL';
  const found = store.one(addressRow, sql, accountId, chain);
  if (found === undefined) throw new Error(`Account ${accountId} has no address on ${chain}.`);
  return found.address;
}

/**
 * Finds the record of an address in its canonical spelling. Returns undefined for an address that
 * the service has not issued.
 */
export function findOwnAddress(store: Store, address: string): OwnAddress | undefined {
  return store.one(addressRow, 'SELECT * FROM address WHERE address = ?', address);
}

export function issueAddress(
  { store }: Context,
  chain: Chain,
  accountId: string,
  txnId: string | null,
): string {
  const key = requireSetting(store, 'nodeKey');
  const hash = createHmac('sha256', key)
    .update(`${chain}/${txnId ?? accountId}`)
    .digest()
    .subarray(0, 20);
  const address = encode(chain, hash);
  store.insert('address', { address, chain, accountId, txnId });
  return address;
}

/**
 * Encodes an address. On Bitcoin, the encoded address is a testnet address. On TRON and Ethereum,
 * addresses have the same format on all networks.
 */
function encode(chain: Chain, hash: Uint8Array): string {
  switch (chain) {
    case 'bitcoin':
      return encodeSegwitAddress('testnet', 0, hash);
    case 'tron':
      return encodeTronAddress(hash);
    case 'ethereum':
      return encodeEvmAddress(hash);
  }
}
