// The payment screen shows each event of a payment.
import Big from 'big.js';
import { paymentDraft, swapOrder } from '../../support/orders.js';
import { describe, expect, test } from 'vitest';
import type { Transaction } from '../../../src/api/types.js';
import {
  usualMs,
  usualText,
  nothingShown,
  showEvent,
  type ScreenEvent,
} from '../../../src/cli/payment/payment-screen.js';
import { money } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';
import { opened, type Payment } from '../../../src/store/journal/payment.js';
import type { Approval } from '../../../src/wallet/payment/model.js';

const txn = (txnState: string, txnId = 't1'): Transaction => ({
  txnId,
  txnState,
  sourceReq: { ccy: 'BTC', method: 'servicepay' },
  destReq: { ccy: 'USDT', method: 'servicepay' },
});

const order = swapOrder('BTC', 'USDT', money('BTC', '0.001'), 'source');

function approval(txnId: string, total: string, worse = false): Approval {
  const btc = (value: string) => money('BTC', value);
  return {
    type: 'quoted',
    order,
    txn: txn('quoted', txnId),
    quote: {
      txnId,
      total: btc(total),
      serviceFee: btc('0'),
      networkFee: btc('0'),
      namesFees: true,
      receives: money('USDT', '50'),
      rate: new Big('50000'),
      derived: false,
      expiresAt: undefined,
    },
    available: undefined,
    left: undefined,
    worse,
    unusual: [],
  };
}

/** Returns what the last event draws on the screen, after all earlier events. */
function drawn(...events: ScreenEvent[]): readonly unknown[] {
  let model = nothingShown;
  let last: unknown[] = [];
  const draws =
    (draw: string) =>
    (...given: unknown[]): void =>
      void last.push([draw, ...given]);
  for (const event of events) {
    last = [];
    showEvent(event, model, 1_000, {
      remember: (news) => (model = { ...model, ...news }),
      say: draws('say'),
      warn: draws('warn'),
      searching: draws('searching'),
      quote: draws('quote'),
      submitted: draws('submitted'),
      wait: draws('wait'),
      change: draws('change'),
    });
  }
  return last;
}

describe('the payment screen', () => {
  const first = approval('t1', '0.001');
  const equal = approval('t2', '0.001');
  const dearer = approval('t3', '0.002');

  const cases: { what: string; events: ScreenEvent[]; drawings: unknown[] }[] = [
    {
      what: 'the first quote of a payment',
      events: [first],
      drawings: [['quote', first, false]],
    },
    { what: 'an equal quote only once', events: [first, first], drawings: [] },
    {
      what: 'a notice instead of the card if an equal quote replaced an expired quote',
      events: [first, equal],
      drawings: [
        ['say', 'The quote expired; the new quote has the same price.'],
        ['quote', equal, true],
      ],
    },
    {
      what: 'the changes in a worse quote',
      events: [first, dearer],
      drawings: [
        ['say', expect.stringContaining('you pay 0.00200000 BTC instead of')],
        ['quote', dearer, false],
      ],
    },
    {
      what: 'a notice if the approved quote of an earlier run was better',
      events: [{ ...first, worse: true }],
      drawings: [
        ['say', 'The quote has changed:'],
        ['quote', { ...first, worse: true }, false],
      ],
    },
    {
      what: 'the wait after the approval',
      events: [first, { type: 'approved' }],
      drawings: [['wait']],
    },
    {
      what: 'each change of state, but starts the wait only once',
      events: [{ type: 'approved' }, { type: 'state', txn: txn('destsent') }],
      drawings: [['change', txn('destsent')]],
    },
    {
      what: 'the wait of a payment that was submitted earlier',
      events: [{ type: 'read', txn: txn('destsent') }],
      drawings: [['wait']],
    },
    {
      what: 'that svcpay reads the state after a refused confirmation',
      events: [{ type: 'refused', error: new Failure('refused', 'too late.') }],
      drawings: [['say', expect.stringContaining('The service refused the confirmation.')]],
    },
    {
      what: 'a warning if the journal failed after the submission',
      events: [{ type: 'journal-failed', error: new Failure('unexpected', 'The disk is full.') }],
      drawings: [['warn', 'The disk is full. The payment continues.']],
    },
  ];
  test.each(cases.map((each) => [each.what, each] as const))(
    'shows %s',
    (_what, { events, drawings }) => {
      expect(drawn(...events)).toEqual(drawings);
    },
  );
});

describe('the usual time of a rail', () => {
  const paid = (ms: number): Payment => {
    const draft = paymentDraft(order, 'r');
    const before = opened(draft, 0);
    const attempts = before.attempts.map((attempt) => ({
      ...attempt,
      state: 'paid' as const,
      txnId: 't',
      submittedAt: 10,
    }));
    return { ...before, attempts, updatedAt: 10 + ms };
  };

  test.each(
    [
      { why: 'returns undefined without payments', took: [], usual: undefined },
      { why: 'returns undefined for two payments', took: [1_000, 2_000], usual: undefined },
      {
        why: 'returns a typical time of five payments',
        took: [4_000, 1_000, 2_000, 86_400_000, 3_000],
        usual: 2_000,
      },
    ].map((each) => [each.why, each] as const),
  )('usualMs computes the time from earlier payments: it %s', (_why, { took, usual }) => {
    expect(usualMs(took.map(paid), 'servicepay')).toBe(usual);
    expect(usualMs(took.map(paid), 'lightning')).toBeUndefined();
  });

  test('usualText shows a general time if there are no earlier payments, except for payouts', () => {
    expect(usualText('on-chain', undefined)).toBe('on-chain usually takes 30 min');
    expect(usualText('on-chain', 12 * 60_000)).toBe('on-chain usually takes 12 min');
    expect(usualText('vnd-instant', undefined)).toBeUndefined();
    expect(usualText('vnd-instant', 40_000)).toBe('a payout like this usually takes 40 s');
  });
});
