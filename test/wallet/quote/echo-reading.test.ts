// svcpay accepts a quote only if the fields that decide where money goes are present and readable.
import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import { checkEcho } from '../../../src/wallet/order/orders.js';
import { onchainOrder } from '../../support/orders.js';
import { answer } from '../../support/fake-transport.js';
import { start, world } from '../../api/support/client.js';

const address = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT';
const order = onchainOrder(address, parseAmount('0.001btc'), 'BTC');

const quote = {
  txnId: 't1',
  txnState: 'quoted',
  extRefId: 'R',
  note: 'rent',
  deductNetworkFeesFromDest: false,
  fxRate: 1,
  createdAt: start,
  sourceReq: {
    ccy: 'BTC',
    method: 'servicepay',
    amtRequested: 0.001,
    servicepayFees: 5e-8,
    networkFees: 2e-8,
    expiresAt: start,
  },
  destReq: { ccy: 'BTC', method: 'on-chain', amtRequested: 0.001, reqDetails: { address } },
};

const places = [
  'missing',
  'null',
  'in another notation',
  'wrapped in an object',
  'an array',
] as const;
type Reaction = 'accepts' | 'warns about' | 'refuses';

const strict = ['refuses', 'refuses', 'accepts', 'refuses', 'refuses'] as const;
const ifAvailable = ['accepts', 'accepts', 'accepts', 'refuses', 'refuses'] as const;
const aside = ['accepts', 'accepts', 'accepts', 'warns about', 'warns about'] as const;

const table: readonly (readonly [path: string, text: unknown, reactions: readonly Reaction[]])[] = [
  ['sourceReq.ccy', 'BTC', strict],
  ['sourceReq.method', 'servicepay', strict],
  ['sourceReq.amtRequested', '0.00100000', ifAvailable],
  ['sourceReq.servicepayFees', '0.00000005', ifAvailable],
  ['sourceReq.networkFees', '2e-8', ifAvailable],
  ['sourceReq.expiresAt', new Date(start).toISOString(), aside],
  ['destReq.ccy', 'BTC', strict],
  ['destReq.method', 'on-chain', strict],
  ['destReq.amtRequested', '0.001', strict],
  ['destReq.reqDetails', { address }, strict],
  ['destReq.reqDetails.address', address, strict],
  ['fxRate', '1.0', ifAvailable],
  ['deductNetworkFeesFromDest', 'false', ifAvailable],
  ['note', 7, aside],
  ['createdAt', start / 1000, aside],
];

const cases = table.flatMap(([path, text, reactions]) =>
  places.map((place, index) => [reactions[index] ?? 'refuses', path, place, text] as const),
);

describe('comparison of a quote with its order', () => {
  test.for(cases)('checkEcho %s a quote whose %s is %s', async ([reaction, path, place, text]) => {
    const whole: Record<string, unknown> = structuredClone(quote);
    const names = path.split('.');
    const name = names.pop() ?? '';
    let inner = whole;
    for (const each of names) inner = inner[each] as Record<string, unknown>;
    if (place === 'missing') delete inner[name];
    else
      inner[name] = {
        null: null,
        'in another notation': text,
        'wrapped in an object': { data: inner[name] },
        'an array': [7],
      }[place];

    const reports: string[] = [];
    const { client, service } = world({ onUnrecognized: (words) => reports.push(words) });
    service.on('POST', '/api/v2/transaction', answer(200, whole));
    const txn = await client.createTransaction(order.body);
    const check = (): void => checkEcho(order, txn);
    if (reaction === 'refuses')
      expect(check).toThrow(/^Nothing moved: the quote differs from the order/);
    else expect(check).not.toThrow();
    if (reaction === 'warns about') expect(reports).toHaveLength(1);
    if (reaction === 'accepts') expect(reports).toEqual([]);
  });

  test('refuses a quote that deducts the fees from the received amount if the order does not deduct fees', async () => {
    const { client, service } = world();
    service.on(
      'POST',
      '/api/v2/transaction',
      answer(200, { ...quote, deductNetworkFeesFromDest: 'true' }),
    );
    const txn = await client.createTransaction(order.body);
    expect(() => checkEcho(order, txn)).toThrow(/deductNetworkFeesFromDest is true, not false/);
  });

  test('accepts a quote wrapped in a `data` field', async () => {
    const { client, service } = world();
    service.on(
      'POST',
      '/api/v2/transaction',
      answer(200, { resultStatus: 'success', data: quote }),
    );
    const txn = await client.createTransaction(order.body);
    expect(() => checkEcho(order, txn)).not.toThrow();
  });

  test('names the missing field of a quote', async () => {
    for (const name of ['ccy', 'method', 'amtRequested', 'reqDetails']) {
      const { client, service } = world();
      service.on(
        'POST',
        '/api/v2/transaction',
        answer(200, { ...quote, destReq: { ...quote.destReq, [name]: undefined } }),
      );
      const txn = await client.createTransaction(order.body);
      expect(() => checkEcho(order, txn)).toThrow(
        /(the destination (currency|method|amount)|address) is missing, not /,
      );
    }
  });

  test('names the unreadable field of a quote', async () => {
    const { client, service } = world();
    const odd = { ...quote, sourceReq: { ...quote.sourceReq, networkFees: 'abc' } };
    service.on('POST', '/api/v2/transaction', answer(200, odd));
    const txn = await client.createTransaction(order.body);
    expect(() => checkEcho(order, txn)).toThrow(
      /sourceReq\.networkFees is "abc", a number was expected/,
    );
  });
});
