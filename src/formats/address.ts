// Reads and writes Bitcoin, Ethereum and TRON addresses. Reading an address always verifies its
// checksum, if it has one.
import { createHash } from 'node:crypto';
import { createBase58check, bech32, bech32m, hex } from '@scure/base';
import { type Failure, invalid } from './failure.js';
import { keccak_256 } from '@noble/hashes/sha3.js';

/** The Bitcoin network of an address or an invoice. */
export type BitcoinNetwork = 'mainnet' | 'testnet' | 'signet' | 'regtest';

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

export const sha256 = (data: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(data).digest());

const base58check = createBase58check(sha256);

/**
 * Decodes base58check and verifies the checksum. `noun` says in error messages what the text is,
 * such as `TRON address`. Throws Failure `usage`.
 */
export function decodeBase58check(text: string, noun: string): Uint8Array {
  const foreign = /[^1-9A-HJ-NP-Za-km-z]/.exec(text)?.[0];
  if (foreign !== undefined) throw changed(noun, `it contains "${foreign}", which is not allowed`);
  try {
    return base58check.decode(text);
  } catch (cause) {
    throw changed(noun, 'the checksum is wrong', cause);
  }
}

export const encodeBase58check = (payload: Uint8Array): string => base58check.encode(payload);

/**
 * Returns a text in lower case if the text looks like bech32: a single letter case, a separator,
 * and only allowed characters. The caller verifies the bech32 checksum. Throws Failure `usage` for
 * a text that does not look like bech32.
 */
export function normaliseBech32(text: string, noun: string): string {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) {
    throw changed(noun, 'it mixes upper-case and lower-case letters');
  }
  const separator = lower.lastIndexOf('1');
  if (separator < 1) throw changed(noun, 'the "1" after the prefix is missing');
  const foreign =
    /[^!-~]/.exec(text)?.[0] ?? /[^02-9ac-hj-np-z]/.exec(lower.slice(separator + 1))?.[0];
  if (foreign !== undefined) throw changed(noun, `it contains "${foreign}", which is not allowed`);
  return lower;
}

/** The failure for an address, an invoice or an LNURL that someone altered or truncated. */
export function changed(noun: string, what: string, cause?: unknown): Failure {
  const advice = `Copy the whole ${noun} again, or ask for a new one.`;
  return invalid(`This ${noun} was changed or cut off: ${what}. ${advice}`, { cause });
}

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

const bitcoinNoun = 'Bitcoin address';

/**
 * Reads a Bitcoin address of any network. Throws Failure `usage` with the reason for an invalid
 * address.
 */
