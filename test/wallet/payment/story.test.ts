// Golden stories of payments, drawn at 80 columns.
import { stripVTControlCharacters } from 'node:util';
import chalk from 'chalk';
import { expect, test } from 'vitest';
import { requested, type Attempt, type Payment } from '../../../src/store/journal/payment.js';
import type { Actor, Detail, TrailStep } from '../../../src/store/journal/steps.js';
import { replayed } from '../../../src/store/journal/trail.js';
import { commandFor } from '../../../src/terminal/next-step.js';
import { sendWord } from '../../../src/terminal/cards/steps.js';
import { storyLines } from '../../../src/terminal/views/transaction-view.js';
import { askedColumns, written } from '../../../src/wallet/instruction/instruction.js';
import { storyOf } from '../../../src/wallet/payment/story.js';

const start = new Date(2026, 10, 22, 14, 2, 11).getTime();
const ann: Actor = {
  door: 'send lightning',
  user: 'ann',
  uid: 1000,
  host: 'desk-2',
  pid: 41,
  version: '0.1.0',
  profile: 'default',
  sandbox: false,
};
const resumer: Actor = { ...ann, door: 'tx resume', pid: 77 };

type Told = readonly [second: number, step: string, detail?: Detail, by?: Actor, attempt?: number];

const asked = askedColumns(
  {
    verb: 'send',
    to: 'ada@example.com',
    keys: ['lnurl:https://example.com/.well-known/lnurlp/ada'],
    once: null,
    amount: written('18000sat', 'gets'),
    from: 'BTC',
    deductFees: false,
  },
  'send lnurl',
);
const cost: Detail = {
  total: '0.00018045',
  ccy: 'BTC',
  serviceFee: '0.0000004',
  networkFee: '0.00000005',
  receives: '0.00018',
  receivesCcy: 'BTC',
  expiresAt: 60_000,
  service: 1,
  txnId: '890d5621-5e07-4094-92cd-1aeb3fbe8297',
  txnState: 'quoted',
};
const approvedCost: Detail = { approvedTotal: '0.00018045', spendCcy: 'BTC' };
const submitting: Told = [9, 'submitting', approvedCost];
const quoted: Told = [1, 'quoted', cost];
const yes: Told = [2, 'approved', { consent: 'yes' }];
const completed: Detail = { txnState: 'completed' };
const paid: Told = [12, 'paid', completed];

/** Draws the story of a payment whose stored state is the end of its trail. */
function story(...steps: readonly Told[]): string {
  let by = ann;
  const trail = steps.map(([second, step, detail = {}, other, attempt = 1], index): TrailStep => {
    by = other ?? by;
    const at = start + second * 1000;
    return { paymentId: 'p', seq: index + 1, attempt, at, step, by, detail };
  });
  const is = replayed(trail);
  const payment: Payment = {
    id: 'p',
    scope: 'ne01',
    account: 'ne01',
    ref: 'order-4711',
    ...asked,
    terms: {},
    abandoned: is.abandoned,
    openedAt: start,
    updatedAt: start,
    attempts: is.attempts.map(({ moved, ...attempt }): Attempt => ({
      ...requested(attempt.number, '{}'),
      ...attempt,
      resolution: moved === null ? null : { moved, note: '', at: 0 },
    })),
  };
  const { next, ...told } = storyOf(payment, trail, sendWord);
  const canvas = { style: chalk, columns: 80, rows: 24, blocks: false } as const;
  const lines = storyLines(told, commandFor(next, {}), start, canvas);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  return stripVTControlCharacters(`\n${lines.join('\n')}\n`);
}

