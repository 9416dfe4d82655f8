// Writes and signs BOLT11 Lightning invoices.
import { bech32, hex } from '@scure/base';
import { defaultCltvExpiry, joinField, wordsOfNumber, sealInvoice } from './decode.js';
import { invalid } from '../failure.js';
import { prefixes, type BitcoinNetwork } from '../address.js';

/**
 * The fields of a new invoice, with the same units and notations as in `Invoice`. Set either a
 * description or a description hash.
 */
export interface InvoiceFields {
  readonly network: BitcoinNetwork;
  /**
   * The amount in millisatoshis. If the amount is absent or `null`, the payer chooses the amount.
   */
  readonly amountMsat?: bigint | null | undefined;
  readonly paymentHash: string;
  readonly paymentSecret: string;
  /** The description, at most 639 bytes of UTF-8. */
  readonly description?: string | null | undefined;
  readonly descriptionHash?: string | null | undefined;
  readonly timestamp: number;
  /** The lifetime of the invoice in seconds, by default one hour. */
  readonly expiry?: number | undefined;
}

/**
 * The required features of a new invoice: bit 8 (variable-length onion) and bit 14 (payment
 * secret).
 */
const featureWords = [16, 8, 0];

/**
 * Writes the invoice and signs it with the 32-byte node key. Throws Failure `usage` for fields that
 * BOLT11 cannot express.
 */
export function encodeInvoice(fields: InvoiceFields, privateKey: Uint8Array): string {
  const words = [...timestampWords(fields.timestamp), ...taggedFields(fields)];
  return sealInvoice(
    prefixes[fields.network].invoice + amountText(fields.amountMsat ?? null),
    words,
    privateKey,
  );
}

function timestampWords(timestamp: number): number[] {
  const words = wordsOfNumber(timestamp, 7);
  if (words.length > 7) throw invalid(`The timestamp ${timestamp} is too late for an invoice.`);
  return words;
}

/**
 * Writes the amount in the shortest notation, with the largest multiplier that leaves a whole
 * number.
 */
function amountText(msat: bigint | null): string {
  if (msat === null) return '';
  if (msat <= 0n) throw invalid('The amount of an invoice must be more than zero.');
  const pico = msat * 10n;
  for (const [size, multiplier] of [
    [12n, ''],
    [9n, 'm'],
    [6n, 'u'],
    [3n, 'n'],
  ] as const) {
    const unit = 10n ** size;
    if (pico % unit === 0n) return `${pico / unit}${multiplier}`;
  }
  return `${pico}p`;
}

function taggedFields(fields: InvoiceFields): number[] {
  return [
    ...joinField('p', wordsOfHex(fields.paymentHash, 32)),
    ...joinField('s', wordsOfHex(fields.paymentSecret, 32)),
    ...describingField(fields),
    ...(fields.expiry === undefined ? [] : joinField('x', wordsOfNumber(fields.expiry))),
    ...joinField('c', wordsOfNumber(defaultCltvExpiry)),
    ...joinField('9', featureWords),
  ];
}

function describingField({ description, descriptionHash }: InvoiceFields): number[] {
  if (typeof description === 'string' && typeof descriptionHash !== 'string') {
    return joinField('d', bech32.toWords(new TextEncoder().encode(description)));
  }
  if (typeof descriptionHash === 'string' && typeof description !== 'string') {
    return joinField('h', wordsOfHex(descriptionHash, 32));
  }
  throw invalid('An invoice must have either a description or a description hash.');
}

function wordsOfHex(text: string, length: number): number[] {
  const bytes = hex.decode(text);
  if (bytes.length !== length)
    throw invalid(`A hash or secret of an invoice must have ${length} bytes.`);
  return bech32.toWords(bytes);
}
