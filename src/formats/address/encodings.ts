// SHA-256, base58check and bech32 for addresses and invoices, with helpful error messages.
import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { Failure } from '../failure.js';

export const sha256 = (data: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(data).digest());

/**
 * Decodes base58check and verifies the checksum. `noun` says in error messages what the text is,
 * such as `TRON address`. Throws Failure `usage`.
 */
export function decodeBase58check(text: string, noun: string): Uint8Array {
  const foreign = /[^1-9A-HJ-NP-Za-km-z]/.exec(text)?.[0];
  if (foreign !== undefined) throw changed(noun, `it contains "${foreign}", which is not allowed`);
  try {
    return createBase58check(sha256).decode(text);
  } catch (cause) {
    throw changed(noun, 'the checksum is wrong', cause);
  }
}

export const encodeBase58check = (payload: Uint8Array): string =>
  createBase58check(sha256).encode(payload);

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
  return new Failure('usage', `This ${noun} was changed or cut off: ${what}. ${advice}`, { cause });
}
