// Refusals of values that are read or compared, each with its sentence.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { money } from '../../src/formats/amount.js';
import { parseWebhookEvent, readWebhookRequest } from '../../src/library/webhook.js';
import { journalOf } from '../../src/store/journal/handle.js';
import { tooPoor } from '../../src/wallet/batch/check.js';
import { failureOf, stopped } from '../../src/wallet/batch/run.js';
import { checkHeld } from '../../src/wallet/instruction/instruction.js';
import { decodeOrder } from '../../src/wallet/order/orders.js';
import { ended } from '../../src/wallet/payment/outcomes.js';
import { findCountry } from '../../src/wallet/payout/methods.js';
import { findRate, checkTerms } from '../../src/wallet/quote/quote.js';
import { directionOf, readTransaction } from '../../src/wallet/transaction/read.js';
import { confirmReceive } from '../../src/wallet/receive/request.js';

const side = (method?: string) => ({ ccy: 'BTC', ...(method !== undefined && { method }) });
const txn = (source?: string, dest?: string) => ({
  txnId: 't1',
  txnState: 'quoted',
  sourceReq: side(source),
  destReq: side(dest),
});
const satoshi = (value: number) => money('BTC', new Big(value).div(1e8));
const quote = {
  txnId: 't1',
  total: satoshi(1_010),
  serviceFee: satoshi(10),
  networkFee: satoshi(0),
  receives: undefined,
  derived: false,
  rate: undefined,
  expiresAt: undefined,
  namesFees: true,
};
const unused = (): never => {
  throw new Error('No other request was expected.');
};
const service = {
  transaction: async () => txn('servicepay', 'lightning'),
  confirmTransaction: unused,
  createTransaction: unused,
  transactions: unused,
  eachTransaction: unused,
};
const noWait = { now: () => 0, sleep: async () => undefined, signal: new AbortController().signal };
const unknownRow = { outcome: 'unknown', before: false, error: 'pending' } as const;
const paidRow = { outcome: 'paid', before: false, error: null } as const;

const cases: readonly (readonly [sentence: string, refuse: () => unknown])[] = [
  [
    'You have 0.00001000 BTC. Write less, or all.',
    () => checkHeld(satoshi(2_000), [satoshi(1_000)]),
  ],
  [
    'The payment journal contains an order that this version cannot read.',
    () => decodeOrder('{"version":99}'),
  ],
  [
    'Outcome unknown: the transaction ended in the state error.',
    () => {
      throw ended('R', { txnId: 't1', txnState: 'error' }, false);
    },
  ],
  ['There are no payouts to "Atlantis".', () => findCountry('Atlantis')],
  [
    '"BTC" is not a currency pair. Write a pair such as BTCUSD or BTC/USD.',
    () => findRate({}, 'BTC'),
  ],
  ['The service has no rate for EUR and VND.', () => findRate({}, 'EURVND')],
  [
    'Nothing moved: your fee limit is in USDT, but the fees are in BTC.',
    () => checkTerms({ maxFee: { amount: '1', ccy: 'USDT' } }, quote),
  ],
  [
    'Nothing moved: the quote does not state its fees, so svcpay cannot check your fee limit.',
    () => checkTerms({ maxFee: { percent: '1' } }, { ...quote, namesFees: false }),
  ],
  [
    'Nothing moved: the fee is 0.00000010 BTC, but your limit is 0.00000009 BTC.',
    () => checkTerms({ maxFee: { amount: '0.00000009', ccy: 'BTC' } }, quote),
  ],
  [
    'Nothing moved: the fee is 0.00000020 BTC, but your limit is 0.00000019 BTC.',
    () =>
      checkTerms(
        { maxFee: { amount: '0.00000019', ccy: 'BTC' } },
        { ...quote, networkFee: satoshi(10) },
      ),
  ],
  [
    'Nothing moved: the total is 0.00001010 BTC, but at most 0.00001009 BTC is approved.',
    () => checkTerms({ maxTotal: { amount: '0.00001009', ccy: 'BTC' } }, quote),
  ],
  [
    'Nothing moved: the total is 0.00001010 BTC, but at most 5.00 USDT is approved.',
    () => checkTerms({ maxTotal: { amount: '5', ccy: 'USDT' } }, quote),
  ],
  [
    "Not confirmed: the service's answer does not show the source of the transaction, so transaction t1 could send money.",
    () => directionOf(txn(undefined, 'servicepay')),
  ],
  ['The service returned transaction t1 instead of t2.', () => readTransaction(service, 't2')],
  [
    'Not confirmed: transaction t1 is a payment.',
    () => confirmReceive(txn('servicepay', 'lightning'), { service, ...noWait }),
  ],
  ['This is not the body of a webhook delivery.', () => parseWebhookEvent('[]')],
  [
    'The body of the request was already read.',
    async () => {
      const request = new Request('https://example.com', { method: 'POST', body: '{}' });
      await request.text();
      return readWebhookRequest(request, 'whsec');
    },
  ],
  [
    'Outcome unknown: 1 row may or may not have been paid.',
    () => Promise.reject(failureOf([unknownRow], 3, false)),
  ],
  [
    'Not paid: 2 of 3 rows, because you interrupted the batch. The other rows are paid or in flight.',
    () => Promise.reject(failureOf([paidRow], 3, true)),
  ],
  [
    'Not paid: 3 of 3 rows, because the batch stopped: The file ends too early.',
    () => Promise.reject(stopped([], 3, 'the batch stopped: The file ends too early.')),
  ],
  [
    'Nothing was sent: You have too little.',
    () => Promise.reject(tooPoor(['You have too little.'])),
  ],
];

test.for(cases)('refuses: %s', async ([sentence, refuse]) => {
  await expect((async () => refuse())()).rejects.toMatchObject({
    message: expect.stringContaining(sentence),
  });
});

test('checkTerms allows a fee and a total that equal their limits', () => {
  const maxFee = { amount: '0.0000001', ccy: 'BTC' };
  const maxTotal = { amount: '0.0000101', ccy: 'BTC' };
  expect(() => checkTerms({ maxFee, maxTotal }, quote)).not.toThrow();
});

test('journalOf refuses an object that no open function returned', () => {
  expect(() => journalOf(JSON.parse('{}'))).toThrow(
    'This journal was not opened with one of the open...Journal functions.',
  );
});
