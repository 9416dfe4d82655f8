// Tests the spending policy: the amounts that each limit allows, and the destinations that each
// name allows.
import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import {
  checkDestination,
  checkSpend,
  isAllowed,
  knownAmounts,
  noLimits,
  readAllowed,
} from '../../../src/wallet/limits/limits.js';
import { lnurlOrder, onchainOrder, swapOrder, usdtOrder } from '../../support/orders.js';

const address = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const tron = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const node = '03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad';

const limits = {
  perPayment: { BTC: '0.001', VND: '1000000' },
  perDay: { BTC: '0.002', USDT: '100' },
  destinations: [],
};

describe('spending limits', () => {
  const spent = [
    { ccy: 'BTC', total: '0.0015' },
    { ccy: 'USDT', total: '60' },
    { ccy: 'USDT', total: '0.000001' },
  ];

  test.for([
    ['accepts a payment equal to the per-payment limit', '100000sat', [], undefined],
    [
      'refuses a payment over the per-payment limit',
      '100001sat',
      [],
      'per-payment limit of 0.00100000 BTC',
    ],
    ['accepts a payment that uses up the daily limit', '50000sat', spent, undefined],
    [
      'refuses a payment over the rest of the daily limit',
      '50001sat',
      spent,
      'daily limit of 0.00200000 BTC (200 000 sat), of which 0.00150000 BTC (150 000 sat) is used',
    ],
    [
      'accepts a payment within the daily limit after two earlier payments',
      '39.999999usdt',
      spent,
      undefined,
    ],
    [
      'refuses a payment over the daily limit after two earlier payments',
      '40usdt',
      spent,
      'of which 60.000001 USDT is used',
    ],
    ['ignores earlier payments in other currencies', '1000000vnd', spent, undefined],
    [
      'refuses a VND payment over the per-payment limit',
      '1000001vnd',
      spent,
      'per-payment limit of 1',
    ],
    ['accepts any amount in a currency without a limit', '1000000usd', spent, undefined],
  ] as const)('checkSpend %s', ([, amount, before, refusal]) => {
    const check = (): void => checkSpend(limits, [parseAmount(amount)], before);
    if (refusal === undefined) expect(check).not.toThrow();
    else
      expect(check).toThrow(
        expect.objectContaining({ kind: 'limit', message: expect.stringContaining(refusal) }),
      );
  });

  test('checks every currency of a payment against its limit', () => {
    const amounts = [parseAmount('1sat'), parseAmount('2000000vnd')];
    expect(() => checkSpend(limits, amounts, [])).toThrow(/per-payment limit of 1\D000\D000 VND/);
  });
});

describe('amounts of an order', () => {
  test.for([
    [
      'the amount sent to a Lightning Address',
      lnurlOrder('a@b.example', parseAmount('5usdt')),
      ['5 USDT'],
    ],
    [
      'the received amount if the debited amount is unknown',
      usdtOrder(tron, parseAmount('25usdt'), 'BTC'),
      ['25 USDT'],
    ],
    [
      'an amount in one currency only once',
      onchainOrder(address, parseAmount('0.01btc'), 'BTC'),
      ['0.01 BTC'],
    ],
    [
      'only the debited amount of a swap',
      swapOrder('BTC', 'USDT', parseAmount('1000sat'), 'source'),
      ['0.00001 BTC'],
    ],
    [
      'no amount for a swap that fixes the received amount',
      swapOrder('BTC', 'USDT', parseAmount('25usdt'), 'dest'),
      [],
    ],
  ] as const)('knownAmounts counts %s against the limits', ([, order, expected]) => {
    expect(knownAmounts(order).map(({ ccy, value }) => `${value.toFixed()} ${ccy}`)).toEqual(
      expected,
    );
  });
});

describe('allowed destinations', () => {
  test.for([
    ['a node id in lower case', node.toUpperCase(), [node]],
    ['a Lightning Address in lower case', 'Satoshi@Example.COM', ['satoshi@example.com']],
    ['a bech32 address in lower case', address.toUpperCase(), [address]],
    ['only the address of a bitcoin: URI', `bitcoin:${address}?amount=0.1`, [address]],
    ['a TRON address unchanged', tron, [tron]],
    ['a bank account unchanged', '970436:0123456789', ['970436:0123456789']],
  ] as const)('readAllowed stores %s', ([, typed, kept]) => {
    expect(readAllowed(typed)).toEqual(kept);
  });

  test.for(['', 'somebody', 'bitcoin:nowhere', `${address}x`, `02${'0'.repeat(10)}`])(
    'readAllowed refuses "%s" as a destination',
    (typed) => {
      expect(() => readAllowed(typed)).toThrow(expect.objectContaining({ kind: 'usage' }));
    },
  );

  test.for([
    [
      'accepts a bank account for any payout method',
      'bank:VN/vnd-instant/970436:0123456789',
      '970436:0123456789',
      true,
    ],
    [
      'refuses another bank account',
      'bank:VN/vnd-instant/970436:0123456789',
      '970436:0123456780',
      false,
    ],
    ['accepts a bech32 address in upper case', `onchain:${address}`, address.toUpperCase(), true],
    ['refuses a TRON address in another letter case', `tron:${tron}`, tron.toLowerCase(), false],
    [
      'accepts an LNURL if its Lightning Address is allowed',
      `lnurl:https://example.com/.well-known/lnurlp/ada`,
      'Ada@example.com',
      true,
    ],
    ['accepts the node of an invoice', `node:${node}`, node, true],
  ] as const)('isAllowed %s', ([, key, name, allowed]) => {
    expect(isAllowed(key, [name])).toBe(allowed);
  });

  test('checkDestination allows a swap between own wallets despite an allow-list', () => {
    const only = { ...noLimits, destinations: [address] };
    expect(() =>
      checkDestination(only, swapOrder('BTC', 'USDT', parseAmount('1sat'), 'source')),
    ).not.toThrow();
    expect(() => checkDestination(only, usdtOrder(tron, parseAmount('1usdt'), 'USDT'))).toThrow(
      'is not on your allow-list',
    );
  });
});
