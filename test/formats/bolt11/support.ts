// Writes the BOLT11 fields that invoices of the sandbox lack, for tests of decodeInvoice.
import { bech32, hex } from '@scure/base';
import { parseBitcoinAddress } from '../../../src/formats/address.js';
import {
  joinField,
  wordsOfNumber,
  type FieldLetter,
  type RouteHop,
  sealInvoice,
} from '../../../src/formats/bolt11/decode.js';

/** Creates an invoice with the given fields and a valid signature. */
export function signed(
  fields: ReadonlyArray<readonly [FieldLetter, readonly number[]]>,
  key: Uint8Array,
  prefix = 'lnbc',
  timestamp = 1_700_000_000,
): string {
  const tagged = fields.flatMap(([letter, words]) => joinField(letter, words));
  return sealInvoice(prefix, [...wordsOfNumber(timestamp, 7), ...tagged], key);
}

export function wordsOfFeatures(bits: readonly number[]): number[] {
  const length = bits.length === 0 ? 0 : Math.floor(Math.max(...bits) / 5) + 1;
  return Array.from({ length }, (_, i) => {
    const group = length - 1 - i;
    return bits
      .filter((bit) => Math.floor(bit / 5) === group)
      .reduce((word, bit) => word | (1 << (bit % 5)), 0);
  });
}

export function wordsOfRoute(hops: readonly RouteHop[]): number[] {
  const bytes = new Uint8Array(hops.length * 51);
  const view = new DataView(bytes.buffer);
  hops.forEach((hop, i) => {
    const at = i * 51;
    const [block = 0n, transaction = 0n, output = 0n] = hop.shortChannelId.split('x').map(BigInt);
    bytes.set(hex.decode(hop.pubkey), at);
    view.setBigUint64(at + 33, (block << 40n) | (transaction << 16n) | output);
    view.setUint32(at + 41, hop.feeBaseMsat);
    view.setUint32(at + 45, hop.feeProportionalMillionths);
    view.setUint16(at + 49, hop.cltvExpiryDelta);
  });
  return bech32.toWords(bytes);
}

export function wordsOfAddress(text: string): number[] {
  const { type, witnessVersion, program } = parseBitcoinAddress(text);
  const version = witnessVersion ?? (type === 'p2pkh' ? 17 : 18);
  return [version, ...bech32.toWords(hex.decode(program))];
}
