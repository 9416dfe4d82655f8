// Tests each field of the create requests against the nine rules of endpoint 6 in the
// specification.
import { describe, expect, test } from 'vitest';
import { wireJson } from '../../../src/api/wire.js';
import type { CreateTransaction } from '../../../src/api/types.js';
import { parseAmount } from '../../../src/formats/amount.js';
import { decodeInvoice } from '../../../src/formats/bolt11/decode.js';
import { receiveBody } from '../../../src/wallet/order/orders.js';
import {
  walletSide,
  deducting,
  lightningOrder,
  lnurlOrder,
  onchainOrder,
  swapOrder,
  usdtOrder,
} from '../../support/orders.js';

/** The BOLT11 example of 2 500 micro-bitcoin. */
const invoice =
  'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqw' +
  'zqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymj' +
  'pf39tuven09sam30g4vgpfna3rh';

const bodies: { rule: string; body: CreateTransaction; wire: object }[] = [
  {
    rule: 'a BOLT11 send without an amount (rule 2)',
    body: lightningOrder(decodeInvoice(invoice), 'BTC').body,
    wire: {
      sourceReq: walletSide('BTC'),
      destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: invoice } },
    },
  },
  {
    rule: 'a Lightning Address send with the amount on the source (rule 3)',
    body: lnurlOrder('satoshi@example.com', parseAmount('50000sat')).body,
    wire: {
      sourceReq: walletSide('BTC', 0.0005),
      destReq: { ccy: 'BTC', method: 'lnurl', reqDetails: { address: 'satoshi@example.com' } },
    },
  },
  {
    rule: 'a Lightning Address send with the amount in the currency of the paying wallet (rule 3)',
    body: lnurlOrder('satoshi@example.com', parseAmount('5usdt')).body,
    wire: {
      sourceReq: walletSide('USDT', 5),
      destReq: { ccy: 'BTC', method: 'lnurl', reqDetails: { address: 'satoshi@example.com' } },
    },
  },
  {
    rule: 'a Lightning receive with the amount on the destination (rule 4)',
    body: receiveBody('lightning', parseAmount('1sat')),
    wire: {
      sourceReq: { ccy: 'BTC', method: 'lightning', reqDetails: {} },
      destReq: walletSide('BTC', 0.00000001),
    },
  },
  {
    rule: 'an on-chain receive with the amount on the destination (rule 4)',
    body: receiveBody('on-chain', parseAmount('0.01btc')),
    wire: {
      sourceReq: { ccy: 'BTC', method: 'on-chain', reqDetails: {} },
      destReq: walletSide('BTC', 0.01),
    },
  },
  {
    rule: 'an on-chain send with the amount on the destination (rule 5)',
    body: onchainOrder('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', parseAmount('1000sat'), 'BTC')
      .body,
    wire: {
      sourceReq: walletSide('BTC'),
      destReq: {
        ccy: 'BTC',
        method: 'on-chain',
        reqDetails: { address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' },
        amtRequested: 0.00001,
      },
    },
  },
  {
    rule: 'an on-chain send with its fees deducted from the amount (rule 5)',
    body: deducting(
      onchainOrder('3P14159f73E4gFr7JterCCQh9QjiTjiZrG', parseAmount('0.5btc'), 'USDT'),
    ).body,
    wire: {
      sourceReq: walletSide('USDT'),
      destReq: {
        ccy: 'BTC',
        method: 'on-chain',
        reqDetails: { address: '3P14159f73E4gFr7JterCCQh9QjiTjiZrG' },
        amtRequested: 0.5,
      },
      deductNetworkFeesFromDest: true,
    },
  },
  {
    rule: 'a USDT send to a TRON address with the amount on the destination (rules 6 and 9)',
    body: usdtOrder('TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW', parseAmount('25.5usdt'), 'USD').body,
    wire: {
      sourceReq: walletSide('USD'),
      destReq: {
        ccy: 'USDT',
        method: 'tron',
        reqDetails: { address: 'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW' },
        amtRequested: 25.5,
      },
    },
  },
  {
    rule: 'a swap with the amount on the source (rule 8)',
    body: swapOrder('USDT', 'BTC', parseAmount('25usdt'), 'source').body,
    wire: { sourceReq: walletSide('USDT', 25), destReq: walletSide('BTC') },
  },
  {
    rule: 'a swap with the amount on the destination (rule 8)',
    body: swapOrder('USDT', 'BTC', parseAmount('100000sat'), 'dest').body,
    wire: { sourceReq: walletSide('USDT'), destReq: walletSide('BTC', 0.001) },
  },
];
const named = bodies.map((each) => [each.rule, each] as const);

describe('the create request of an order', () => {
  test.for(named)('builds the specified create request for %s', ([, { body, wire }]) => {
    expect(JSON.parse(wireJson(body))).toEqual(wire);
  });

  test.for(named)('contains at most one amount for %s', ([, { body }]) => {
    const amounts = [body.sourceReq.amtRequested, body.destReq.amtRequested].filter(
      (amount) => amount !== undefined,
    );
    expect(amounts.length).toBeLessThanOrEqual(1);
  });
});

describe('the order of a payment', () => {
  test('sets an idempotency key only for a single-use destination such as an invoice', () => {
    expect(lightningOrder(decodeInvoice(invoice), 'BTC').idempotencyKey).toMatch(
      /^bolt11:[0-9a-f]{64}$/,
    );
    expect(
      usdtOrder('TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW', parseAmount('25usdt'), 'USDT').idempotencyKey,
    ).toBeNull();
  });

  test.for([
    ['an invoice', lightningOrder(decodeInvoice(invoice), 'BTC'), '0.0025'],
    [
      'a Lightning Address paid in bitcoin',
      lnurlOrder('a@example.com', parseAmount('1sat')),
      '0.00000001',
    ],
    [
      'an on-chain address',
      onchainOrder('1BoatSLRHtKNngkdXEeobR76b53LETtpyT', parseAmount('1btc'), 'USDT'),
      '1',
    ],
    [
      'a swap with a fixed received amount',
      swapOrder('USDT', 'BTC', parseAmount('1btc'), 'dest'),
      '1',
    ],
  ] as const)('defines the amount to be received for %s', ([, { receives }, value]) => {
    expect(receives).toMatchObject({ ccy: 'BTC' });
    expect(receives?.value.eq(value)).toBe(true);
  });

  test('omits the amount to be received if the exchange rate determines this amount', () => {
    expect(lnurlOrder('a@example.com', parseAmount('5usdt')).receives).toBeUndefined();
    expect(swapOrder('USDT', 'BTC', parseAmount('5usdt'), 'source').receives).toBeUndefined();
  });
});
