// The spending policy as tables: what each limit lets pass, and which names stand for which
// destinations.
import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import { isAllowed, readAllowed } from '../../../src/wallet/limits/allowed-destinations.js';
import {
  checkDestination,
  checkSpend,
  knownAmounts,
  noLimits,
} from '../../../src/wallet/limits/limits.js';
import {
  lnurlOrder,
  onchainOrder,
  swapOrder,
  usdtOrder,
} from '../../../src/wallet/order/orders.js';

const address = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const node = '03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad';

const limits = {
  perPayment: { BTC: '0.001', VND: '1000000' },
  perDay: { BTC: '0.002', USDT: '100' },
  destinations: [],
};

describe('checkSpend', () => {
  const spent = [
    { ccy: 'BTC', total: '0.0015' },
    { ccy: 'USDT', total: '60' },
    { ccy: 'USDT', total: '0.000001' },
  ];

  test.for([
    ['100000sat', [], undefined],
    ['100001sat', [], 'per-payment limit of 0.00100000 BTC'],
    ['50000sat', spent, undefined],
    ['50001sat', spent, 'daily limit of 0.00200000 BTC, of which 0.00150000 BTC is used'],
    ['39.999999usdt', spent, undefined],
    ['40usdt', spent, 'of which 60.000001 USDT is used'],
    ['1000000vnd', spent, undefined],
    ['1000001vnd', spent, 'per-payment limit of 1'],
    ['1000000usd', spent, undefined],
  ] as const)('%s after %j: %s', ([amount, before, refusal]) => {
    const check = (): void => checkSpend(limits, [parseAmount(amount)], () => before);
    if (refusal === undefined) expect(check).not.toThrow();
    else
      expect(check).toThrow(
        expect.objectContaining({ kind: 'limit', message: expect.stringContaining(refusal) }),
      );
  });

  test('checks every currency of a payment against its limit', () => {
    const amounts = [parseAmount('1sat'), parseAmount('2000000vnd')];
    expect(() => checkSpend(limits, amounts, () => [])).toThrow(
      /per-payment limit of 1\D000\D000 VND/,
    );
  });
});

describe('knownAmounts', () => {
  test.for([
    [
      'what a Lightning Address is sent',
      lnurlOrder('a@b.example', parseAmount('5usdt')),
      ['5 USDT'],
    ],
    [
      'what arrives, where that is all that is known',
      usdtOrder(tron, parseAmount('25usdt'), 'BTC'),
      ['25 USDT'],
    ],
    ['one currency once', onchainOrder(address, parseAmount('0.01btc'), 'BTC'), ['0.01 BTC']],
    [
      'of a swap only what leaves',
      swapOrder('BTC', 'USDT', parseAmount('1000sat'), 'source'),
      ['0.00001 BTC'],
    ],
    ['of a swap nothing that arrives', swapOrder('BTC', 'USDT', parseAmount('25usdt'), 'dest'), []],
  ] as const)('counts %s', ([, order, expected]) => {
    expect(knownAmounts(order).map(({ ccy, value }) => `${value.toFixed()} ${ccy}`)).toEqual(
      expected,
    );
  });
});

describe('destinations', () => {
  test.for([
    [node.toUpperCase(), [node]],
    ['Satoshi@Example.COM', ['satoshi@example.com']],
    [address.toUpperCase(), [address]],
    [`bitcoin:${address}?amount=0.1`, [address]],
    [tron, [tron]],
    ['970436:0123456789', ['970436:0123456789']],
  ] as const)('%s is stored as %j', ([typed, kept]) => {
    expect(readAllowed(typed)).toEqual(kept);
  });

  test.for(['', 'somebody', 'bitcoin:nowhere', `${address}x`, `02${'0'.repeat(10)}`])(
    'refuses "%s"',
    (typed) => {
      expect(() => readAllowed(typed)).toThrow(expect.objectContaining({ kind: 'usage' }));
    },
  );

  test.for([
    ['vnd-instant:970436:0123456789', '970436:0123456789', true],
    ['ng-ngn-bank:970436:0123456789', 'vnd-instant:970436:0123456789', false],
    ['vnd-instant:970436:0123456789', '970436:0123456780', false],
    [address.toUpperCase(), address, true],
    [tron, tron.toLowerCase(), false],
  ] as const)('%s under the name %s: %s', ([destination, name, allowed]) => {
    expect(isAllowed(destination, [name])).toBe(allowed);
  });

  test('a transfer between own wallets has no destination', () => {
    const only = { ...noLimits, destinations: [address] };
    expect(() =>
      checkDestination(only, swapOrder('BTC', 'USDT', parseAmount('1sat'), 'source')),
    ).not.toThrow();
    expect(() => checkDestination(only, usdtOrder(tron, parseAmount('1usdt'), 'USDT'))).toThrow(
      'not among',
    );
  });
});
