// Parallel payments share one read of the wallets, use the result until the next read ends, and
// repeat a failed read.
import { expect, test } from 'vitest';
import type { PaymentService } from '../../../src/wallet/payment/model.js';
import { sharedService } from '../../../src/wallet/batch/shared-service.js';

function counting(answers: readonly (number | Error)[]) {
  let [calls, clock] = [0, 0];
  const never = (): never => {
    throw new Error('not asked for');
  };
  const service: PaymentService = {
    createTransaction: never,
    confirmTransaction: never,
    cancelTransaction: never,
    transaction: never,
    rates: never,
    transactions: never,
    eachTransaction: never,
    serviceNow: () => 0,
    datedNow: () => 0,
    wallets: () => {
      const answer = answers[calls++];
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve(answer === undefined ? [] : [wallet(answer)]);
    },
  };
  return {
    shared: sharedService(service, 4, () => clock),
    calls: () => calls,
    later: (ms: number) => (clock += ms),
  };
}

const wallet = (availableBalance: number) => ({
  id: 'w',
  ccy: 'BTC',
  amount: 1,
  availableBalance,
  accountId: 'a',
  createdAt: '',
  updatedAt: '',
});
const balance = async (service: PaymentService): Promise<number> =>
  Number((await service.wallets())[0]?.availableBalance);

test('sharedService reads the wallets once for payments that start together', async () => {
  const { shared, calls } = counting([1]);
  expect(await Promise.all([balance(shared), balance(shared)])).toEqual([1, 1]);
  expect(calls()).toBe(1);
});

test('sharedService returns the previously read wallets while it reads the wallets again', async () => {
  const { shared, calls, later } = counting([1, 0.5]);
  await shared.wallets();
  later(3_000);
  expect(await balance(shared)).toBe(1);
  expect(await balance(shared)).toBe(0.5);
  expect(calls()).toBe(2);
});

test('sharedService reports a failed first read and reads again for the next caller', async () => {
  const { shared, later } = counting([new Error('down'), 1, new Error('down')]);
  await expect(shared.wallets()).rejects.toThrow('down');
  later(3_000);
  expect(await balance(shared)).toBe(1);
  later(3_000);
  await shared.wallets();
  expect(await balance(shared)).toBe(1);
});
