// parseBip21 and formatBip21 follow the grammar of BIP21 and BIP321.
import Big from 'big.js';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { formatBip21, parseBip21 } from '../../src/formats/destination.js';
import { loadVectors } from '../support/vectors.js';
import { refusal } from './support.js';

const titled = v.array(v.object({ title: v.string(), uri: v.string() }));
const schema = v.object({ valid: titled, invalid: titled });
const suites = [
  ['BIP21', loadVectors('bip21.json', schema)],
  ['BIP321', loadVectors('bip321.json', schema)],
] as const;

describe.for(suites)('parseBip21 with the official %s vectors', ([, vectors]) => {
  test('reads the valid bitcoin: URIs', () => {
    for (const { uri } of vectors.valid) {
      const read = parseBip21(uri);
      const label = /label=([^&]*)/.exec(uri)?.[1];
      const amount = /amount=([^&]*)/.exec(uri)?.[1];
      expect(read.address).toBe(/^bitcoin:([^?]+)/i.exec(uri)?.[1]);
      expect(read.label).toBe(label);
      expect(read.amount).toEqual(amount === undefined ? undefined : new Big(amount));
      expect(read.lightning).toBe(/lightning=([^&]*)/.exec(uri)?.[1]);
      expect(read.segwitAddresses).toEqual(
        [...uri.matchAll(/(?:bc|tb)=([^&]*)/gi)].map(([, address]) => address),
      );
      expect(read.otherMethods).toEqual(['lno', 'sp'].filter((key) => uri.includes(`${key}=`)));
    }
  });

  test('refuses the invalid bitcoin: URIs', () => {
    for (const { uri } of vectors.invalid) {
      expect(refusal(() => parseBip21(uri))).toContain('This bitcoin: URI cannot be used');
    }
  });
});

const address = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa';

describe('parseBip21', () => {
  test('decodes percent-encoded text and keeps a plus sign', () => {
    const read = parseBip21(
      `bitcoin:${address}?message=Donation%20for%20xyz&label=a+b%26c%E2%82%BF`,
    );
    expect(read).toMatchObject({ address, message: 'Donation for xyz', label: 'a+b&c₿' });
  });

  test('accepts keys in any letter case, and the required keys that it supports', () => {
    const read = parseBip21(`BITCOIN:${address}?AMOUNT=20.3&req-label=x&Req-Message=y`);
    expect(read).toMatchObject({ address, amount: new Big('20.3'), label: 'x', message: 'y' });
  });

  test.for([
    ['50', '50'],
    ['50.00', '50'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['0.00000001', '0.00000001'],
  ] as const)('reads the amount "%s" of a bitcoin: URI as %s BTC', ([text, value]) => {
    expect(parseBip21(`bitcoin:${address}?amount=${text}`).amount).toEqual(new Big(value));
  });

  test.for([
    ['amount=50,000.00', 'is not an amount in BTC'],
    ['amount=', 'is not an amount in BTC'],
    ['amount=.', 'is not an amount in BTC'],
    ['amount=1e3', 'is not an amount in BTC'],
    ['amount=-1', 'is not an amount in BTC'],
    ['amount=20.3BTC', 'is not an amount in BTC'],
    ['amount=0', 'more than zero'],
    ['amount=0.123456789', 'BTC has at most 8 decimals'],
    ['amount=21000001', 'more than the 21 million'],
    ['label=%E0%A4', 'not percent-encoded UTF-8'],
    ['lightning=a&LIGHTNING=b', '"lightning" occurs twice'],
    ['pop=callback%3a&pop=callback%3a', '"pop" occurs twice'],
    ['req-pop=callback%3a', 'requires "req-pop"'],
    ['tb=bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'requires an address that begins with'],
    ['bc=', 'requires an address that begins with'],
  ] as const)('refuses a bitcoin: URI with "%s"', ([query, reason]) => {
    expect(refusal(() => parseBip21(`bitcoin:${address}?${query}`))).toContain(reason);
  });

  test.for([
    ['bitcoin:', 'no address and no invoice'],
    ['bitcoin:?amount=1', 'no address and no invoice'],
    [`bitcoin://${address}`, 'does not have the form'],
    [`bitcoin ${address}`, 'does not have the form'],
    [`litecoin:${address}`, 'does not have the form'],
  ] as const)('refuses the bitcoin: URI "%s"', ([uri, reason]) => {
    expect(refusal(() => parseBip21(uri))).toContain(reason);
  });

  test('reads every percent-encoded label, message and Lightning parameter', () => {
    const text = fc.option(fc.string({ unit: 'grapheme', minLength: 1 }), { nil: undefined });
    fc.assert(
      fc.property(fc.record({ label: text, message: text, lightning: text }), (given) => {
        const parameters = Object.entries(given).flatMap(([key, value]) =>
          value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`],
        );
        expect(parseBip21(`bitcoin:${address}?${parameters.join('&')}`)).toMatchObject({
          address,
          ...given,
        });
      }),
    );
  });

  test('reads the output of formatBip21', () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 2_100_000_000_000_000n).map((sat) => new Big(sat).times('1e-8')),
        (amount) => {
          expect(parseBip21(formatBip21(address, amount))).toMatchObject({ address, amount });
        },
      ),
    );
  });
});

test('formatBip21 writes an amount without an exponent, and omits a missing amount', () => {
  expect(formatBip21(address)).toBe(`bitcoin:${address}`);
  expect(formatBip21(address, new Big('1e-8'))).toBe(`bitcoin:${address}?amount=0.00000001`);
});