test('a payment that a person saw and approved', () => {
  const shown: Told[] = [
    [8, 'shown'],
    [8, 'approved', { consent: 'person' }],
  ];
  const terms = { maxFee: '1%' };
  expect(story([0, 'asked', terms], quoted, ...shown, submitting, [9, 'accepted'], paid))
    .toMatchInlineSnapshot(`
      "
        Send lnurl · 18 000 sat to ada@example.com
        transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

        22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`, at
                         most 1 % fee
        22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
        22 Nov 14:02:19  shown, approved at the terminal
        22 Nov 14:02:20  submitted
        22 Nov 14:02:20  the service accepted the payment
        22 Nov 14:02:23  the service reports completed

        Paid once: 18 045 sat left your BTC wallet.
        svcpay tx get 890d5621-5e07-4094-92cd-1aeb3fbe8297
      "
    `);
});

test('a declined quote', () => {
  expect(story([0, 'asked'], quoted, [9, 'shown'], [9, 'declined'], [9, 'abandoned']))
    .toMatchInlineSnapshot(`
      "
        Send lnurl · 18 000 sat to ada@example.com
        transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

        22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`
        22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
        22 Nov 14:02:20  shown, declined

        Nothing was sent. Your BTC wallet is unchanged.
        svcpay tx get 890d5621-5e07-4094-92cd-1aeb3fbe8297
      "
    `);
});

test('a crash after the yes, and a takeover', () => {
  const later = 3 * 3600 + 12 * 60 + 40;
  const taken: Told = [later, 'taken over', { host: 'desk-2', pid: 41 }, resumer];
  expect(story([0, 'asked'], quoted, yes, submitting, taken, [later + 1, 'paid', completed]))
    .toMatchInlineSnapshot(`
      "
        Send lnurl · 18 000 sat to ada@example.com
        transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

        22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`
        22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
        22 Nov 14:02:13  approved in advance with --yes
        22 Nov 14:02:20  submitted; svcpay sent the confirmation, or was about to
                         no process worked on it for 3 h 12 min
        22 Nov 17:14:51  taken over by ann (uid 1000) on desk-2, with \`tx resume\`,
                         from process 41 on desk-2
        22 Nov 17:14:52  the service reports completed

        Paid once: 18 045 sat left your BTC wallet.
        svcpay tx get 890d5621-5e07-4094-92cd-1aeb3fbe8297
      "
    `);
});

test('a crash after the yes that nobody has resumed', () => {
  expect(story([0, 'asked'], quoted, yes, submitting)).toMatchInlineSnapshot(`
    "
      Send lnurl · 18 000 sat to ada@example.com
      transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

      22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`
      22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
      22 Nov 14:02:13  approved in advance with --yes
      22 Nov 14:02:20  submitted; svcpay sent the confirmation, or was about to

      Outcome unknown: the service has not confirmed whether it made the payment.
      svcpay tx resume 890d5621-5e07-4094-92cd-1aeb3fbe8297
    "
  `);
});

test('an unanswered confirmation, continued by another command', () => {
  const unanswered: Told = [39, 'unanswered', { request: 'confirm' }];
  const later = 3 * 3600 + 12 * 60 + 40;
  expect(
    story([0, 'asked'], quoted, yes, submitting, unanswered, [later, 'paid', completed, resumer]),
  ).toMatchInlineSnapshot(`
    "
      Send lnurl · 18 000 sat to ada@example.com
      transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

      22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`
      22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
      22 Nov 14:02:13  approved in advance with --yes
      22 Nov 14:02:50  confirmation sent; no answer for 30 seconds
                       no process worked on it for 3 h 12 min
      22 Nov 17:14:51  continued by ann (uid 1000) on desk-2, with \`tx resume\`
      22 Nov 17:14:51  the service reports completed

      Paid once: 18 045 sat left your BTC wallet.
      svcpay tx get 890d5621-5e07-4094-92cd-1aeb3fbe8297
    "
  `);
});

