// Tests the approximate cost of a batch, and the ceiling that keeps the batch within the approved
// total.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { money, parseAmount } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';
import { Ceiling, priceRows } from '../../../src/wallet/batch/check.js';
import type { Row } from '../../../src/wallet/batch/row.js';
import { tronAddress } from '../../support/destinations.js';
import { lnurlOrder, usdtOrder } from '../../support/orders.js';
import { batchRow } from '../support/rows.js';

const sats = (count: number, line: number): Row =>
  batchRow(line, lnurlOrder('a@b.com', parseAmount(`${count}sat`)));
const usdt = (line: number): Row =>
  batchRow(line, usdtOrder(tronAddress(1), parseAmount('5usdt'), 'USDT'));

/** Quotes the amount, a service fee of 1 % and a network fee of 0.00000010. */
const quoted = async ({ from, amount }: Row) => {
  const serviceFee = money(from, new Big(amount).times('0.01'));
  const networkFee = money(from, '0.0000001');
  const total = new Big(amount).plus(serviceFee.value).plus(networkFee.value);
  return { total: money(from, total), serviceFee, networkFee };
};

test('priceRows quotes one row of each wallet, currency and method, and multiplies it', async () => {
  const asked: number[] = [];
  const { costs, rows } = await priceRows(
    [sats(1000, 2), sats(2000, 3), usdt(4), usdt(5)],
    (row) => {
      asked.push(row.line);
      return quoted(row);
    },
  );
  expect(asked).toEqual([2, 4]);
  expect(rows.map(({ line, cost }) => [line, cost?.total.value.toFixed()])).toEqual([
    [2, '0.0000102'],
    [3, '0.0000203'],
    [4, '5.050001'],
    [5, '5.050001'],
  ]);
  expect(costs.map((cost) => [cost.ccy, cost.total.toFixed(), cost.fees.toFixed()])).toEqual([
    ['BTC', '0.0000305', '0.0000005'],
    ['USDT', '10.100002', '0.100002'],
  ]);
  expect(costs[0]?.most.toFixed(), 'twice the fees and 2 %').toBe('0.00003161');
});

test('priceRows quotes another row after a refusal, but stops at a temporary failure', async () => {
  const rows = [sats(1000, 2), sats(2000, 3)];
  const refusing = (kind: 'refused' | 'temporary') => async (row: Row) => {
    if (row.line === 2) throw new Failure(kind, 'no');
    return quoted(row);
  };
  const { costs, refused } = await priceRows(rows, refusing('refused'));
  expect([costs.length, refused.map(({ line }) => line)]).toEqual([1, [2]]);
  await expect(priceRows(rows, refusing('temporary'))).rejects.toThrow('no');
});

test('Ceiling admits rows up to the approved total and frees the amount of a failed row', () => {
  const ceiling = new Ceiling([{ ccy: 'BTC', value: new Big(1) }]);
  expect([
    ceiling.reserve(2, money('BTC', '0.6')),
    ceiling.reserve(3, money('BTC', '0.6')),
    ceiling.reserve(4, money('VND', 1)),
  ]).toEqual([true, false, false]);
  ceiling.release(2);
  expect(ceiling.reserve(5, money('BTC', 1))).toBe(true);
});
