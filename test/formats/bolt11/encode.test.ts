// encodeInvoice writes invoices in the shortest notation, which decodeInvoice reads back unchanged.
import { getPublicKey } from '@noble/secp256k1';
import { hex } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeInvoice } from '../../../src/formats/bolt11/decode.js';
import { encodeInvoice } from '../../../src/formats/bolt11/encode.js';
import { refusal } from '../support.js';

const privateKey = new Uint8Array(32).fill(1);
const hexBytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map(hex.encode);
const description = fc
  .string({ unit: 'grapheme', maxLength: 120 })
  .filter((text) => Buffer.byteLength(text) <= 639);

const anyFields = fc.record({
  network: fc.constantFrom('mainnet', 'testnet', 'signet', 'regtest'),
  amountMsat: fc.oneof(fc.constant(null), fc.bigInt(1n, 2_100_000_000_000_000_000n)),
  paymentHash: hexBytes(32),
  paymentSecret: hexBytes(32),
  purpose: fc.oneof(
    description.map((text) => ({ description: text, descriptionHash: null })),
    hexBytes(32).map((hash) => ({ description: null, descriptionHash: hash })),
  ),
  timestamp: fc.nat(2 ** 35 - 1),
  expiry: fc.nat(2 ** 40),
});

/** The fields that encodeInvoice sets by default. */
const standard = {
  minFinalCltvExpiry: 18,
  features: [8, 14],
  routeHints: [],
  fallbackAddress: null,
  metadata: null,
};

const plain = {
  network: 'mainnet',
  paymentHash: '01'.repeat(32),
  paymentSecret: '02'.repeat(32),
  description: 'tea',
  timestamp: 1,
} as const;

describe('encodeInvoice', () => {
  test('writes fields that decodeInvoice reads back unchanged', () => {
    fc.assert(
      fc.property(anyFields, ({ purpose, ...rest }) => {
        const fields = { ...rest, ...purpose };
        const invoice = encodeInvoice(fields, privateKey);
        expect(decodeInvoice(invoice)).toEqual({
          ...fields,
          ...standard,
          invoice,
          payee: hex.encode(getPublicKey(privateKey)),
          expiresAt: (fields.timestamp + fields.expiry) * 1000,
          signature: expect.stringMatching(/^[0-9a-f]{128}$/),
          recoveryFlag: expect.toSatisfy((flag) => flag === 0 || flag === 1),
        });
      }),
      { numRuns: 200 },
    );
  });

  test('defaults to an expiry of one hour, 18 blocks and a required payment secret', () => {
    expect(decodeInvoice(encodeInvoice(plain, privateKey))).toMatchObject({
      ...standard,
      amountMsat: null,
      expiry: 3600,
    });
  });

  test.for([
    ['lnbc10p1', 1n],
    ['lnbc1n1', 100n],
    ['lnbc2500u1', 250_000_000n],
    ['lnbc20m1', 2_000_000_000n],
    ['lnbc9678785340p1', 967_878_534n],
    ['lnbc11', 100_000_000_000n],
  ] as const)(
    'writes an amount in its shortest notation, with the prefix %s',
    ([start, amountMsat]) => {
      expect(encodeInvoice({ ...plain, amountMsat }, privateKey).startsWith(start)).toBe(true);
    },
  );

  test('keeps a byte order mark at the start of a description', () => {
    const description = '\ufefftea';
    expect(decodeInvoice(encodeInvoice({ ...plain, description }, privateKey))).toMatchObject({
      description,
    });
  });

  test('accepts a description of at most 639 bytes', () => {
    const longest = `${'é'.repeat(319)}.`;
    const invoice = encodeInvoice({ ...plain, description: longest }, privateKey);
    expect(decodeInvoice(invoice).description).toBe(longest);
    expect(
      refusal(() => encodeInvoice({ ...plain, description: `${longest}.` }, privateKey)),
    ).toContain('639 bytes');
  });

  test('creates the same invoice with the same signature from the same fields', () => {
    expect(encodeInvoice(plain, privateKey)).toBe(encodeInvoice(plain, privateKey));
  });

  test.for([
    ['an amount of zero', { amountMsat: 0n }, 'more than zero'],
    [
      'a description together with a description hash',
      { descriptionHash: '00'.repeat(32) },
      'either a description or a description hash',
    ],
    [
      'an invoice without a description',
      { description: null },
      'either a description or a description hash',
    ],
    ['a short payment hash', { paymentHash: '00' }, '32 bytes'],
    ['a timestamp after the year 3058', { timestamp: 2 ** 35 }, 'too late'],
    ['a timestamp before 1970', { timestamp: -1 }, 'is not a number that an invoice can contain'],
    ['an expiry of half a second', { expiry: 0.5 }, 'is not a number that an invoice can contain'],
  ] as const)('refuses %s', ([, fields, reason]) => {
    expect(refusal(() => encodeInvoice({ ...plain, ...fields }, privateKey))).toContain(reason);
  });
});
