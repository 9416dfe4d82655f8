// Tests the cost and the received amount of a quote that deducts its fees from the amount.
import { detailsOf } from '../../../src/api/reading.js';
import { describe, expect, test } from 'vitest';
import type { Transaction } from '../../../src/api/types.js';
import { formatAmount, parseAmount } from '../../../src/formats/amount.js';
import { checkEcho } from '../../../src/wallet/order/orders.js';
import { deducting, lnurlOrder, onchainOrder } from '../../support/orders.js';
import { readQuote, checkTerms } from '../../../src/wallet/quote/quote.js';

const address = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT';

const quoted = (source: Partial<Transaction['sourceReq']>, fxRate: number): Transaction => ({
  txnId: 'txn-1',
  txnState: 'quoted',
  fxRate,
  sourceReq: {
    ccy: 'BTC',
    method: 'servicepay',
    servicepayFees: 0.000002,
    networkFees: 0.000003,
    ...source,
  },
  destReq: { ccy: 'BTC', method: 'on-chain', amtRequested: 0.001 },
});

test.for([
  ['1000', true],
  ['1001', false],
])(
  'checkTerms compares 1% of the amount without fees with a fee of %s sat',
  ([sats, isAllowed]) => {
    const order = onchainOrder(address, parseAmount('100000sat'), 'BTC');
    const fees = { servicepayFees: Number(sats) / 1e8, networkFees: 0, amtRequested: 0.001 };
    const quote = readQuote(order, quoted(fees, 1));
    const check = (): void => checkTerms({ maxFee: { percent: '1' } }, quote);
    if (isAllowed) expect(check).not.toThrow();
    else expect(check).toThrow('Nothing moved: the fee is 0.00001001 BTC, but your limit is 1%.');
  },
);

describe('readQuote with deducted fees', () => {
  test('debits only the amount and subtracts both fees from the received amount', () => {
    const order = deducting(onchainOrder(address, parseAmount('0.001btc'), 'BTC'));
    const { total, receives, derived } = readQuote(order, quoted({ amtRequested: 0.001 }, 1));
    expect(formatAmount(total)).toBe('0.00100000 BTC');
    expect(receives && formatAmount(receives)).toBe('0.00099500 BTC');
    expect(derived).toBe(false);
  });

  test('converts fees of another currency and marks the received amount as derived', () => {
    const order = deducting(onchainOrder(address, parseAmount('0.001btc'), 'USDT'));
    const source = { ccy: 'USDT', amtRequested: 100, servicepayFees: 0.2, networkFees: 0.3 };
    const { total, receives, derived } = readQuote(order, quoted(source, 0.00001));
    expect(formatAmount(total)).toBe('100.00 USDT');
    expect(receives && formatAmount(receives)).toBe('0.00099500 BTC');
    expect(derived).toBe(true);
  });

  test.each([
    ['--deduct-fees', onchainOrder(address, parseAmount('0.001btc'), 'BTC')],
    ['all', lnurlOrder('ada@example.com', parseAmount('0.001btc'))],
  ])('accepts the amount before or after the fees for %s, and no other amount', (_name, order) => {
    const answered = (amtRequested: number): Transaction => {
      const { sourceReq, ...txn } = quoted({ amtRequested: 0.001 }, 1);
      const { ccy, method, reqDetails } = order.body.destReq;
      return {
        ...txn,
        sourceReq,
        destReq: { ccy, method, reqDetails: detailsOf(reqDetails), amtRequested },
      };
    };
    const less = deducting(order);
    for (const amount of [0.001, 0.000995]) {
      checkEcho(less, answered(amount));
      const { total, receives } = readQuote(less, answered(amount));
      expect(formatAmount(total)).toBe('0.00100000 BTC');
      expect(receives && formatAmount(receives)).toBe('0.00099500 BTC');
    }
    expect(() => checkEcho(less, answered(0.00099))).toThrow(/0\.00099/);
    expect(() => checkEcho(order, answered(0.000995))).toThrow(/0\.000995/);
  });

  test('refuses a quote whose deducted fees exceed the amount', () => {
    const order = deducting(onchainOrder(address, parseAmount('0.001btc'), 'BTC'));
    expect(() => readQuote(order, quoted({ amtRequested: 0.001, networkFees: 0.001 }, 1))).toThrow(
      /would take the whole amount/,
    );
  });

  test('adds the fees to the total if the order does not deduct them', () => {
    const order = onchainOrder(address, parseAmount('0.001btc'), 'BTC');
    const { total, receives } = readQuote(order, quoted({ amtRequested: 0.001 }, 1));
    expect(formatAmount(total)).toBe('0.00100500 BTC');
    expect(receives && formatAmount(receives)).toBe('0.00100000 BTC');
  });
});
