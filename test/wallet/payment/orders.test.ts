// The creation bodies field by field, by the nine rules of specification endpoint 6: what is asked
// for and nothing else.
import { describe, expect, test } from 'vitest';
import { wireJson } from '../../../src/api/json.js';
import type { CreateTransaction } from '../../../src/api/types.js';
import { parseAmount } from '../../../src/formats/amount.js';
import { decodeInvoice } from '../../../src/formats/bolt11/decode.js';
import {
  deducting,
  lightningOrder,
  lnurlOrder,
  onchainOrder,
  receiveBody,
  swapOrder,
  usdtOrder,
} from '../../../src/wallet/order/orders.js';
import { walletSide } from '../../support/orders.js';

/** BOLT11, examples: 2 500 micro-bitcoin. */
const invoice =
  'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqw' +
  'zqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymj' +
  'pf39tuven09sam30g4vgpfna3rh';

const bodies: { rule: string; body: CreateTransaction; wire: object }[] = [
  {
    rule: '2: a BOLT11 send names no amount',
    body: lightningOrder(decodeInvoice(invoice), 'BTC').body,
    wire: {
      sourceReq: walletSide('BTC'),
      destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: invoice } },
    },
  },
  {
    rule: '3: a Lightning Address send names the amount on the source',
    body: lnurlOrder('satoshi@example.com', parseAmount('50000sat')).body,
    wire: {
      sourceReq: walletSide('BTC', 0.0005),
      destReq: { ccy: 'BTC', method: 'lnurl', reqDetails: { address: 'satoshi@example.com' } },
    },
  },
  {
    rule: '3: the amount of a Lightning Address send is in the currency of the wallet that pays',
    body: lnurlOrder('satoshi@example.com', parseAmount('5usdt')).body,
    wire: {
      sourceReq: walletSide('USDT', 5),
      destReq: { ccy: 'BTC', method: 'lnurl', reqDetails: { address: 'satoshi@example.com' } },
    },
  },
  {
    rule: '4: a Lightning receive names the amount on the destination, the own wallet',
    body: receiveBody('lightning', parseAmount('1sat')),
    wire: {
      sourceReq: { ccy: 'BTC', method: 'lightning', reqDetails: {} },
      destReq: walletSide('BTC', 0.00000001),
    },
  },
  {
    rule: '4: an on-chain receive likewise',
    body: receiveBody('on-chain', parseAmount('0.01btc')),
    wire: {
      sourceReq: { ccy: 'BTC', method: 'on-chain', reqDetails: {} },
      destReq: walletSide('BTC', 0.01),
    },
  },
  {
    rule: '5: an on-chain send names the amount on the destination',
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
    rule: '5: fees are deducted from the amount only when asked for, in the one documented field',
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
    rule: '6: a USDT send is to a TRON address, amtRequested is the documented field (9)',
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
    rule: '8: a swap is between two own wallets, the amount on the source',
    body: swapOrder('USDT', 'BTC', parseAmount('25usdt'), 'source').body,
    wire: { sourceReq: walletSide('USDT', 25), destReq: walletSide('BTC') },
  },
  {
    rule: '8: or on the destination, for what shall arrive',
    body: swapOrder('USDT', 'BTC', parseAmount('100000sat'), 'dest').body,
    wire: { sourceReq: walletSide('USDT'), destReq: walletSide('BTC', 0.001) },
  },
];

describe('a creation body', () => {
  test.for(bodies)('follows rule $rule', ({ body, wire }) => {
    expect(JSON.parse(wireJson(body))).toEqual(wire);
  });

  test.for(bodies)('follows rule 1, at most one amount ($rule)', ({ body }) => {
    const amounts = [body.sourceReq.amtRequested, body.destReq.amtRequested].filter(
      (amount) => amount !== undefined,
    );
    expect(amounts.length).toBeLessThanOrEqual(1);
  });
});

describe('an order', () => {
  test('is paid once only to a single-use destination: an invoice', () => {
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
    ['a swap for what shall arrive', swapOrder('USDT', 'BTC', parseAmount('1btc'), 'dest'), '1'],
  ] as const)('defines the expected amount for %s', ([, { receives }, value]) => {
    expect(receives).toMatchObject({ ccy: 'BTC' });
    expect(receives?.value.eq(value)).toBe(true);
  });

  test('omits the received amount if the rate determines it', () => {
    expect(lnurlOrder('a@example.com', parseAmount('5usdt')).receives).toBeUndefined();
    expect(swapOrder('USDT', 'BTC', parseAmount('5usdt'), 'source').receives).toBeUndefined();
  });
});
