// Reads TRON addresses, which USDT payments over TRC-20 use. A TRON address is the base58check
// encoding of the byte 0x41 and a 20-byte hash.
import { hex } from '@scure/base';
import { changed, decodeBase58check, encodeBase58check } from './encodings.js';
import { Failure } from '../failure.js';

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

const noun = 'TRON address';
const prefix = 0x41;

/** Reads a TRON address (`T…`). Throws Failure `usage` with the reason for an invalid address. */
export function parseTronAddress(text: string): TronAddress {
  if (!text.startsWith('T')) {
    throw new Failure(
      'usage',
      `"${text.slice(0, 90)}" is not a TRON address. TRON addresses begin with T and have ` +
        '34 characters.',
    );
  }
  if (text.length !== 34)
    throw changed(noun, `the address has ${text.length} characters instead of 34`);
  const bytes = decodeBase58check(text, noun);
  if (bytes.length !== 21 || bytes[0] !== prefix)
    throw changed(noun, 'the text does not decode to an address');
  return { address: text, hex: hex.encode(bytes) };
}

export function encodeTronAddress(payload: Uint8Array): string {
  if (payload.length !== 20)
    throw changed(noun, `the hash has ${payload.length} bytes instead of 20`);
  return encodeBase58check(Uint8Array.of(prefix, ...payload));
}
