// Decodes BOLT11 Lightning invoices, and verifies the signature and everything else that BOLT11
// requires.
import { bech32, hex } from '@scure/base';
import {
  encodeBase58Address,
  encodeSegwitAddress,
  changed,
  normaliseBech32,
  findNetwork,
  type BitcoinNetwork,
} from '../address.js';
import { Failure } from '../failure.js';
import {
  bytesOf,
  fieldTypes,
  invalidInvoice,
  numberOf,
  readFeatures,
  readRoute,
  singleField,
  splitFields,
  unknownFeature,
  type Field,
  type FieldLetter,
  type RouteHop,
  hasHighS,
  signatureWords,
  signerOf,
} from './parts.js';

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
  throw new Failure(
    'usage',
    `This Lightning invoice cannot be paid: ${whyUnpayable}. Ask for a new invoice.`,
  );
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
    throw new Failure('usage', 'This is too long for a Lightning invoice. Copy only the invoice.');
  }
  if (!/^ln/i.test(text)) {
    throw new Failure(
      'usage',
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
    throw new Failure(
      'usage',
      `This Lightning invoice is for an unknown network, "${currency ?? prefix}".`,
    );
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
