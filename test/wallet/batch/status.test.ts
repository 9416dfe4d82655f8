// What became of a row, from the journal and the service's list: a table.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import {
  opened,
  requested,
  type Attempt,
  type Payment,
} from '../../../src/store/journal/payment.js';
import { rowState } from '../../../src/wallet/batch/status.js';
import { deducting, onchainOrder, recordOf } from '../../../src/wallet/order/orders.js';

const order = onchainOrder('bc1qx', parseAmount('1000sat'), 'BTC');

function payment(state: Attempt['state'], of = order): Payment {
  const draft = { id: 'i', scope: 's', account: 's', ref: 'r', terms: {}, ...recordOf(of) };
  const attempt = { ...requested(1), state, txnId: 't', submittedAt: 1 };
  return { ...opened(draft, 1), attempts: [attempt] };
}

const txn = (txnState: string, amtSettled?: string) => ({
  txnState,
  destReq: {
    ccy: 'BTC',
    method: 'on-chain',
    amtSettled: amtSettled === undefined ? null : new Big(amtSettled).toNumber(),
  },
});

test.for([
  ['a row that was never opened', undefined, undefined, 'not-started'],
  ['a quote that expired', payment('lapsed'), undefined, 'not-started'],
  ['paid', payment('paid'), undefined, 'paid'],
  ['paid, and settled in full', payment('paid'), txn('completed', '0.00001'), 'paid'],
  ['paid, and settled for less', payment('paid'), txn('completed', '0.000009'), 'underpaid'],
  [
    'paid less fees, as ordered',
    payment('paid', deducting(order)),
    txn('completed', '0.000009'),
    'paid',
  ],
  ['paid, and then failed', payment('paid'), txn('failed'), 'returned'],
  ['in flight', payment('in-flight'), undefined, 'in-flight'],
  ['in flight, and completed meanwhile', payment('in-flight'), txn('completed'), 'paid'],
  ['in flight, and failed meanwhile', payment('in-flight'), txn('rejected'), 'failed'],
  ['in flight, and reported expired', payment('in-flight'), txn('expired'), 'unknown'],
  ['unknown', payment('unknown'), txn('expired'), 'unknown'],
  ['failed', payment('failed'), txn('failed'), 'failed'],
  ['ended as error', payment('error'), txn('error'), 'ended'],
] as const)('rowState: %s', ([, known, listed, expected]) => {
  expect(rowState(known, listed)).toBe(expected);
});
