// Variants of quotes: the fields that decide about money must be present and readable.
import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import { onchainOrder } from '../../../src/wallet/order/orders.js';
import { checkEcho } from '../../../src/wallet/order/echo.js';
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

const places = ['missing', 'null', 'text', 'wrapped', 'nonsense'] as const;
type Reaction = 'goes on' | 'warns' | 'refuses';

const strict = ['refuses', 'refuses', 'goes on', 'refuses', 'refuses'] as const;
const ifAvailable = ['goes on', 'goes on', 'goes on', 'refuses', 'refuses'] as const;
const aside = ['goes on', 'goes on', 'goes on', 'warns', 'warns'] as const;

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
  places.map((place, index) => [path, place, reactions[index] ?? 'refuses', text] as const),
);

describe('a quote', () => {
  test.for(cases)('whose %s is %s %s', async ([path, place, reaction, text]) => {
    const whole: Record<string, unknown> = structuredClone(quote);
    const names = path.split('.');
    const name = names.pop() ?? '';
    let inner = whole;
    for (const each of names) inner = inner[each] as Record<string, unknown>;
    if (place === 'missing') delete inner[name];
    else inner[name] = { null: null, text, wrapped: { data: inner[name] }, nonsense: [7] }[place];

    const reports: string[] = [];
    const { client, service } = world({ onUnrecognized: (words) => reports.push(words) });
    service.on('POST', '/api/v2/transaction', answer(200, whole));
    const txn = await client.createTransaction(order.body);
    const check = (): void => checkEcho(order, txn);
    if (reaction === 'refuses')
      expect(check).toThrow(/^Nothing moved: the quote differs from the order/);
    else expect(check).not.toThrow();
    if (reaction === 'warns') expect(reports).toHaveLength(1);
    if (reaction === 'goes on') expect(reports).toEqual([]);
  });

  test('is refused if the recipient pays the fees, even if the flag is a text', async () => {
    const { client, service } = world();
    service.on(
      'POST',
      '/api/v2/transaction',
      answer(200, { ...quote, deductNetworkFeesFromDest: 'true' }),
    );
    const txn = await client.createTransaction(order.body);
    expect(() => checkEcho(order, txn)).toThrow(/deductNetworkFeesFromDest is true, not false/);
  });

  test('may be wrapped', async () => {
    const { client, service } = world();
    service.on(
      'POST',
      '/api/v2/transaction',
      answer(200, { resultStatus: 'success', data: quote }),
    );
    const txn = await client.createTransaction(order.body);
    expect(() => checkEcho(order, txn)).not.toThrow();
  });

  test('explains what is missing', async () => {
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

  test('names the field that was not understood', async () => {
    const { client, service } = world();
    const odd = { ...quote, sourceReq: { ...quote.sourceReq, networkFees: 'abc' } };
    service.on('POST', '/api/v2/transaction', answer(200, odd));
    const txn = await client.createTransaction(order.body);
    expect(() => checkEcho(order, txn)).toThrow(
      /sourceReq\.networkFees is "abc", a number was expected/,
    );
  });
});
