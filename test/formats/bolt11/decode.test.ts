// decodeInvoice reads the official BOLT11 vectors, and refuses invoices that a payer must not pay.
import { bech32, hex } from '@scure/base';
import { getPublicKey, Signature } from '@noble/secp256k1';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  decodeInvoice,
  joinField,
  wordsOfNumber,
  type FieldLetter,
  sealInvoice,
} from '../../../src/formats/bolt11/decode.js';
import { loadVectors } from '../../support/vectors.js';
import { refusal } from '../support.js';
import { encodeBase58Address, encodeSegwitAddress } from '../../../src/formats/address.js';
import { signed as signedWith, wordsOfAddress, wordsOfFeatures, wordsOfRoute } from './support.js';

const optionalText = v.optional(v.string());
const optionalNumber = v.optional(v.number());
const vectors = loadVectors(
  'bolt11-official.json',
  v.object({
    valid: v.array(
      v.object({
        title: v.string(),
        invoice: v.string(),
        prefix: v.string(),
        amount_msat: optionalText,
        timestamp: optionalNumber,
        payment_hash: optionalText,
        payment_secret: optionalText,
        description: optionalText,
        description_hash: optionalText,
        expiry_seconds: optionalNumber,
        min_final_cltv_expiry_delta: optionalNumber,
        fallback_address: optionalText,
        signature_hex: optionalText,
        recovery_flag: optionalNumber,
        observed_node_id: optionalText,
      }),
    ),
    invalid: v.array(v.object({ title: v.string(), invoice: v.string() })),
    signing_key_hex: v.string(),
    expected_node_id: v.string(),
  }),
);

/** The donation invoice of the BOLT11 standard, which tests change in many ways. */
const donation =
  'lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwz' +
  'qfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc' +
  '5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9l' +
  'fyql';

const privateKey = new Uint8Array(32).fill(7);
const payee = hex.encode(getPublicKey(privateKey));
const hash = bech32.toWords(new Uint8Array(32).fill(1));
const text = (words: string): number[] => bech32.toWords(new TextEncoder().encode(words));
const required: Array<[FieldLetter, number[]]> = [
  ['p', hash],
  ['s', hash],
  ['d', text('tea')],
  ['9', wordsOfFeatures([8, 14])],
];
const without = (letter: FieldLetter): typeof required =>
  required.filter(([other]) => other !== letter);

const signed = (fields: typeof required, prefix?: string): string =>
  signedWith(fields, privateKey, prefix);

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const hexBytes = (length: number) => bytes(length).map(hex.encode);

const routeHop = fc.record({
  pubkey: hexBytes(33),
  shortChannelId: fc
    .tuple(fc.nat(0xffffff), fc.nat(0xffffff), fc.nat(0xffff))
    .map(([block, transaction, output]) => `${block}x${transaction}x${output}`),
  feeBaseMsat: fc.nat(0xffffffff),
  feeProportionalMillionths: fc.nat(0xffffffff),
  cltvExpiryDelta: fc.nat(0xffff),
});

