// Makes the destination keys: the one name of a payee, whatever its spelling. Pure. Every question
// about "the same payee" compares these keys.
import { parseBitcoinAddress } from '../../formats/address.js';
import { type Destination, lnurlTarget } from '../../formats/destination.js';
import { entryOf } from '../../formats/text.js';

/**
 * The keys of a destination: `onchain:ADDRESS`, `tron:ADDRESS`, `lnurl:URL`, `node:KEY` for an
 * invoice. A `bitcoin:` URI has a key for its address and a key for its invoice.
 */
export function keysOf({ kind, value, text }: Destination): readonly string[] {
  switch (kind) {
    case 'bolt11':
      return [nodeKey(value.payee)];
    case 'bitcoin-address':
      return [onchainKey(value.address)];
    case 'tron-address':
      return [tronKey(value.address)];
    case 'lnurl':
    case 'lightning-address':
      return [lnurlKey(text)];
    case 'evm-address':
      return [`eth:${value.address}`];
    case 'bip21':
      return [
        ...(value.bitcoin === null ? [] : [onchainKey(value.bitcoin.address)]),
        ...(value.invoice === null ? [] : [nodeKey(value.invoice.payee)]),
      ];
  }
}

export const nodeKey = (node: string): string => `node:${node}`;
export const tronKey = (address: string): string => `tron:${address}`;
/** @param text a Lightning Address or an LNURL, which lead to the same key */
export const lnurlKey = (text: string): string => `lnurl:${lnurlTarget(text)}`;
export const walletKey = (ccy: string): string => `wallet:${ccy}`;

/** @param address a valid address; upper-case and lower-case Bech32 addresses are the same */
export const onchainKey = (address: string): string =>
  `onchain:${parseBitcoinAddress(address).address}`;

const methods: Readonly<Record<string, string>> = {
  node: 'lightning',
  lnurl: 'lnurl',
  onchain: 'on-chain',
  tron: 'tron',
  wallet: 'servicepay',
};

/** Returns the method by which svcpay pays an instruction first, or undefined for a payout. */
export const methodOf = ({
  keys: [key = ''],
  ways: [way] = [],
}: {
  readonly keys: readonly string[];
  readonly ways?: readonly string[] | undefined;
}): string | undefined =>
  way === 'lightning' ? 'lightning' : entryOf(methods, key.replace(/:.*/, ''));

/**
 * Whether many payees may share the key, as the customers of one Lightning provider share its node.
 * Two invoices of one node are not the same payment, because each can be paid only once.
 */
export const isShared = (key: string): boolean => key.startsWith('node:');
