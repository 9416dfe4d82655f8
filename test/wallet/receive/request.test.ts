// Tests payment requests with a slow service, and with a large account record.
import { expect, test } from 'vitest';
import { ServiceError } from '../../../src/api/errors.js';
import type { Transaction } from '../../../src/api/types.js';
import { parseAmount } from '../../../src/formats/amount.js';
import { receiveBody } from '../../../src/wallet/order/orders.js';
import { lightningAddressOf, requestMoney } from '../../../src/wallet/receive/request.js';

const unused = (): never => {
  throw new Error('not asked for');
};

test('requestMoney reads a confirmed request again until it has an invoice', async () => {
  const side = { ccy: 'BTC', amtRequested: 0.0005 };
  const at = (txnState: string, paymentRequest: string | null): Transaction => ({
    txnId: 't1',
    txnState,
    sourceReq: { ...side, method: 'lightning', reqDetails: { paymentRequest } },
    destReq: { ...side, method: 'servicepay' },
  });
  const reads = [at('userconfirmed', null), at('srccreated', null), at('srccreated', 'lntb1')];
  let asked = 0;
  const service = {
    createTransaction: async () => at('quoted', null),
    confirmTransaction: async () => at('userconfirmed', null),
    transaction: async () => reads[Math.min(asked++, 2)] ?? unused(),
    transactions: unused,
    eachTransaction: unused,
  };
  const deps = {
    service,
    account: 'a',
    onRead: unused,
    sleep: async () => undefined,
    newId: () => 'r1',
    now: () => 0,
    signal: new AbortController().signal,
  };
  const { txn } = await requestMoney(
    receiveBody('lightning', parseAmount('50000sat')),
    undefined,
    false,
    deps,
  );
  expect(txn.sourceReq.reqDetails).toMatchObject({ paymentRequest: 'lntb1' });
});

test('requestMoney finds the earlier request with the same reference if the list is outdated', async () => {
  const side = { ccy: 'BTC', amtRequested: 0.0005 };
  const earlier: Transaction = {
    txnId: 't1',
    txnState: 'srccreated',
    extRefId: 'r1',
    sourceReq: { ...side, method: 'lightning', reqDetails: { paymentRequest: 'lntb1' } },
    destReq: { ...side, method: 'servicepay' },
  };
  const used = { status: 409, reason: 'extRefId was used before', isOwnRefusal: true };
  const pauses: number[] = [];
  const service = {
    createTransaction: () => Promise.reject(new ServiceError('refused', 'used', used)),
    confirmTransaction: unused,
    transaction: async () => earlier,
    transactions: unused,
    async *eachTransaction() {
      if (pauses.length === 2) yield earlier;
    },
  };
  const deps = {
    service,
    account: 'a',
    onRead: unused,
    sleep: async (ms: number) => void pauses.push(ms),
    newId: unused,
    now: () => 0,
    signal: new AbortController().signal,
  };
  const body = receiveBody('lightning', parseAmount('50000sat'));
  expect(await requestMoney(body, 'r1', false, deps)).toMatchObject({ txn: { txnId: 't1' } });
  expect(pauses).toEqual([500, 1_000]);
});

test.for([
  [{ lightningAddress: 'Jane@pay.example' }, 'jane@pay.example'],
  [{ lnAddress: 'jane@pay.example', email: 'jane@example.com' }, 'jane@pay.example'],
  [{ lightning_address: 'jane@pay.example' }, 'jane@pay.example'],
] as const)(
  'lightningAddressOf finds the Lightning Address in the account record %j',
  ([account, address]) => {
    expect(lightningAddressOf(account).address).toBe(address);
  },
);

test.for([{ email: 'jane@example.com' }, { lightningAddress: null }, {}])(
  'lightningAddressOf reports no Lightning Address in the account record %j',
  (account) => {
    expect(() => lightningAddressOf(account)).toThrow(/has no Lightning Address/);
  },
);