test('a refused confirmation', () => {
  const refused = { request: 'confirm', kind: 'limit', reason: 'insufficient balance' };
  expect(story([0, 'asked'], quoted, yes, submitting, [10, 'refused', refused], [18, 'lapsed']))
    .toMatchInlineSnapshot(`
      "
        Send lnurl · 18 000 sat to ada@example.com
        transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

        22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`
        22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
        22 Nov 14:02:13  approved in advance with --yes
        22 Nov 14:02:20  submitted
        22 Nov 14:02:21  the service refused the confirmation: insufficient balance
        22 Nov 14:02:29  the refusal is final

        Nothing was sent. Your BTC wallet is unchanged.
        svcpay tx get 890d5621-5e07-4094-92cd-1aeb3fbe8297
      "
    `);
});

test('an unknown outcome, and the answer of a person', () => {
  const answer: Detail = { moved: true, note: 'ticket 4711 of the service' };
  const resolver = { ...ann, door: 'tx resolve', pid: 99 };
  expect(
    story(
      [0, 'asked'],
      quoted,
      yes,
      submitting,
      [70, 'unknown', { txnState: 'expired' }],
      [90_000, 'resolved', answer, resolver],
    ),
  ).toMatchInlineSnapshot(`
    "
      Send lnurl · 18 000 sat to ada@example.com
      transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

      22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`
      22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
      22 Nov 14:02:13  approved in advance with --yes
      22 Nov 14:02:20  submitted
      22 Nov 14:03:21  the service reports expired after the submission, which
                       proves nothing
                       no process worked on it for 1 d
      23 Nov 15:02:11  recorded by ann (uid 1000) on desk-2, with \`tx resolve\`: the
                       money moved (ticket 4711 of the service)

      Recorded as paid: 18 045 sat left your BTC wallet.
      svcpay tx get 890d5621-5e07-4094-92cd-1aeb3fbe8297
    "
  `);
});

test('a failed attempt, and a retry', () => {
  const second: Detail = { ...cost, txnId: 'c1d2e3f4-5e07-4094-92cd-1aeb3fbe8297' };
  const retry = { ...ann, pid: 44 };
  expect(
    story(
      [0, 'asked'],
      quoted,
      yes,
      submitting,
      [12, 'failed', { txnState: 'failed', reason: 'no route' }],
      [40, 'requested', {}, retry, 2],
      [41, 'quoted', second, retry, 2],
      [42, 'approved', { consent: 'yes' }, retry, 2],
      [43, 'submitting', approvedCost, retry, 2],
      [44, 'accepted', {}, retry, 2],
    ),
  ).toMatchInlineSnapshot(`
    "
      Send lnurl · 18 000 sat to ada@example.com
      transaction c1d2e3f4-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

      22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`
      22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
      22 Nov 14:02:13  approved in advance with --yes
      22 Nov 14:02:20  submitted
      22 Nov 14:02:23  the service reports failed: no route
      22 Nov 14:02:51  continued by ann (uid 1000) on desk-2, with \`send lightning\`
      22 Nov 14:02:51  a new attempt began
      22 Nov 14:02:52  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
      22 Nov 14:02:53  approved in advance with --yes
      22 Nov 14:02:54  submitted
      22 Nov 14:02:55  the service accepted the payment

      On its way: 18 045 sat left your BTC wallet.
      svcpay tx watch c1d2e3f4-5e07-4094-92cd-1aeb3fbe8297
    "
  `);
});

test('a quote whose price got worse', () => {
  const worse: Detail = {
    kind: 'refused',
    reason: 'the quote became worse after the approval: the total is now 0.00019 BTC',
  };
  expect(story([0, 'asked'], quoted, yes, [8, 'refused', worse], [8, 'abandoned', worse]))
    .toMatchInlineSnapshot(`
      "
        Send lnurl · 18 000 sat to ada@example.com
        transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

        22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`
        22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
        22 Nov 14:02:13  approved in advance with --yes
        22 Nov 14:02:19  svcpay refused: the quote became worse after the approval:
                         the total is now 0.00019 BTC

        Nothing was sent. Your BTC wallet is unchanged.
        svcpay tx get 890d5621-5e07-4094-92cd-1aeb3fbe8297
      "
    `);
});

test('a payment over a limit', () => {
  const over: Detail = { kind: 'limit', reason: '18 000 sat is over your per-payment limit' };
  expect(story([0, 'asked'], [0, 'refused', over], [0, 'abandoned', over])).toMatchInlineSnapshot(`
    "
      Send lnurl · 18 000 sat to ada@example.com
      reference order-4711

      22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`send lightning\`
      22 Nov 14:02:11  svcpay refused: 18 000 sat is over your per-payment limit

      Nothing was sent. Your BTC wallet is unchanged.
      svcpay tx list --time 1y
    "
  `);
});

