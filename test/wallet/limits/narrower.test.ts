// Limits come from several sources, and each source can only narrow the others.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Limits } from '../../../src/store/profile/profiles.js';
import { limitsFrom, narrower, noLimits } from '../../../src/wallet/limits/limits.js';

const amounts = fc.dictionary(fc.constantFrom('BTC', 'USDT'), fc.nat(5).map(String));
const limits: fc.Arbitrary<Limits> = fc.record({
  perPayment: amounts,
  perDay: amounts,
  destinations: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
});

/** Whether the limits allow a payment of this amount to a destination. */
const passes = (
  { perPayment, perDay, destinations }: Limits,
  ccy: string,
  value: number,
  to: string,
): boolean =>
  [perPayment, perDay].every((each) => each[ccy] === undefined || value <= Number(each[ccy])) &&
  (destinations.length === 0 || destinations.includes(to));

test('narrower combines two limits so that a payment must pass both', () => {
  fc.assert(
    fc.property(
      limits,
      limits,
      fc.constantFrom('BTC', 'USDT'),
      fc.nat(6),
      fc.constantFrom('a', 'b', 'c'),
      (a, b, ccy, value, to) => {
        expect(passes(narrower(a, b), ccy, value, to)).toBe(
          passes(a, ccy, value, to) && passes(b, ccy, value, to),
        );
      },
    ),
  );
});

test('limitsFrom takes the lowest amount per currency from an environment variable', () => {
  expect(
    limitsFrom({
      SVCPAY_LIMIT_PER_PAYMENT: ' 100000sat, 25usdt ,50000 sat,',
      SVCPAY_LIMIT_PER_DAY: '',
    }),
  ).toEqual({
    ...noLimits,
    perPayment: { BTC: '0.0005', USDT: '25' },
  });
  for (const wrong of ['100000', 'all', '1btc;2usdt', '-1btc'])
    expect(() => limitsFrom({ SVCPAY_LIMIT_PER_DAY: wrong })).toThrow('SVCPAY_LIMIT_PER_DAY');
});