export function parseBitcoinAddress(text: string): BitcoinAddress {
  if (text.length > 90)
    throw invalid('This is too long for a Bitcoin address. Copy only the address.');
  if (/^(bc|tb|bcrt)1/i.test(text)) return parseSegwit(text);
  if (/^[123mn][0-9A-Za-z]{20,}$/.test(text)) return parseBase58(text);
  throw invalid(
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
  if (hash.length !== 20)
    throw changed(bitcoinNoun, `the hash has ${hash.length} bytes instead of 20`);
  return encodeBase58check(Uint8Array.of(prefixes[network][type], ...hash));
}

function parseBase58(text: string): BitcoinAddress {
  const [version, ...hash] = decodeBase58check(text, bitcoinNoun);
  if (hash.length !== 20)
    throw changed(bitcoinNoun, `the hash has ${hash.length} bytes instead of 20`);
  const pubkeyHash = findNetwork(({ p2pkh }) => p2pkh === version);
  const network = pubkeyHash ?? findNetwork(({ p2sh }) => p2sh === version);
  if (network === undefined) {
    throw invalid(`"${text}" is an address of another currency. Use a Bitcoin address.`);
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
  const address = normaliseBech32(text, bitcoinNoun);
  const plain = bech32.decodeUnsafe(address);
  const decoded = plain ?? bech32m.decodeUnsafe(address);
  if (!decoded) throw changed(bitcoinNoun, 'the checksum is wrong');
  const [version, ...words] = decoded.words;
  if (version === undefined || version > 16)
    throw changed(bitcoinNoun, 'the address has a witness version that does not exist');
  if ((version === 0) !== (plain !== undefined)) {
    const required = version === 0 ? 'bech32' : 'bech32m';
    throw changed(bitcoinNoun, `witness version ${version} requires a ${required} checksum`);
  }
  const program = bech32.fromWordsUnsafe(words);
  if (!program) throw changed(bitcoinNoun, 'the address has surplus bits at the end');
  checkProgram(version, program);
  const network = findNetwork(({ segwit }) => segwit === decoded.prefix);
  if (network === undefined)
    throw changed(
      bitcoinNoun,
      `its prefix "${decoded.prefix}" is not the prefix of a known network`,
    );
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
    throw changed(bitcoinNoun, what);
  }
}

function segwitType(version: number, length: number): BitcoinAddressType {
  if (version === 0) return length === 20 ? 'p2wpkh' : 'p2wsh';
  return version === 1 && length === 32 ? 'p2tr' : 'witness';
}

/** A verified Ethereum address. */
export interface EvmAddress {
  /** The address in EIP-55 letter case, regardless of the letter case of the input. */
  readonly address: string;
  /**
   * Whether the given address had a checksum. An address in a single letter case has no checksum.
   */
  readonly checksummed: boolean;
}

/**
 * Reads an Ethereum address (`0x…`). An address in mixed letter case must match its EIP-55
 * checksum. Throws Failure `usage`.
 */
export function parseEvmAddress(text: string): EvmAddress {
  if (!/^0x[0-9a-f]{40}$/i.test(text) || text.startsWith('0X')) {
    throw invalid(
      `"${text.slice(0, 90)}" is not an Ethereum address. An Ethereum address is 0x ` +
        'followed by 40 digits from 0-9 and a-f.',
    );
  }
  const digits = text.slice(2);
  const address = withChecksum(digits.toLowerCase());
  const checksummed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (checksummed && text !== address) {
    throw changed(
      'Ethereum address',
      'the checksum, which is the pattern of upper-case and lower-case letters, is wrong',
    );
  }
  return { address, checksummed };
}

/** Writes 20 bytes as an address in EIP-55 letter case. */
export function encodeEvmAddress(bytes: Uint8Array): string {
  if (bytes.length !== 20)
    throw invalid(`An Ethereum address must have 20 bytes, not ${bytes.length}.`);
  return withChecksum(hex.encode(bytes));
}

function withChecksum(digits: string): string {
  const digest = hex.encode(keccak_256(new TextEncoder().encode(digits)));
  const upper = (letter: string, at: number): string =>
    digest.charAt(at) < '8' ? letter : letter.toUpperCase();
  return `0x${digits.replace(/[a-f]/g, upper)}`;
}

/** A verified TRON address. */
export interface TronAddress {
  readonly address: string;
  /**
   * The 21 bytes of the address including the prefix 0x41, as explorers and contracts show them.
   */
  readonly hex: string;
}

/**
 * The contract of USDT on TRON. Tokens that someone sends to the address of the contract are lost.
 */
export const tronUsdtContract = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

const tronNoun = 'TRON address';
const tronPrefix = 0x41;

/** Reads a TRON address (`T…`). Throws Failure `usage` with the reason for an invalid address. */
export function parseTronAddress(text: string): TronAddress {
  if (!text.startsWith('T')) {
    throw invalid(
      `"${text.slice(0, 90)}" is not a TRON address. TRON addresses begin with T and have ` +
        '34 characters.',
    );
  }
  if (text.length !== 34)
    throw changed(tronNoun, `the address has ${text.length} characters instead of 34`);
  const bytes = decodeBase58check(text, tronNoun);
  if (bytes.length !== 21 || bytes[0] !== tronPrefix)
    throw changed(tronNoun, 'the text does not decode to an address');
  return { address: text, hex: hex.encode(bytes) };
}

export function encodeTronAddress(payload: Uint8Array): string {
  if (payload.length !== 20)
    throw changed(tronNoun, `the hash has ${payload.length} bytes instead of 20`);
  return encodeBase58check(Uint8Array.of(tronPrefix, ...payload));
}
