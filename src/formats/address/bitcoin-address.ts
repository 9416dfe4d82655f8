// Reads and writes Bitcoin addresses: base58check (P2PKH, P2SH), and segwit in bech32 (BIP173) and
// bech32m (BIP350). Reading an address always verifies its checksum.
import { bech32, bech32m, hex } from '@scure/base';
import { changed, decodeBase58check, encodeBase58check, normaliseBech32 } from './encodings.js';
import { Failure } from '../failure.js';
import { findNetwork, prefixes, type BitcoinNetwork } from './network.js';

/**
 * The script that an address pays to. `witness` stands for every segwit program that is not defined
 * yet.
 */
export type BitcoinAddressType = 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr' | 'witness';

/** A verified Bitcoin address. */
export interface BitcoinAddress {
  /** The address: a segwit address in lower case, or a base58 address as given. */
  readonly address: string;
  /**
   * The network of the address. `testnet` includes signet, and base58 addresses of regtest, because
   * these addresses look like testnet addresses.
   */
  readonly network: Exclude<BitcoinNetwork, 'signet'>;
  /**
   * The type of the script. `witness` is a segwit program that is not defined yet, so anyone can
   * spend money that is sent to its address.
   */
  readonly type: BitcoinAddressType;
  /** The version of the segwit program, or `null` for a base58 address. */
  readonly witnessVersion: number | null;
  /** The hash or the witness program of the address, in hex. */
  readonly program: string;
}

const noun = 'Bitcoin address';

/**
 * Reads a Bitcoin address of any network. Throws Failure `usage` with the reason for an invalid
 * address.
 */
export function parseBitcoinAddress(text: string): BitcoinAddress {
  if (text.length > 90)
    throw new Failure('usage', 'This is too long for a Bitcoin address. Copy only the address.');
  if (/^(bc|tb|bcrt)1/i.test(text)) return parseSegwit(text);
  if (/^[123mn][0-9A-Za-z]{20,}$/.test(text)) return parseBase58(text);
  throw new Failure(
    'usage',
    `"${text}" is not a Bitcoin address. Bitcoin addresses begin with bc1, 1, 3 or tb1.`,
  );
}

/** Writes a witness program as an address: bech32 for version 0, bech32m for later versions. */
export function encodeSegwitAddress(
  network: BitcoinNetwork,
  version: number,
  program: Uint8Array,
): string {
  checkProgram(version, program);
  const coder = version === 0 ? bech32 : bech32m;
  return coder.encode(prefixes[network].segwit, [version, ...coder.toWords(program)]);
}

/** Writes a 20-byte public key or script hash as a base58check address. */
export function encodeBase58Address(
  network: BitcoinNetwork,
  type: 'p2pkh' | 'p2sh',
  hash: Uint8Array,
): string {
  if (hash.length !== 20) throw changed(noun, `the hash has ${hash.length} bytes instead of 20`);
  return encodeBase58check(Uint8Array.of(prefixes[network][type], ...hash));
}

function parseBase58(text: string): BitcoinAddress {
  const [version, ...hash] = decodeBase58check(text, noun);
  if (hash.length !== 20) throw changed(noun, `the hash has ${hash.length} bytes instead of 20`);
  const pubkeyHash = findNetwork(({ p2pkh }) => p2pkh === version);
  const network = pubkeyHash ?? findNetwork(({ p2sh }) => p2sh === version);
  if (network === undefined) {
    throw new Failure(
      'usage',
      `"${text}" is an address of another currency. Use a Bitcoin address.`,
    );
  }
  return {
    address: text,
    network: network === 'signet' ? 'testnet' : network,
    type: pubkeyHash === undefined ? 'p2sh' : 'p2pkh',
    witnessVersion: null,
    program: hex.encode(Uint8Array.from(hash)),
  };
}

function parseSegwit(text: string): BitcoinAddress {
  const address = normaliseBech32(text, noun);
  const plain = bech32.decodeUnsafe(address);
  const decoded = plain ?? bech32m.decodeUnsafe(address);
  if (!decoded) throw changed(noun, 'the checksum is wrong');
  const [version, ...words] = decoded.words;
  if (version === undefined || version > 16)
    throw changed(noun, 'the address has a witness version that does not exist');
  if ((version === 0) !== (plain !== undefined)) {
    const required = version === 0 ? 'bech32' : 'bech32m';
    throw changed(noun, `witness version ${version} requires a ${required} checksum`);
  }
  const program = bech32.fromWordsUnsafe(words);
  if (!program) throw changed(noun, 'the address has surplus bits at the end');
  checkProgram(version, program);
  const network = findNetwork(({ segwit }) => segwit === decoded.prefix);
  if (network === undefined)
    throw changed(noun, `its prefix "${decoded.prefix}" is not the prefix of a known network`);
  return {
    address,
    network: network === 'signet' ? 'testnet' : network,
    type: segwitType(version, program.length),
    witnessVersion: version,
    program: hex.encode(program),
  };
}

function checkProgram(version: number, { length }: Uint8Array): void {
  const right = version === 0 ? length === 20 || length === 32 : length >= 2 && length <= 40;
  if (!right) {
    const what = `witness version ${version} does not allow a witness program of ${length} bytes`;
    throw changed(noun, what);
  }
}

function segwitType(version: number, length: number): BitcoinAddressType {
  if (version === 0) return length === 20 ? 'p2wpkh' : 'p2wsh';
  return version === 1 && length === 32 ? 'p2tr' : 'witness';
}