test('a row of a batch', () => {
  const batch = { ...ann, door: 'batch' };
  const row = { batch: '2026-11-22T14:00:00.000Z payroll.csv', line: 4 };
  expect(
    story([0, 'asked', row, batch], quoted, [2, 'approved', { consent: 'batch' }], submitting, [
      12,
      'accepted',
    ]),
  ).toMatchInlineSnapshot(`
    "
      Send lnurl · 18 000 sat to ada@example.com
      transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

      22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, with \`batch\` (line 4 of
                       payroll.csv)
      22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
      22 Nov 14:02:13  approved with the batch
      22 Nov 14:02:20  submitted
      22 Nov 14:02:23  the service accepted the payment

      On its way: 18 045 sat left your BTC wallet.
      svcpay tx watch 890d5621-5e07-4094-92cd-1aeb3fbe8297
    "
  `);
});

test('an imported payment', () => {
  const importer = { ...ann, door: 'reconcile' };
  const entered = { ...approvedCost, txnId: cost.txnId, txnState: 'completed', state: 'paid' };
  expect(story([0, 'imported', entered, importer])).toMatchInlineSnapshot(`
    "
      Send lnurl · 18 000 sat to ada@example.com
      transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

                       What happened before the import is not known here.
      22 Nov 14:02:11  imported by ann (uid 1000) on desk-2, with \`reconcile\`: the
                       service reports done

      Paid once: 18 045 sat left your BTC wallet.
      svcpay tx get 890d5621-5e07-4094-92cd-1aeb3fbe8297
    "
  `);
});

test('a payment of an agent', () => {
  const agent = { ...ann, door: 'mcp' };
  expect(story([0, 'asked', {}, agent], quoted, yes, submitting, [9, 'accepted'], paid))
    .toMatchInlineSnapshot(`
      "
        Send lnurl · 18 000 sat to ada@example.com
        transaction 890d5621-5e07-4094-92cd-1aeb3fbe8297 · reference order-4711

        22 Nov 14:02:11  asked by ann (uid 1000) on desk-2, through an agent
        22 Nov 14:02:12  quoted: 18 000 sat, fee 45 sat, total 18 045 sat, valid 60 s
        22 Nov 14:02:13  approved by the agent
        22 Nov 14:02:20  submitted
        22 Nov 14:02:20  the service accepted the payment
        22 Nov 14:02:23  the service reports completed

        Paid once: 18 045 sat left your BTC wallet.
        svcpay tx get 890d5621-5e07-4094-92cd-1aeb3fbe8297
      "
    `);
});

test('an unknown attempt before a lapsed attempt is the one whose outcome to record', () => {
  const attempt: Attempt = { ...requested(1, '{}'), state: 'unknown', txnId: 'first' };
  const payment: Payment = {
    id: 'p',
    scope: 'ne01',
    account: 'ne01',
    ref: 'order-4711',
    ...asked,
    terms: {},
    attempts: [attempt, { ...requested(2, '{}'), state: 'lapsed', txnId: 'second' }],
    abandoned: false,
    openedAt: start,
    updatedAt: start,
  };
  expect(storyOf(payment, [], sendWord).next).toEqual({ do: 'resolve', id: 'first' });
});
