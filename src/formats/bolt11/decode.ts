// The parts of BOLT11 Lightning invoices, and their decoder, which verifies the signature and
// everything else that BOLT11 requires.
import { bech32, hex } from '@scure/base';
import {
  encodeBase58Address,
  encodeSegwitAddress,
  changed,
  normaliseBech32,
  findNetwork,
  type BitcoinNetwork,
  sha256,
} from '../address.js';
import { type Failure, invalid } from '../failure.js';
import { createHmac } from 'node:crypto';
import { etc, hashes, Point, recoverPublicKey, sign, Signature, verify } from '@noble/secp256k1';

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
  invalid(`This Lightning invoice is not valid: ${what}. Ask for a new invoice.`);

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
    throw invalid(`The "${letter}" field of an invoice holds at most 639 bytes.`);
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
    throw invalid(`${value} is not a number that an invoice can contain.`);
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
 * `recoverPublicKey`. For the generator, the library first builds a table of multiples, which takes
 * ten times as long as one recovery, so `recoverOnce` multiplies the negative generator. The points
 * and the factors are public, so the computation need not run in constant time.
 */
function recoverOnce(compact: Uint8Array, flag: number, digest: Uint8Array): Uint8Array {
  if (flag > 1)
    return recoverPublicKey(Uint8Array.of(flag, ...compact), digest, { prehash: false });
  const { r, s } = Signature.fromBytes(compact, 'compact');
  const { n } = Point.CURVE();
  const inverse = etc.invert(r, n);
  const times = (point: Point, factor: bigint): Point =>
    point.multiplyUnsafe(etc.mod(factor * inverse, n));
  return times(Point.BASE.negate(), etc.bytesToNumberBE(digest))
    .add(times(Point.fromBytes(Uint8Array.of(2 + flag, ...compact.subarray(0, 32))), s))
    .assertValidity()
    .toBytes();
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

/** A BOLT11 invoice that has passed every check. */
export interface Invoice {
  /** The complete invoice in lower case. */
  readonly invoice: string;
  readonly network: BitcoinNetwork;
  /** The amount in millisatoshis, or `null` if the payer chooses the amount. */
  readonly amountMsat: bigint | null;
  /** The payment hash in hex. All hashes, keys and signatures of an invoice are in hex. */
  readonly paymentHash: string;
  readonly paymentSecret: string;
  /** The public key of the receiving node, verified or recovered from the signature. */
  readonly payee: string;
  /**
   * The payee's description of the payment, or `null` if the invoice has a description hash instead
   * of a description. Sanitize the description before you show it on a screen.
   */
  readonly description: string | null;
  readonly descriptionHash: string | null;
  /** The creation time in seconds since 1970. */
  readonly timestamp: number;
  /** The lifetime of the invoice in seconds, counted from `timestamp`. */
  readonly expiry: number;
  /** The time of expiry in milliseconds since 1970. */
  readonly expiresAt: number;
  /** The minimum expiry delta of the last channel, in blocks. */
  readonly minFinalCltvExpiry: number;
  /** The numbers of the feature bits that are set, in ascending order. */
  readonly features: readonly number[];
  readonly routeHints: ReadonlyArray<readonly RouteHop[]>;
  /** The first fallback address whose type svcpay recognizes. */
  readonly fallbackAddress: string | null;
  readonly metadata: string | null;
  /** The values r and s of the signature, 64 bytes in hex. */
  readonly signature: string;
  readonly recoveryFlag: number;
}

const defaultExpiry = 3600;
export const defaultCltvExpiry = 18;

/**
 * The length of the longest accepted invoice, which is the capacity of the largest QR code. The
 * longest real invoices have about a thousand characters.
 */
const maxLength = 7089;
const timestampWords = 7;
const noun = 'Lightning invoice';

/**
 * Decodes a Lightning invoice in upper or lower case, and verifies its checksum and signature.
 * Throws Failure `usage` with the reason if svcpay cannot pay the invoice.
 */
export function decodeInvoice(text: string): Invoice {
  const { invoice, whyUnpayable } = inspectInvoice(text);
  if (whyUnpayable === undefined) return invoice;
  throw invalid(`This Lightning invoice cannot be paid: ${whyUnpayable}. Ask for a new invoice.`);
}

/**
 * Decodes a valid, signed invoice, even if svcpay cannot pay the invoice. `whyUnpayable` is the
 * reason why svcpay cannot pay the invoice. If the invoice has no payment secret, `paymentSecret`
 * is empty.
 */
export function inspectInvoice(text: string): {
  readonly invoice: Invoice;
  readonly whyUnpayable: string | undefined;
} {
  const { invoice, prefix, words } = unwrap(text);
  const { network, amountMsat } = readPrefix(prefix);
  if (words.length < timestampWords + signatureWords)
    throw invalidInvoice('the invoice is too short');
  const signed = words.slice(0, -signatureWords);
  const timestamp = numberOf(signed.slice(0, timestampWords));
  const fields = splitFields(signed.slice(timestampWords));
  const terms = readTerms(fields);
  const feature = unknownFeature(terms.features);
  const whyUnpayable =
    feature === undefined
      ? terms.paymentSecret === ''
        ? 'the invoice has no payment secret'
        : undefined
      : `the invoice requires feature ${feature}, which svcpay does not support`;
  const signature = bytesOf(words.slice(-signatureWords));
  const payee = verifySigner(prefix, signed, signature, hexField(fields, 'n'));
  const read = {
    invoice,
    network,
    amountMsat,
    ...terms,
    payee,
    timestamp,
    expiresAt: (timestamp + terms.expiry) * 1000,
    fallbackAddress: readFallback(fields, network),
    signature: hex.encode(signature.slice(0, 64)),
    recoveryFlag: signature[64] ?? 0,
  };
  return { invoice: read, whyUnpayable };
}

function unwrap(text: string): { invoice: string; prefix: string; words: number[] } {
  if (text.length > maxLength) {
    throw invalid('This is too long for a Lightning invoice. Copy only the invoice.');
  }
  if (!/^ln/i.test(text)) {
    throw invalid(
      'This is not a Lightning invoice. ' +
        'Lightning invoices begin with lnbc, or on testnet with lntb.',
    );
  }
  const invoice = normaliseBech32(text, noun);
  const decoded = bech32.decodeUnsafe(invoice, false);
  if (!decoded) throw changed(noun, 'the checksum is wrong');
  return { invoice, ...decoded };
}

const msatPerMultiplier: Readonly<Record<string, bigint>> = {
  '': 100_000_000_000n,
  m: 100_000_000n,
  u: 100_000n,
  n: 100n,
};
const supplyMsat = 21_000_000n * 100_000_000_000n;

function readPrefix(prefix: string): { network: BitcoinNetwork; amountMsat: bigint | null } {
  const [, currency, amount = ''] = /^(ln[a-z]+)(\d.*)?$/.exec(prefix) ?? [];
  const network = findNetwork((prefixes) => prefixes.invoice === currency);
  if (network === undefined) {
    throw invalid(`This Lightning invoice is for an unknown network, "${currency ?? prefix}".`);
  }
  return { network, amountMsat: amount === '' ? null : readAmount(amount) };
}

function readAmount(amount: string): bigint {
  const [, digits, multiplier] = /^([1-9]\d{0,20})([munp]?)$/.exec(amount) ?? [];
  if (digits === undefined || multiplier === undefined) {
    throw invalidInvoice(
      `the amount "${amount}" is not a number with an optional multiplier (m, u, n or p)`,
    );
  }
  if (multiplier === 'p' && !digits.endsWith('0')) {
    throw invalidInvoice('the amount is not a whole number of millisatoshis');
  }
  const unit = msatPerMultiplier[multiplier];
  const msat = unit === undefined ? BigInt(digits) / 10n : BigInt(digits) * unit;
  if (msat > supplyMsat)
    throw invalidInvoice('the amount is more than the 21 million bitcoin that exist');
  return msat;
}

function readTerms(fields: readonly Field[]) {
  const number = (letter: FieldLetter, otherwise: number): number => {
    const words = singleField(fields, letter);
    return words === undefined ? otherwise : numberOf(words);
  };
  const features = readFeatures(singleField(fields, '9') ?? []);
  const paymentHash = hexField(fields, 'p');
  const paymentSecret = hexField(fields, 's') ?? '';
  const description = readDescription(fields);
  const descriptionHash = hexField(fields, 'h');
  if (paymentHash === null) throw invalidInvoice('the invoice has no payment hash');
  if (description === null && descriptionHash === null)
    throw invalidInvoice('the invoice has no description');
  if (description !== null && descriptionHash !== null) {
    throw invalidInvoice('the invoice has both a description and a description hash');
  }
  return {
    paymentHash,
    paymentSecret,
    description,
    descriptionHash,
    expiry: number('x', defaultExpiry),
    minFinalCltvExpiry: number('c', defaultCltvExpiry),
    features,
    routeHints: fields
      .filter(({ type }) => type === fieldTypes.r)
      .map(({ words }) => readRoute(words)),
    metadata: hexField(fields, 'm'),
  };
}

function hexField(fields: readonly Field[], letter: FieldLetter): string | null {
  const words = singleField(fields, letter);
  return words === undefined ? null : hex.encode(bytesOf(words));
}

function readDescription(fields: readonly Field[]): string | null {
  const words = singleField(fields, 'd');
  if (words === undefined) return null;
  const bytes = bytesOf(words);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidInvoice('the description of the invoice is not UTF-8 text');
  }
}

function readFallback(fields: readonly Field[], network: BitcoinNetwork): string | null {
  for (const { type, words } of fields) {
    const [version, ...program] = words;
    if (type !== fieldTypes.f || version === undefined || version > 18) continue;
    return encodeFallback(network, version, bytesOf(program));
  }
  return null;
}

function encodeFallback(network: BitcoinNetwork, version: number, program: Uint8Array): string {
  try {
    if (version === 17) return encodeBase58Address(network, 'p2pkh', program);
    if (version === 18) return encodeBase58Address(network, 'p2sh', program);
    return encodeSegwitAddress(network, version, program);
  } catch {
    throw invalidInvoice('the fallback address of the invoice has an impossible length');
  }
}

function verifySigner(
  prefix: string,
  words: readonly number[],
  signature: Uint8Array,
  stated: string | null,
): string {
  if (stated !== null && hasHighS(signature)) {
    throw invalidInvoice('the signature of the invoice is not in the canonical form (high S)');
  }
  const payee = signerOf(prefix, words, signature, stated);
  if (payee === undefined) throw invalidInvoice('the signature does not match the invoice');
  return payee;
}
