// The Bitcoin networks and the prefixes of their addresses and invoices.

/** The chain that an address or an invoice belongs to. */
export type BitcoinNetwork = 'mainnet' | 'testnet' | 'signet' | 'regtest';

interface NetworkPrefixes {
  /** The human-readable part of segwit addresses (BIP173). BOLT11 adds `ln` before it. */
  readonly segwit: string;
  readonly invoice: string;
  /** Version bytes of base58check addresses. */
  readonly p2pkh: number;
  readonly p2sh: number;
}

/**
 * Testnet is first, because signet addresses and base58 addresses of regtest look like testnet
 * addresses.
 */
export const networks: Readonly<Record<BitcoinNetwork, NetworkPrefixes>> = {
  mainnet: { segwit: 'bc', invoice: 'lnbc', p2pkh: 0x00, p2sh: 0x05 },
  testnet: { segwit: 'tb', invoice: 'lntb', p2pkh: 0x6f, p2sh: 0xc4 },
  signet: { segwit: 'tb', invoice: 'lntbs', p2pkh: 0x6f, p2sh: 0xc4 },
  regtest: { segwit: 'bcrt', invoice: 'lnbcrt', p2pkh: 0x6f, p2sh: 0xc4 },
};

/** The first network for which the test holds, in the order of {@link networks}. */
export function findNetwork(
  test: (prefixes: NetworkPrefixes) => boolean,
): BitcoinNetwork | undefined {
  const order: readonly BitcoinNetwork[] = ['mainnet', 'testnet', 'signet', 'regtest'];
  return order.find((network) => test(networks[network]));
}