const fallback = fc.oneof(
  bytes(20).map((hash) => encodeBase58Address('mainnet', 'p2pkh', hash)),
  bytes(20).map((hash) => encodeBase58Address('mainnet', 'p2sh', hash)),
  fc
    .constantFrom(20, 32)
    .chain(bytes)
    .map((program) => encodeSegwitAddress('mainnet', 0, program)),
  bytes(32).map((program) => encodeSegwitAddress('mainnet', 1, program)),
);
const rare = fc.record({
  minFinalCltvExpiry: fc.nat(5000),
  features: fc
    .uniqueArray(fc.constantFrom(8, 9, 17, 24, 25, 48, 49, 99, 201))
    .map((bits) => [14, ...bits].toSorted((a, b) => a - b)),
  routeHints: fc.array(fc.array(routeHop, { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
  fallbackAddress: fc.option(fallback),
  metadata: fc.option(fc.nat(40).chain(hexBytes)),
});

/** Returns the invoice with the high-S form of its signature: n - S and the other parity. */
function withHighS(invoice: string): string {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const { prefix, words } = bech32.decode(invoice, false);
  const bytes = bech32.fromWords(words.slice(-104));
  const { r, s } = Signature.fromBytes(bytes.slice(0, 64), 'compact');
  const high = new Signature(r, order - s).toBytes();
  const flag = (bytes[64] ?? 0) ^ 1;
  return bech32.encode(
    prefix,
    [...words.slice(0, -104), ...bech32.toWords(Uint8Array.of(...high, flag))],
    false,
  );
}

describe('decodeInvoice with the official BOLT11 vectors', () => {
  test.for(vectors.valid.map((each) => [each.title, each] as const))(
    'reads the valid vector "%s"',
    ([, stated]) => {
      const invoice = decodeInvoice(stated.invoice);
      expect(invoice).toMatchObject({
        invoice: stated.invoice.toLowerCase(),
        network: stated.prefix === 'lntb' ? 'testnet' : 'mainnet',
        amountMsat: stated.amount_msat === undefined ? null : BigInt(stated.amount_msat),
        payee: stated.observed_node_id ?? vectors.expected_node_id,
        expiry: stated.expiry_seconds ?? 3600,
        minFinalCltvExpiry: stated.min_final_cltv_expiry_delta ?? 18,
        timestamp: stated.timestamp ?? 1496314658,
        paymentHash:
          stated.payment_hash ?? '0001020304050607080900010203040506070809000102030405060708090102',
        paymentSecret: stated.payment_secret ?? '11'.repeat(32),
        signature: stated.signature_hex ?? invoice.signature,
        recoveryFlag: stated.recovery_flag ?? invoice.recoveryFlag,
        fallbackAddress: stated.fallback_address ?? invoice.fallbackAddress,
      });
      expect(invoice.expiresAt).toBe((invoice.timestamp + invoice.expiry) * 1000);
      if (stated.description !== undefined) expect(invoice.description).toBe(stated.description);
      if (stated.description_hash !== undefined)
        expect(invoice.descriptionHash).toBe(stated.description_hash);
      expect([invoice.description, invoice.descriptionHash]).toContain(null);
    },
  );

  test('returns features, route hints, a fallback address and metadata only if the invoice has them', () => {
    const invoices = vectors.valid.map(({ invoice }) => decodeInvoice(invoice));
    expect(invoices.map(({ features }) => features.join(' '))).toEqual([
      ...Array.from({ length: 10 }, () => '8 14'),
      '8 14 99',
      '8 14 99',
      '8 14 99',
      '8 14 48',
      '8 14',
    ]);
    expect(invoices.map(({ fallbackAddress }) => fallbackAddress !== null)).toEqual(
      invoices.map((_, i) => i >= 4 && i <= 8),
    );
    expect(invoices.map(({ metadata }) => metadata)).toEqual(
      invoices.map((_, i) => (i === 13 ? '01fafaf0' : null)),
    );
    expect(invoices.flatMap(({ routeHints }) => routeHints)).toEqual([
      [
        hop(
          '029e03a901b85534ff1e92c43c74431f7ce72046060fcf7a95c37e148f78c77255',
          '66051x263430x1800',
          1,
          20,
          3,
        ),
        hop(
          '039e03a901b85534ff1e92c43c74431f7ce72046060fcf7a95c37e148f78c77255',
          '197637x395016x2314',
          2,
          30,
          4,
        ),
      ],
      [
        hop(
          '03d06758583bb5154774a6eb221b1276c9e82d65bbaceca806d90e20c108f4b1c7',
          '589390x3312x1',
          1000,
          2500,
          40,
        ),
      ],
    ]);
  });

  test.for([
    ['feature 100', 'requires feature 100'],
    ['checksum is invalid', 'the checksum is wrong'],
    ['no 1', 'not a Lightning invoice'],
    ['mixed case', 'mixes upper-case and lower-case'],
    ['not recoverable', 'the signature does not match the invoice'],
    ['too short', 'the invoice is too short'],
    [
      'Invalid multiplier',
      'the amount "2500x" is not a number with an optional multiplier (m, u, n or p)',
    ],
    ['sub-millisatoshi', 'not a whole number of millisatoshis'],
    ['required `s` field', 'the invoice has no payment secret'],
    ["high-S) with 'n'", 'high S'],
  ] as const)('refuses the invalid vector "%s" with the message "%s"', ([title, reason]) => {
    const found = vectors.invalid.filter((one) => one.title.includes(title));
    expect(found).toHaveLength(1);
    for (const { invoice } of found)
      expect(refusal(() => decodeInvoice(invoice))).toContain(reason);
  });

  test('is tested with ten invalid vectors', () => {
    expect(vectors.invalid).toHaveLength(10);
  });

  test('sealInvoice reproduces the valid vectors byte for byte', () => {
    const key = hex.decode(vectors.signing_key_hex);
    for (const { invoice } of vectors.valid.filter(
      ({ observed_node_id }) => observed_node_id === undefined,
    )) {
      const { prefix, words } = bech32.decode(invoice, false);
      expect(sealInvoice(prefix, words.slice(0, -104), key)).toBe(invoice.toLowerCase());
    }
  });
});

function hop(
  pubkey: string,
  shortChannelId: string,
  base: number,
  proportional: number,
  cltvExpiryDelta: number,
) {
  return {
    pubkey,
    shortChannelId,
    feeBaseMsat: base,
    feeProportionalMillionths: proportional,
    cltvExpiryDelta,
  };
}

describe('decodeInvoice', () => {
  test('reads the donation invoice of the standard in either letter case', () => {
    const invoice = decodeInvoice(donation);
    expect(invoice).toMatchObject({
      network: 'mainnet',
      amountMsat: null,
      payee: '03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad',
      description: 'Please consider supporting this project',
      expiresAt: 1496318258000,
    });
    expect(decodeInvoice(donation.toUpperCase())).toEqual(invoice);
  });

  test('refuses the donation invoice with any character changed', () => {
    const charset = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l1bio-';
    const at = fc.nat(donation.length - 1);
    fc.assert(
      fc.property(at, fc.constantFrom(...charset), (index, character) => {
        fc.pre(donation[index] !== character);
        const broken = donation.slice(0, index) + character + donation.slice(index + 1);
        expect(refusal(() => decodeInvoice(broken))).toMatch(
          /changed or cut off|not a Lightning invoice/,
        );
      }),
      { numRuns: 1000 },
    );
  });

  test('explains how an invoice was changed, and advises copying the invoice again', () => {
    expect(refusal(() => decodeInvoice(donation.replace('pvjluez', 'pvjluey')))).toBe(
      'This Lightning invoice was changed or cut off: the checksum is wrong. ' +
        'Copy the whole Lightning invoice again, or ask for a new one.',
    );
    expect(refusal(() => decodeInvoice(donation.replace('pvjluez', 'pvj luez')))).toContain(
      'it contains " ", which is not allowed',
    );
    const withKelvin = donation.toUpperCase().replace('K', '\u212a');
    expect(refusal(() => decodeInvoice(withKelvin))).toContain(
      'it contains "\u212a", which is not allowed',
    );
  });

  test('returns an invoice or a usage failure for any signed fields', () => {
    const words = fc.array(fc.nat(31), { maxLength: 60 });
    fc.assert(
      fc.property(words, (tail) => {
        const body = required.flatMap(([letter, field]) => joinField(letter, field));
        const invoice = sealInvoice(
          'lnbc',
          [...wordsOfNumber(1_700_000_000, 7), ...body, ...tail],
          privateKey,
        );
        const outcome = (): unknown => decodeInvoice(invoice).payee;
        try {
          expect(outcome()).toBe(payee);
        } catch {
          expect(refusal(outcome)).toMatch(/is not valid|requires feature/);
        }
      }),
      { numRuns: 200 },
    );
  });

  test.for([
    ['lnbc2500u', 250_000_000n],
    ['lnbc1', 100_000_000_000n],
    ['lnbc20m', 2_000_000_000n],
    ['lnbc1n', 100n],
    ['lnbc10p', 1n],
    ['lnbc20999999999999999990p', 2_099_999_999_999_999_999n],
    ['lnbc21000000', 2_100_000_000_000_000_000n],
  ] as const)('reads the amount in the invoice prefix "%s"', ([prefix, amountMsat]) => {
    expect(decodeInvoice(signed(required, prefix)).amountMsat).toBe(amountMsat);
  });

  test.for([
    ['lnbc0m', 'the amount "0m"'],
    ['lnbc01m', 'the amount "01m"'],
    ['lnbc1.5m', 'the amount "1.5m"'],
    ['lnbc1mm', 'the amount "1mm"'],
    ['lnbcm', 'unknown network, "lnbcm"'],
    ['lnbc11p', 'millisatoshis'],
    ['lnbc21000001', 'more than the 21 million'],
    ['lnbc1' + '0'.repeat(40), 'the amount'],
    ['lnltc1m', 'unknown network, "lnltc"'],
  ] as const)('refuses the invoice prefix "%s"', ([prefix, reason]) => {
    expect(refusal(() => decodeInvoice(signed(required, prefix)))).toContain(reason);
  });

  test.for([
    ['lnbc', 'mainnet'],
    ['lntb', 'testnet'],
    ['lntbs', 'signet'],
    ['lnbcrt', 'regtest'],
  ] as const)('reads the invoice prefix "%s" as the network %s', ([prefix, network]) => {
    expect(decodeInvoice(signed(required, `${prefix}1m`)).network).toBe(network);
    expect(decodeInvoice(signed(required, prefix)).network).toBe(network);
  });
});

describe('decodeInvoice on the fields of an invoice', () => {
  test('reads every field that the encoder writes, including the rare fields', () => {
    fc.assert(
      fc.property(rare, (fields) => {
        const { minFinalCltvExpiry, features, routeHints, fallbackAddress, metadata } = fields;
        const invoice = signed([
          ...without('9'),
          ['c', wordsOfNumber(minFinalCltvExpiry)],
          ['9', wordsOfFeatures(features)],
          ...routeHints.map((hops): [FieldLetter, number[]] => ['r', wordsOfRoute(hops)]),
          ...(fallbackAddress === null
            ? []
            : [['f', wordsOfAddress(fallbackAddress)] satisfies [FieldLetter, number[]]]),
          ...(metadata === null
            ? []
            : [['m', bech32.toWords(hex.decode(metadata))] satisfies [FieldLetter, number[]]]),
        ]);
        expect(decodeInvoice(invoice)).toMatchObject(fields);
      }),
      { numRuns: 100 },
    );
  });

  const bad: Array<[string, Array<[FieldLetter, number[]]>, string]> = [
    ['no payment hash', without('p'), 'the invoice has no payment hash'],
    [
      'only a payment hash of a wrong length',
      [['p', hash.slice(1)], ...without('p')],
      'the invoice has no payment hash',
    ],
    ['no payment secret', without('s'), 'the invoice has no payment secret'],
    [
      'only a payment secret of a wrong length',
      [['s', [...hash, 0]], ...without('s')],
      'the invoice has no payment secret',
    ],
    ['no description', without('d'), 'the invoice has no description'],
    [
      'only a description hash of a wrong length',
      [['h', [0, ...hash]], ...without('d')],
      'the invoice has no description',
    ],
    [
      'a description and a description hash',
      [...required, ['h', hash]],
      'both a description and a description hash',
    ],
    [
      'two different payment hashes',
      [...required, ['p', text('x'.repeat(32))]],
      '"p" field occurs twice',
    ],
    ['two different descriptions', [...required, ['d', text('coffee')]], '"d" field occurs twice'],
    ['two different expiries', [...required, ['x', [1]], ['x', [2]]], '"x" field occurs twice'],
    ['leftover bits in a field', [...required, ['h', [...hash.slice(0, -1), 31]]], 'surplus bits'],
    [
      'a description that is not UTF-8',
      [...without('d'), ['d', bech32.toWords(Uint8Array.of(255))]],
      'not UTF-8 text',
    ],
    [
      'an expiry that is too large',
      [...required, ['x', Array.from({ length: 10 }, () => 31)]],
      'too large',
    ],
    [
      'half a route hop',
      [...required, ['r', bech32.toWords(new Uint8Array(50))]],
      'a route hint of the invoice is truncated',
    ],
    ['an empty route hint', [...required, ['r', []]], 'a route hint of the invoice is truncated'],
    [
      'a fallback address of 19 bytes',
      [...required, ['f', [17, ...bech32.toWords(new Uint8Array(19))]]],
      'fallback',
    ],
    [
      'the multi-part feature but without the payment secret feature',
      [...without('9'), ['9', wordsOfFeatures([8, 17])]],
      'without a payment secret (feature 14)',
    ],
    [
      'an unknown even feature',
      [...without('9'), ['9', wordsOfFeatures([8, 14, 30])]],
      'requires feature 30',
    ],
  ];
  test.for(bad)('refuses an invoice with %s', ([, fields, reason]) => {
    expect(refusal(() => decodeInvoice(signed(fields)))).toContain(reason);
  });

  test('refuses fields that are longer than the invoice', () => {
    const words = wordsOfNumber(1_700_000_000, 7);
    const tail = (...more: number[]): string =>
      sealInvoice('lnbc', [...words, ...more], privateKey);
    expect(refusal(() => decodeInvoice(tail(1, 31, 31)))).toContain('longer than');
    expect(refusal(() => decodeInvoice(tail(1, 31)))).toContain('truncated');
  });

  test('ignores unknown fields, odd features and exact repetitions of a field', () => {
    const plain = decodeInvoice(signed(required));
    const more = decodeInvoice(
      signed([
        ...without('9'),
        ['9', wordsOfFeatures([8, 14, 17, 31, 201])],
        ['p', hash],
        ['f', [19, 1, 2]],
        ['f', []],
      ]),
    );
    const { paymentHash, description, fallbackAddress } = more;
    expect({ paymentHash, description, fallbackAddress }).toMatchObject({
      paymentHash: plain.paymentHash,
      description: 'tea',
      fallbackAddress: null,
    });
    expect(more.features).toEqual([8, 14, 17, 31, 201]);
  });

  test('returns the first fallback address of a known type', () => {
    const fallbacks: Array<[FieldLetter, number[]]> = [
      ['f', [19, 0, 0]],
      ['f', [0, ...bech32.toWords(hex.decode('751e76e8199196d454941c45d1b3a323f1433bd6'))]],
      ['f', [17, ...bech32.toWords(new Uint8Array(20))]],
    ];
    const { fallbackAddress } = decodeInvoice(signed([...required, ...fallbacks]));
    expect(fallbackAddress).toBe('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4');
  });
});

describe('decodeInvoice on the signature of an invoice', () => {
  const stated: FieldLetter = 'n';

  test('verifies the signature against the payee in the invoice', () => {
    expect(
      decodeInvoice(signed([...required, [stated, bech32.toWords(hex.decode(payee))]])).payee,
    ).toBe(payee);
  });

  test('refuses a signature by a key that is not the key of the payee in the invoice', () => {
    const other = getPublicKey(new Uint8Array(32).fill(8));
    for (const key of [other, new Uint8Array(33), new Uint8Array(33).fill(2)]) {
      const invoice = signed([...required, [stated, bech32.toWords(key)]]);
      expect(refusal(() => decodeInvoice(invoice))).toContain(
        'the signature does not match the invoice',
      );
    }
  });

  test('refuses a high-S signature only if the invoice names its payee', () => {
    const invoice = signed([...required, [stated, bech32.toWords(hex.decode(payee))]]);
    expect(refusal(() => decodeInvoice(withHighS(invoice)))).toContain('high S');
    expect(decodeInvoice(withHighS(signed(required))).payee).toBe(payee);
  });

  test('refuses a signature of zeros and a recovery flag above 3', () => {
    const { prefix, words } = bech32.decode(signed(required), false);
    const bytes = bech32.fromWords(words.slice(-104));
    for (const broken of [new Uint8Array(65), Uint8Array.of(...bytes.slice(0, 64), 4)]) {
      const invoice = bech32.encode(
        prefix,
        [...words.slice(0, -104), ...bech32.toWords(broken)],
        false,
      );
      expect(refusal(() => decodeInvoice(invoice))).toContain(
        'the signature does not match the invoice',
      );
    }
  });

  test('never returns the original payee for an invoice with changed terms', () => {
    const { words } = bech32.decode(signed(required, 'lnbc1m'), false);
    const forged = bech32.encode('lnbc2m', words, false);
    const outcome = (): string => decodeInvoice(forged).payee;
    expect(outcome()).not.toBe(payee);
  });
});
