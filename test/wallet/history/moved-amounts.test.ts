// svcpay finds the amounts that a transaction moved, even if the list of the service omits them.
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { ListedTransaction } from '../../../src/api/types.js';
import { movedAmounts, spentBy, withFigures } from '../../../src/wallet/history/moved-amounts.js';
import { readDecimal, type WireNumber } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';

const whole = (txnId: string): ListedTransaction => ({
  txnId,
  txnState: 'completed',
  createdAt: 1_772_373_751_000,
  sourceReq: {
    ccy: 'BTC',
    method: 'servicepay',
    amtSettled: 0.001,
    servicepayFees: 0.000002,
    networkFees: 0.000001,
  },
  destReq: { ccy: 'BTC', method: 'on-chain', amtSettled: 0.001 },
});
const reduced = (txnId: string, txnState = 'completed'): ListedTransaction => ({
  txnId,
  txnState,
  sourceReq: {},
  destReq: {},
});

async function* listed(...transactions: ListedTransaction[]): AsyncGenerator<ListedTransaction[]> {
  yield transactions.slice(0, 3);
  yield transactions.slice(3);
}

async function gathered(
  pages: AsyncIterable<readonly ListedTransaction[]>,
): Promise<ListedTransaction[]> {
  const all: ListedTransaction[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

test('withFigures reads a listed transaction again only if it is completed and has no amounts, and keeps the order of the list', async () => {
  const read = vi.fn<(txnId: string) => Promise<ListedTransaction>>((txnId) =>
    Promise.resolve(whole(txnId)),
  );
  const ids = Array.from({ length: 20 }, (_, n) => `r${n}`);
  const all = [whole('a'), reduced('q', 'quoted'), ...ids.map((id) => reduced(id)), whole('z')];
  const result = await gathered(withFigures(listed(...all), read));
  expect(result.map(({ txnId }) => txnId)).toEqual(['a', 'q', ...ids, 'z']);
  expect(read.mock.calls.map(([id]) => id)).toEqual(ids);
  expect(
    result
      .filter(({ txnState }) => txnState === 'completed')
      .every((txn) => movedAmounts(txn) !== undefined),
  ).toBe(true);
});

test('withFigures stops with the failure if a transaction cannot be read', async () => {
  const read = (txnId: string): Promise<ListedTransaction> =>
    Promise.reject(new Error(`no ${txnId}`));
  await expect(gathered(withFigures(listed(reduced('a'), reduced('b')), read))).rejects.toThrow(
    'no a',
  );
});

test('withFigures returns a listed transaction unchanged if its id is invalid', async () => {
  const read = (txnId: string): Promise<ListedTransaction> =>
    Promise.reject(new Failure('usage', `"${txnId}" is not a valid id.`));
  expect(await gathered(withFigures(listed(reduced('..')), read))).toEqual([reduced('..')]);
});

test('movedAmounts uses the amount of one side for both sides if both sides have the same currency', () => {
  const receive = {
    ...whole('a'),
    sourceReq: { ccy: 'BTC', method: 'lightning' },
    destReq: { ccy: 'BTC', method: 'servicepay', amtSettled: 0.5 },
  };
  const moved = movedAmounts(receive);
  expect([moved?.left.value.toFixed(), moved?.arrived.value.toFixed()]).toEqual(['0.5', '0.5']);
});

test('spentBy includes the fees of a payment', () => {
  expect(spentBy(whole('a'))?.value.toFixed()).toBe('0.001003');
  const deducted = {
    ...whole('b'),
    destReq: { ccy: 'BTC', method: 'on-chain', amtRequested: 0.001, amtSettled: 0.000997 },
  };
  expect(spentBy(deducted)?.value.toFixed()).toBe('0.001');
  expect(spentBy({ ...whole('c'), txnState: 'destsent' })).toBeUndefined();
});

test('movedAmounts adds amounts and fees exactly for any number of digits', () => {
  const sats = fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n });
  const wire = (units: bigint): WireNumber => readDecimal(`${units}e-8`) ?? 0;
  fc.assert(
    fc.property(sats, sats, sats, (arrived, serviceFee, networkFee) => {
      const sourceReq = {
        ccy: 'BTC',
        method: 'servicepay',
        amtSettled: wire(arrived),
        servicepayFees: wire(serviceFee),
        networkFees: wire(networkFee),
      };
      const moved = movedAmounts({
        txnId: 't',
        txnState: 'completed',
        sourceReq,
        destReq: { ccy: 'BTC', method: 'on-chain', amtSettled: wire(arrived) },
      });
      expect(moved?.left.value.times(1e8).toFixed()).toBe(`${arrived + serviceFee + networkFee}`);
    }),
  );
});
