// Tests the quoted cost of a batch, and the ceiling that keeps the batch within the approved total.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { money, parseAmount } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';
import { Ceiling, estimateCost, quoteCost } from '../../../src/wallet/batch/cost.js';
import { instructionOfOrder } from '../../../src/wallet/instruction/from-transaction.js';
import type { PlannedRow } from '../../../src/wallet/batch/plan.js';
import { tronAddress } from '../../support/destinations.js';
import { lnurlOrder, usdtOrder } from '../../../src/wallet/order/orders.js';

const rowOf = (order: PlannedRow['order'], line: number): PlannedRow => ({
  line,
  ref: `r${line}`,
  named: true,
  instruction: instructionOfOrder(order, false),
  order,
  to: order.destination,
  amount: '',
  slow: false,
});
const sats = (count: number, line: number) =>
  rowOf(lnurlOrder('a@b.com', parseAmount(`${count}sat`)), line);
const amount = ({ order }: PlannedRow): Big =>
  new Big(order.body.sourceReq.amtRequested ?? order.body.destReq.amtRequested ?? 0);

test('quoteCost sums the quotes of all rows per wallet', async () => {
  const rows = [
    sats(1000, 2),
    sats(2000, 3),
    rowOf(usdtOrder(tronAddress(1), parseAmount('5usdt'), 'USDT'), 4),
  ];
  const cost = await quoteCost(rows, 2, async (row) => {
    const { ccy } = row.order.body.sourceReq;
    return { total: money(ccy, amount(row).times(2)), fees: money(ccy, amount(row)) };
  });
  expect(cost.costs.map(({ ccy, total, fees }) => [ccy, total.toFixed(), fees?.toFixed()])).toEqual(
    [
      ['BTC', '0.00006', '0.00003'],
      ['USDT', '10', '5'],
    ],
  );
  expect(cost.rows.get(3)?.total).toEqual(money('BTC', '0.00004'));
});

test('estimateCost rounds converted totals up and leaves the fees unknown', () => {
  const total = (from: string, ccy: string, sum: string) => ({
    from,
    ccy,
    rows: 1,
    amount: new Big(sum),
  });
  const totals = [
    total('BTC', 'BTC', '0.1'),
    total('BTC', 'VND', '1000000'),
    total('USDT', 'KES', '1'),
  ];
  const costs = estimateCost(totals, { BTCVND: 3_000_000_000 });
  expect(costs.map(({ ccy, total: sum, fees }) => [ccy, sum.toFixed(), fees])).toEqual([
    ['BTC', '0.10033334', null],
  ]);
});

test('quoteCost continues after a refused row but stops at a temporary failure', async () => {
  const rows = [sats(1000, 2), sats(2000, 3)];
  const refusal = (kind: 'refused' | 'temporary') => async (row: PlannedRow) => {
    if (row.line === 3) throw new Failure(kind, 'no');
    return { total: money('BTC', '0.00001'), fees: money('BTC', '0') };
  };
  const { costs, refused } = await quoteCost(rows, 1, refusal('refused'));
  expect([costs.length, refused.map(({ row }) => row.line)]).toEqual([1, [3]]);
  await expect(quoteCost(rows, 1, refusal('temporary'))).rejects.toThrow('no');
});

test('Ceiling admits rows up to the approved total and frees the amount of a failed row', () => {
  const ceiling = new Ceiling([{ ccy: 'BTC', total: new Big(1) }]);
  expect([
    ceiling.take(money('BTC', '0.6')),
    ceiling.take(money('BTC', '0.6')),
    ceiling.take(money('VND', 1)),
  ]).toEqual([true, false, false]);
  ceiling.release(money('BTC', '0.6'));
  expect(ceiling.take(money('BTC', 1))).toBe(true);
});
