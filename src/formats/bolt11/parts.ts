// Decodes and encodes the parts of a BOLT11 invoice: the tagged fields as numbers, bytes and words,
// and the signature.
import { bech32, hex } from '@scure/base';
import { Failure } from '../failure.js';
import { createHmac } from 'node:crypto';
import { etc, hashes, Point, recoverPublicKey, sign, Signature, verify } from '@noble/secp256k1';
import { sha256 } from '../address.js';

/** The numbers of the field types, by the letter that BOLT11 gives each type. */
export const fieldTypes = {
  p: 1,
  r: 3,
  9: 5,
  x: 6,
  f: 9,
  d: 13,
  s: 16,
  n: 19,
  h: 23,
  c: 24,
  m: 27,
} as const;
export type FieldLetter = `${keyof typeof fieldTypes}`;

/**
 * The even feature bits that svcpay supports. svcpay cannot pay an invoice with any other even
 * feature bit.
 */
const knownFeatures = new Set([8, 14, 16, 24, 48]);

/**
 * The exact lengths of some fields, in 5-bit words. The decoder skips a field that has the wrong
 * length.
 */
const exactLengths: Partial<Record<FieldLetter, number>> = { p: 52, s: 52, h: 52, n: 53 };

/**
 * The upper limit for a number in a field: longer than any sensible duration in seconds, but small
 * enough for exact milliseconds and valid dates.
 */
const maxNumber = 2 ** 42;

export interface Field {
  readonly type: number;
  readonly words: readonly number[];
}

/** A channel on the route from a public node to the payee. */
export interface RouteHop {
  /** The public key of the node at the start of the channel, in hex. */
  readonly pubkey: string;
  /** The id of the channel, in the form `BLOCKxTRANSACTIONxOUTPUT`. */
  readonly shortChannelId: string;
  readonly feeBaseMsat: number;
  readonly feeProportionalMillionths: number;
  readonly cltvExpiryDelta: number;
}

const hopBytes = 51;

export const invalidInvoice = (what: string): Failure =>
  new Failure('usage', `This Lightning invoice is not valid: ${what}. Ask for a new invoice.`);

export function splitFields(words: readonly number[]): Field[] {
  const fields: Field[] = [];
  for (let at = 0; at < words.length;) {
    const [type = 0, high, low] = words.slice(at, at + 3);
    if (high === undefined || low === undefined)
      throw invalidInvoice('the last field of the invoice is truncated');
    const end = at + 3 + high * 32 + low;
    if (end > words.length) throw invalidInvoice('a field is longer than the invoice');
    fields.push({ type, words: words.slice(at + 3, end) });
    at = end;
  }
  return fields;
}

export function joinField(letter: FieldLetter, words: readonly number[]): number[] {
  if (words.length > 1023)
    throw new Failure('usage', `The "${letter}" field of an invoice holds at most 639 bytes.`);
  return [fieldTypes[letter], words.length >> 5, words.length & 31, ...words];
}

/**
 * Returns the words of a field that an invoice should contain at most once. If an invoice repeats
 * the field, all occurrences must be identical, because two wallets could otherwise read two
 * different payments.
 */
export function singleField(
  fields: readonly Field[],
  letter: FieldLetter,
): readonly number[] | undefined {
  const length = exactLengths[letter];
  const [first, ...others] = fields
    .filter(
      ({ type, words }) => type === fieldTypes[letter] && (length ?? words.length) === words.length,
    )
    .map(({ words }) => words);
  if (others.some((words) => words.join() !== first?.join())) {
    throw invalidInvoice(`the "${letter}" field occurs twice with different values`);
  }
  return first;
}

export function bytesOf(words: readonly number[]): Uint8Array {
  const bytes = bech32.fromWordsUnsafe([...words]);
  if (!bytes) throw invalidInvoice('a field of the invoice has surplus bits');
  return bytes;
}

export function numberOf(words: readonly number[]): number {
  const value = words.reduce((sum, word) => sum * 32 + word, 0);
  if (value > maxNumber) throw invalidInvoice('a number in the invoice is too large');
  return value;
}

/**
 * Writes a number as big-endian words without leading zeros, padded to at least `minimum` words.
 */
export function wordsOfNumber(value: number, minimum = 1): number[] {
  if (!Number.isSafeInteger(value) || value < 0 || value > maxNumber) {
    throw new Failure('usage', `${value} is not a number that an invoice can contain.`);
  }
  const words: number[] = [];
  for (let rest = value; rest > 0 || words.length < minimum; rest = Math.floor(rest / 32))
    words.unshift(rest % 32);
  return words;
}

/**
 * Returns the feature bits that are set, in ascending order. Throws if feature 16 (payment in
 * parts) is set without feature 14 (payment secret).
 */
export function readFeatures(words: readonly number[]): number[] {
  const bits = words
    .toReversed()
    .flatMap((word, group) =>
      [0, 1, 2, 3, 4].filter((bit) => (word >> bit) & 1).map((bit) => group * 5 + bit),
    );
  const has = (bit: number): boolean => bits.includes(bit) || bits.includes(bit + 1);
  if (has(16) && !has(14))
    throw invalidInvoice(
      'the invoice offers payment in parts (feature 16) without a payment secret (feature 14)',
    );
  return bits;
}

