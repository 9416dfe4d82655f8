// Derives the service's own blockchain addresses from the service's key.
import { createHmac } from 'node:crypto';
import * as v from 'valibot';
import { encodeSegwitAddress } from '../../formats/address/bitcoin-address.js';
import { encodeEvmAddress } from '../../formats/address/evm-address.js';
import { encodeTronAddress } from '../../formats/address/tron-address.js';
import { chains } from '../../formats/sandbox/answers.js';
import type { Chain } from './chain.js';
import type { Context } from './context.js';
import type { Store } from '../storage/database.js';
import { requireSetting } from '../storage/settings.js';

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
