// exchangeRate returns the destination units for one source unit, whichever direction the rate of
// the service has.
import { expect, test } from 'vitest';
import type { Transaction } from '../../src/api/types.js';
import { exchangeRate } from '../../src/formats/amount.js';

const quoted = (
  from: string,
  to: string,
  fxRate: number,
  sent?: number,
  gets?: number,
): Transaction => ({
  txnId: 't',
  txnState: 'quoted',
  fxRate,
  sourceReq: { ccy: from, method: 'servicepay', amtRequested: sent },
  destReq: { ccy: to, method: 'servicepay', amtRequested: gets },
});

test.for(
  [
    { why: 'both amounts are known', txn: quoted('USDT', 'VND', 25_000, 2, 50_000), rate: '25000' },
    {
      why: 'both amounts are known and fxRate is inverted',
      txn: quoted('USDT', 'VND', 0.00004, 2, 50_000),
      rate: '25000',
    },
    {
      why: 'bitcoin is sold and fxRate is its price',
      txn: quoted('BTC', 'USDT', 70_000),
      rate: '70000',
    },
    {
      why: 'bitcoin is bought and fxRate is its price',
      txn: quoted('USDT', 'BTC', 80_000, 25),
      rate: '0.0000125',
    },
    {
      why: 'bitcoin is bought and fxRate is the amount that one unit buys',
      txn: quoted('USDT', 'BTC', 0.0000125, 25),
      rate: '0.0000125',
    },
    {
      why: 'fxRate is implausibly large',
      txn: quoted('USDT', 'VND', 1e21, 2, 50_000),
      rate: '1000000000000000000000',
    },
    { why: 'fxRate has no known direction', txn: quoted('USD', 'CAD', 1.4), rate: '1.4' },
  ].map((each) => [each.why, each] as const),
)('exchangeRate returns the destination units for one source unit if %s', ([, { txn, rate }]) => {
  expect(exchangeRate(txn)?.toFixed()).toBe(rate);
});

test('exchangeRate uses the settled amounts if only one amount was requested', () => {
  const { sourceReq, destReq, ...rest } = quoted('USDT', 'VND', 0.00004, 2);
  const settled = { ...rest, sourceReq, destReq: { ...destReq, amtSettled: 50_000 } };
  expect(exchangeRate(settled)?.toFixed()).toBe('25000');
});

test('exchangeRate returns undefined for a transaction within one currency', () => {
  expect(exchangeRate(quoted('BTC', 'BTC', 1))).toBeUndefined();
});