/** Finds a required feature that svcpay does not support. */
export const unknownFeature = (features: readonly number[]): number | undefined =>
  features.find((bit) => bit % 2 === 0 && !knownFeatures.has(bit));

export function readRoute(words: readonly number[]): RouteHop[] {
  const bytes = bytesOf(words);
  if (bytes.length === 0 || bytes.length % hopBytes !== 0)
    throw invalidInvoice('a route hint of the invoice is truncated');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / hopBytes }, (_, i) => {
    const at = i * hopBytes;
    const channel = view.getBigUint64(at + 33);
    return {
      pubkey: hex.encode(bytes.slice(at, at + 33)),
      shortChannelId: `${channel >> 40n}x${(channel >> 16n) & 0xffffffn}x${channel & 0xffffn}`,
      feeBaseMsat: view.getUint32(at + 41),
      feeProportionalMillionths: view.getUint32(at + 45),
      cltvExpiryDelta: view.getUint16(at + 49),
    };
  });
}

/**
 * The length of the signature in 5-bit words: 64 bytes for r and s, and one byte for the recovery
 * flag.
 */
export const signatureWords = 104;

/**
 * Returns the public key of the signer (33 bytes, hex), or `undefined` for an invalid signature.
 * @param signature r and s (64 bytes), then the recovery flag, in the order of BOLT11
 * @param payee the public key in the invoice. The signature must match the payee's key and have a
 * low S. If the payee is null, the function recovers the key from the signature.
 */
export function signerOf(
  prefix: string,
  words: readonly number[],
  signature: Uint8Array,
  payee: string | null,
): string | undefined {
  const digest = sha256(signedBytes(prefix, words));
  const [compact, flag] = [signature.subarray(0, 64), signature.subarray(64)];
  if (payee !== null) {
    return verify(compact, digest, hex.decode(payee), { prehash: false }) ? payee : undefined;
  }
  try {
    return hex.encode(recoverOnce(compact, flag[0] ?? 0, digest));
  } catch {
    return undefined;
  }
}

/**
 * Recovers a public key from a signature (SEC 1, 4.1.6), with the same result as the library's
 * `recoverPublicKey`. The library's `recoverPublicKey` first builds a table of the generator's
 * multiples, which takes ten times as long as one recovery.
 */
function recoverOnce(compact: Uint8Array, flag: number, digest: Uint8Array): Uint8Array {
  if (flag > 1)
    return recoverPublicKey(Uint8Array.of(flag, ...compact), digest, { prehash: false });
  const { r, s } = Signature.fromBytes(compact, 'compact');
  const { n } = Point.CURVE();
  const point = Point.fromBytes(Uint8Array.of(2 + flag, ...compact.subarray(0, 32)));
  const inverse = etc.invert(r, n);
  const ofGenerator = etc.mod(-BigInt(`0x${hex.encode(digest)}`) * inverse, n);
  return sumOfMultiples(Point.BASE, ofGenerator, point, etc.mod(s * inverse, n))
    .assertValidity()
    .toBytes();
}

/**
 * Returns the sum of two multiples of points, computed with one chain of doublings. The points and
 * the factors are public, so the computation need not run in constant time.
 */
function sumOfMultiples(a: Point, ofA: bigint, b: Point, ofB: bigint): Point {
  const both = a.add(b);
  const [bitsA, bitsB] = [ofA, ofB].map((scalar) => scalar.toString(2).padStart(256, '0'));
  let sum = Point.ZERO;
  for (let bit = 0; bit < 256; bit += 1) {
    const [hasA, hasB] = [bitsA?.[bit] === '1', bitsB?.[bit] === '1'];
    sum = sum.double();
    if (hasA || hasB) sum = sum.add(hasA && hasB ? both : hasA ? a : b);
  }
  return sum;
}

/**
 * Whether S is in the upper half of the curve's order. Each signature has a second valid form with
 * a high S.
 */
export function hasHighS(signature: Uint8Array): boolean {
  try {
    return Signature.fromBytes(signature.subarray(0, 64), 'compact').hasHighS();
  } catch {
    return false;
  }
}

/**
 * Signs an invoice with the key (RFC 6979, low S), and returns the complete invoice in lower-case
 * bech32.
 */
export function sealInvoice(
  prefix: string,
  words: readonly number[],
  privateKey: Uint8Array,
): string {
  // To sign, the secp256k1 library needs an HMAC function in `hashes.hmacSha256`. `sealInvoice`
  // assigns the HMAC function, so that importing `parts.ts` has no side effect.
  hashes.hmacSha256 ??= (key, message) =>
    new Uint8Array(createHmac('sha256', key).update(message).digest());
  const digest = sha256(signedBytes(prefix, words));
  const [flag = 0, ...compact] = sign(digest, privateKey, { prehash: false, format: 'recovered' });
  return bech32.encode(
    prefix,
    [...words, ...bech32.toWords(Uint8Array.of(...compact, flag))],
    false,
  );
}

/**
 * The bytes that the signature covers: the prefix as text, then the words as bytes, padded with
 * zero bits.
 */
function signedBytes(prefix: string, words: readonly number[]): Uint8Array {
  const length = Math.ceil((words.length * 5) / 8);
  const filled = Array.from({ length: Math.ceil((length * 8) / 5) }, (_, at) => words[at] ?? 0);
  return Uint8Array.of(...Buffer.from(prefix, 'utf8'), ...bech32.fromWords(filled));
}
