// Ethereum addresses, whose letter case encodes their EIP-55 checksum.
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import { changed } from './encodings.js';
import { Failure } from '../failure.js';

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
    throw new Failure(
      'usage',
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
    throw new Failure('usage', `An Ethereum address must have 20 bytes, not ${bytes.length}.`);
  return withChecksum(hex.encode(bytes));
}

function withChecksum(digits: string): string {
  const digest = hex.encode(keccak_256(new TextEncoder().encode(digits)));
  const upper = (letter: string, at: number): string =>
    digest.charAt(at) < '8' ? letter : letter.toUpperCase();
  return `0x${digits.replace(/[a-f]/g, upper)}`;
}
