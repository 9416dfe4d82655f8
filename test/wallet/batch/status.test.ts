// rowState derives the state of a batch row from the journal and the list of the service.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import {
  opened,
  requested,
  type Attempt,
  type Payment,
} from '../../../src/store/journal/payment.js';
import { rowState } from '../../../src/wallet/batch/row.js';
import { bitcoinAddress } from '../../support/destinations.js';
import { paymentDraft, deducting, onchainOrder } from '../../support/orders.js';

const order = onchainOrder(bitcoinAddress(1), parseAmount('1000sat'), 'BTC');

function payment(state: Attempt['state'], of = order, moved?: boolean): Payment {
  const draft = paymentDraft(of, 'r');
  const attempt = {
    ...requested(1, draft.request),
    state,
    txnId: 't',
    submittedAt: 1,
    resolution: moved === undefined ? null : { moved, note: 'ticket', at: 1 },
  };
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
  ['returns `not-started` for a row that was never opened', undefined, undefined, 'not-started'],
  [
    'returns `abandoned` if the quote of the row expired',
    payment('lapsed'),
    undefined,
    'abandoned',
  ],
  ['returns `paid` for a paid row that the list omits', payment('paid'), undefined, 'paid'],
  [
    'returns `paid` if the full amount arrived',
    payment('paid'),
    txn('completed', '0.00001'),
    'paid',
  ],
  [
    'returns `underpaid` if less than the ordered amount arrived',
    payment('paid'),
    txn('completed', '0.000009'),
    'underpaid',
  ],
  [
    'returns `paid` if the order deducts the missing fees from the amount',
    payment('paid', deducting(order)),
    txn('completed', '0.000009'),
    'paid',
  ],
  [
    'returns `returned` if the service reports a paid row as failed',
    payment('paid'),
    txn('failed'),
    'returned',
  ],
  [
    'returns `in-flight` for a row in flight that the list omits',
    payment('in-flight'),
    undefined,
    'in-flight',
  ],
  [
    'returns `paid` if a row in flight has completed at the service',
    payment('in-flight'),
    txn('completed'),
    'paid',
  ],
  [
    'returns `failed` if the service rejected a row in flight',
    payment('in-flight'),
    txn('rejected'),
    'failed',
  ],
  [
    'returns `unknown` if the service reports a row in flight as expired',
    payment('in-flight'),
    txn('expired'),
    'unknown',
  ],
  [
    'returns `unknown` for a row with an unknown outcome',
    payment('unknown'),
    txn('expired'),
    'unknown',
  ],
  ['returns `failed` for a failed row', payment('failed'), txn('failed'), 'failed'],
  [
    'returns `error` for a row that the service ended as `error`',
    payment('error'),
    txn('error'),
    'error',
  ],
  [
    'returns `failed` for a row in `error` once tx resolve recorded that nothing moved',
    payment('error', order, false),
    txn('error'),
    'failed',
  ],
  [
    'returns `paid` for an expired row once tx resolve recorded that the money moved',
    payment('unknown', order, true),
    txn('expired'),
    'paid',
  ],
] as const)('rowState %s', ([, known, listed, expected]) => {
  expect(rowState(known, listed)).toBe(expected);
});
