// The Bitcoin networks and the prefixes of their addresses and invoices.

/** The Bitcoin network of an address or an invoice. */
export type BitcoinNetwork = 'mainnet' | 'testnet' | 'signet' | 'regtest';

/** The network whose invoices and addresses svcpay accepts. */
export type Network = 'mainnet' | 'testnet' | 'any';
export const networks = ['mainnet', 'testnet', 'any'] as const satisfies readonly Network[];

interface NetworkPrefixes {
  /**
   * The human-readable part of segwit addresses (BIP173). BOLT11 invoices begin with `ln` and this
   * human-readable part.
   */
  readonly segwit: string;
  readonly invoice: string;
  /** The version byte of base58check addresses of type P2PKH. */
  readonly p2pkh: number;
  readonly p2sh: number;
}

/**
 * The prefixes of each network. Testnet precedes signet and regtest, because signet addresses and
 * base58 addresses of regtest look like testnet addresses.
 */
export const prefixes: Readonly<Record<BitcoinNetwork, NetworkPrefixes>> = {
  mainnet: { segwit: 'bc', invoice: 'lnbc', p2pkh: 0x00, p2sh: 0x05 },
  testnet: { segwit: 'tb', invoice: 'lntb', p2pkh: 0x6f, p2sh: 0xc4 },
  signet: { segwit: 'tb', invoice: 'lntbs', p2pkh: 0x6f, p2sh: 0xc4 },
  regtest: { segwit: 'bcrt', invoice: 'lnbcrt', p2pkh: 0x6f, p2sh: 0xc4 },
};

/** Returns the first network, in the order of {@link prefixes}, whose prefixes satisfy `test`. */
export function findNetwork(test: (of: NetworkPrefixes) => boolean): BitcoinNetwork | undefined {
  const order: readonly BitcoinNetwork[] = ['mainnet', 'testnet', 'signet', 'regtest'];
  return order.find((network) => test(prefixes[network]));
}
