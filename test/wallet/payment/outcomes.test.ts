// The sentences about a payment: first what happened to the money, then why.
import { expect, test } from 'vitest';
import { NoAnswer } from '../../../src/api/errors.js';
import type { Transaction } from '../../../src/api/types.js';
import { money } from '../../../src/formats/amount.js';
import { Failure } from '../../../src/formats/failure.js';
import { requested, type Attempt, type Payment } from '../../../src/store/journal/payment.js';
import { recordResolution } from '../../../src/wallet/payment/record.js';
import * as outcomes from '../../../src/wallet/payment/outcomes.js';
import { emptyStore, memoryJournal } from '../../simulation/memory-journal.js';
import { paymentDraft, lnurlOrder } from '../../support/orders.js';

const order = lnurlOrder('ada@example.com', money('BTC', '0.00001'));
const journal = memoryJournal(
  emptyStore(),
  () => true,
  () => 0,
);
const { payment: begun } = await journal.begin(paymentDraft(order, 'R'));

const attempt = (number: number, state: Attempt['state'], txnState: string): Attempt => ({
  ...requested(number, '{}'),
  state,
  txnId: `t${number}`,
  txnState,
});
const paymentOf = (...attempts: Attempt[]): Payment => ({ ...begun, attempts });
const submitting = paymentOf(attempt(1, 'submitting', 'quoted'));
const inFlight = paymentOf(attempt(1, 'in-flight', 'srccreated'));
const paid = paymentOf(attempt(1, 'paid', 'completed'));
const retried = paymentOf(attempt(1, 'unknown', 'expired'), attempt(2, 'in-flight', 'srccreated'));
const side = { ccy: 'BTC', method: 'servicepay' };
const txn = (txnId: string, txnState: string): Transaction => ({
  txnId,
  txnState,
  sourceReq: side,
  destReq: side,
});
const down = new Failure('temporary', 'The service is down.');

const sentences: readonly (readonly [failure: unknown, kind: string, sentence: string])[] = [
  [
    outcomes.alreadyPaid(paid),
    'already-paid',
    'Not sent: this invoice was already paid, under the reference R (transaction t1).',
  ],
  [
    outcomes.alreadyPaid(inFlight),
    'already-paid',
    'Not sent: this invoice is already being paid, under the reference R (transaction t1).',
  ],
  [
    outcomes.alreadyPaid(paymentOf(attempt(1, 'unknown', 'expired'))),
    'already-paid',
    'Not sent: this invoice already has a payment whose outcome is unknown, under the reference R (transaction t1).',
  ],
  [
    outcomes.alreadyPaid(paymentOf(attempt(1, 'error', 'error'))),
    'already-paid',
    'Not sent: this invoice already has a payment that ended in the state error, under the reference R (transaction t1).',
  ],
  [
    outcomes.usedButUnread('R', 'its list cannot be read.', down),
    'pending',
    'Outcome unknown: the service reports that the reference R was used, but its list cannot be read.',
  ],
  [
    outcomes.unresolvedTransaction(retried, txn('t1', 'expired')),
    'outcome-unknown',
    'Outcome unknown: the service reports expired, but this attempt had been submitted. A later attempt followed.',
  ],
  [
    outcomes.notOrdered(txn('t9', 'srccreated')),
    'outcome-unknown',
    'Outcome unknown: the service answered the request for a quote with transaction t9 (srccreated), which differs from the order.',
  ],
  [
    outcomes.unreadable(inFlight, down),
    'pending',
    'Outcome unknown: the payment was submitted, last reported as srccreated, but cannot be read now: The service is down.',
  ],
  [
    outcomes.unreadable(paid, down),
    'pending',
    'Paid earlier under the reference R (transaction t1): the transaction cannot be read now: The service is down.',
  ],
  [
    outcomes.allUnreadable(2, down),
    'pending',
    'Outcome unknown: 2 payments were submitted but cannot be read now: The service is down.',
  ],
  [
    outcomes.noQuote(new NoAnswer('pending', 'nothing came', { mayHaveArrived: true })),
    'temporary',
    'Nothing moved: the service did not answer the request for a quote.',
  ],
  [
    outcomes.isAbandoned(begun),
    'usage',
    'Not sent: the payment R was abandoned before any money moved.',
  ],
  [
    outcomes.journalLost(submitting, down),
    'pending',
    'Outcome unknown: the payment was submitted, last reported as quoted. The service is down.',
  ],
  [outcomes.journalLost(begun, down), 'temporary', 'The service is down.'],
  [
    outcomes.truthful(retried, down),
    'outcome-unknown',
    'Outcome unknown: an earlier attempt may have moved money (the service reports expired). The service is down.',
  ],
];

test.for(sentences)('outcomes: $2', ([failure, kind, message]) => {
  expect(failure).toMatchObject({ kind, message });
});

test.for([
  ['alreadyPaid', outcomes.alreadyPaid(paid)],
  ['differentPayment', outcomes.differentPayment(paid)],
  ['unresolvedTransaction', outcomes.unresolvedTransaction(retried, txn('t1', 'expired'))],
  ['ended', outcomes.ended('R', attempt(1, 'failed', 'failed'), true)],
  ['unreadable', outcomes.unreadable(inFlight, down)],
  ['isAbandoned', outcomes.isAbandoned(paymentOf(attempt(1, 'lapsed', 'expired')))],
  ['journalLost', outcomes.journalLost(submitting, down)],
  ['truthful', outcomes.truthful(retried, down)],
  ['notOrdered', outcomes.notOrdered({ ...txn('t1', 'srccreated'), extRefId: 'R~2' })],
] as const)('outcomes: %s names the reference, the transaction and its state', ([, failure]) => {
  expect(failure).toMatchObject({
    ref: 'R',
    txnId: 't1',
    txnState: expect.stringMatching(/^\w+$/),
  });
});

test('recordResolution refuses to record while another process works on the payment', async () => {
  const answer = { moved: true, note: 'ticket', at: 0 };
  const held = { ...journal, claim: async () => undefined };
  await expect(recordResolution(begun, 1, answer, held, 'me')).rejects.toThrow(
    'Nothing was recorded: another process is working on R.',
  );
});
