// What a batch will cost: quoted where it has few rows, else estimated within a bound that holds.
import Big from 'big.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { money, parseAmount, type Money } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';
import { Ceiling, CostSample, quoteCost } from '../../../src/wallet/batch/cost.js';
import type { PlannedRow } from '../../../src/wallet/batch/plan.js';
import { lnurlOrder, usdtOrder } from '../../../src/wallet/payment/orders.js';

const rowOf = (order: PlannedRow['order'], line: number): PlannedRow => ({
  line, ref: `r${line}`, named: true, order, to: order.destination, amount: '', slow: false,
});
const sats = (count: number, line: number) => rowOf(lnurlOrder('a@b.com', parseAmount(`${count}sat`)), line);
const sampleOf = (rows: readonly PlannedRow[]): CostSample => {
  const sample = new CostSample();
  rows.forEach((row) => sample.add(row));
  return sample;
};
const amount = ({ order }: PlannedRow): Big => new Big(order.body.sourceReq.amtRequested ?? order.body.destReq.amtRequested ?? 0);

test('few rows are all quoted, and their sum is exact', async () => {
  const rows = [sats(1000, 2), sats(2000, 3), rowOf(usdtOrder('T', parseAmount('5usdt'), 'USDT'), 4)];
  const cost = await quoteCost(sampleOf(rows), 2, async (row) => money(row.order.body.sourceReq.ccy, amount(row).times(2)));
  expect(cost.costs.map(({ ccy, total, bound, isEstimate }) => [ccy, total.toFixed(), bound.toFixed(), isEstimate])).toEqual([
    ['BTC', '0.00006', '0.00006', false],
    ['USDT', '10', '10', false],
  ]);
});

test('many rows are estimated from a few, and what they cost is within the bound', async () => {
  const anyBatch = fc.record({
    counts: fc.array(fc.integer({ min: 1, max: 5_000_000 }), { minLength: 13, maxLength: 200 }),
    share: fc.integer({ min: 0, max: 500 }),
    fixedFee: fc.integer({ min: 0, max: 2_000 }),
  });
  await fc.assert(
    fc.asyncProperty(anyBatch, async ({ counts, share, fixedFee }) => {
      const rows = counts.map((count, index) => sats(count, index + 2));
      const quote = (row: PlannedRow): Money => {
        const fee = amount(row).times(share).div(10_000).plus(new Big(fixedFee).times('1e-8')).round(8, Big.roundUp);
        return money('BTC', amount(row).plus(fee));
      };
      let asked = 0;
      const { costs } = await quoteCost(sampleOf(rows), 4, async (row) => {
        asked += 1;
        return quote(row);
      });
      expect(asked).toBeLessThanOrEqual(4);
      const ceiling = new Ceiling(costs);
      for (const row of rows) expect(ceiling.take(quote(row))).toBe(true);
    }),
  );
});

test('a row that the service refuses is named; what concerns all rows ends it', async () => {
  const rows = [sats(1000, 2), sats(2000, 3)];
  const refusal = (kind: 'refused' | 'temporary') => async (row: PlannedRow) => {
    if (row.line === 3) throw new Failure(kind, 'no');
    return money('BTC', '0.00001');
  };
  const { costs, refused } = await quoteCost(sampleOf(rows), 1, refusal('refused'));
  expect([costs.length, refused.map(({ row }) => row.line)]).toEqual([1, [3]]);
  await expect(quoteCost(sampleOf(rows), 1, refusal('temporary'))).rejects.toThrow('no');
});

test('nothing is taken beyond what was agreed to, and what came back may be taken again', () => {
  const ceiling = new Ceiling([{ ccy: 'BTC', total: new Big(1), bound: new Big(1), isEstimate: false }]);
  expect([ceiling.take(money('BTC', '0.6')), ceiling.take(money('BTC', '0.6')), ceiling.take(money('VND', 1))]).toEqual([true, false, false]);
  ceiling.giveBack(money('BTC', '0.6'));
  expect(ceiling.take(money('BTC', 1))).toBe(true);
});
