// The payment screen shows each event of a payment.
import Big from 'big.js';
import { paymentDraft, swapOrder } from '../../support/orders.js';
import { describe, expect, test } from 'vitest';
import type { Transaction } from '../../../src/api/types.js';
import { paymentScreen, usualMs, usualText } from '../../../src/cli/payment/payment-screen.js';
import { globalOptions, readAll } from '../../../src/cli/values.js';
import { money } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';
import { opened, type Payment } from '../../../src/store/journal/payment.js';
import { createAsk } from '../../../src/terminal/ask/ask.js';
import { createLive } from '../../../src/terminal/live.js';
import { createOutput } from '../../../src/terminal/output.js';
import type { Approval, PaymentEvent } from '../../../src/wallet/payment/model.js';
import { openPlainScreen } from '../../terminal/support.js';

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

const unread = async (): Promise<never> => {
  throw new Error('A quote in a pipe needs neither rates nor earlier payments.');
};

/** Returns what the last event draws on the screen, after all earlier events. */
async function drawn(...events: (PaymentEvent | 'approved')[]): Promise<string> {
  const { terminal, stderr } = openPlainScreen({ tty: false });
  const every = () => () => undefined;
  const screen = paymentScreen(
    { about: [] },
    {
      terminal,
      out: createOutput(terminal, { format: 'table' }),
      live: createLive(terminal, { quiet: false, now: () => 0, every }),
      ask: createAsk(terminal, { yes: true }),
      globals: readAll(globalOptions, { yes: true }),
      settings: { embedded: false, profileName: 'default' },
      account: unread,
      client: unread,
      now: () => 1_000,
      present: () => 1_000,
      sleep: async () => undefined,
      every,
    },
  );
  let before = '';
  for (const event of events) {
    before = stderr();
    if (event === 'approved') await screen.approve(approval('t1', '0.001'));
    else screen.on(event);
  }
  return stderr().slice(before.length);
}

const card = /You pay +0\.00[12]00000 BTC/;

describe('the payment screen', () => {
  const first = approval('t1', '0.001');
  const equal = approval('t2', '0.001');
  const dearer = approval('t3', '0.002');

  const cases: {
    what: string;
    events: (PaymentEvent | 'approved')[];
    shows: RegExp;
    hasCard?: boolean;
  }[] = [
    { what: 'the first quote of a payment', events: [first], shows: card, hasCard: true },
    { what: 'an equal quote only once', events: [first, first], shows: /^$/ },
    {
      what: 'a notice instead of the card if an equal quote replaced an expired quote',
      events: [first, equal],
      shows: /^The quote expired; the new quote has the same price\.\n$/,
    },
    {
      what: 'the changes in a worse quote',
      events: [first, dearer],
      shows: /you pay 0\.00200000 BTC instead of 0\.00100000 BTC/,
      hasCard: true,
    },
    {
      what: 'a notice if the approved quote of an earlier run was better',
      events: [{ ...first, worse: true }],
      shows: /^The quote has changed:\n/,
      hasCard: true,
    },
    {
      what: 'the wait after the approval',
      events: [first, 'approved'],
      shows: /^ {2}● quoted ── ○ /,
    },
    {
      what: 'each change of state, but starts the wait only once',
      events: ['approved', { type: 'state', txn: txn('destsent') }],
      shows: /^ {2}[^\n]*● sent[^\n]*\n$/,
    },
    {
      what: 'the wait of a payment that was submitted earlier',
      events: [{ type: 'read', txn: txn('destsent') }],
      shows: /● sent/,
    },
    {
      what: 'that svcpay reads the state after a refused confirmation',
      events: [{ type: 'refused', error: new Failure('refused', 'too late.') }],
      shows: /^The service refused the confirmation\./,
    },
    {
      what: 'a warning if the journal failed after the submission',
      events: [{ type: 'journal-failed', error: new Failure('unexpected', 'The disk is full.') }],
      shows: /Warning: The disk is full\. The payment continues\.\n$/,
    },
  ];
  test.each(cases.map((each) => [each.what, each] as const))(
    'shows %s',
    async (_what, { events, shows, hasCard = false }) => {
      const lines = await drawn(...events);
      expect(lines).toMatch(shows);
      expect(card.test(lines)).toBe(hasCard);
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
