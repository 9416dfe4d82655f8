// sameAgain finds earlier payments of the same amount to the same destination.
import { describe, expect, test } from 'vitest';
import { money } from '../../../src/formats/amount.js';
import { opened, requested, type AttemptState } from '../../../src/store/journal/payment.js';
import {
  lnurlOrder,
  onchainOrder,
  recordOf,
  swapOrder,
  type Order,
} from '../../../src/wallet/order/orders.js';
import { paidWithinMs, sameAgain, targetOf } from '../../../src/wallet/payment/same-again.js';

const now = 1_800_000_000_000;
const btc = (amount: string) => money('BTC', amount);
const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const toAda = lnurlOrder('ada@example.com', btc('0.000013'));
const onchain = onchainOrder(address, btc('0.0001'), 'BTC');

/**
 * Returns the order with the destination of a `bitcoin:` URI that contains an invoice and an
 * address.
 */
const ofUri = (order: Order): Order => ({
  ...order,
  body: {
    sourceReq: order.body.sourceReq,
    destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: 'lnbc1' } },
  },
  destination: '03abc',
  idempotencyKey: 'bolt11:1',
  alsoPays: address,
});

const earlier = (order: Order, state: AttemptState, ago = 20_000, ref = 'R') => {
  const draft = { id: 'p', scope: 's', account: 's', ref, ...recordOf(order), terms: {} };
  const attempt = { ...requested(1), state, txnId: 't1' };
  return { ...opened(draft, now - ago), updatedAt: now - ago, attempts: [attempt] };
};

const found = (order: Order, ...known: ReturnType<typeof earlier>[]) =>
  sameAgain(targetOf(order), known, { ref: undefined, now, paidWithinMs })?.is;

describe('earlier identical payment', () => {
  test.for([
    ['reports an identical submitting payment as unfinished', 'submitting', 'unfinished'],
    ['reports an identical payment in flight as unfinished', 'in-flight', 'unfinished'],
    ['reports an identical payment with an unknown outcome as unfinished', 'unknown', 'unfinished'],
    ['reports an identical payment in the state `error` as unfinished', 'error', 'unfinished'],
    ['reports an identical paid payment as paid', 'paid', 'paid'],
    ['ignores an identical payment that is only requested', 'requested', undefined],
    ['ignores an identical payment that is only quoted', 'quoted', undefined],
    ['ignores an identical failed payment', 'failed', undefined],
    ['ignores an identical lapsed payment', 'lapsed', undefined],
  ] as const)('sameAgain %s', ([, state, is]) => {
    expect(found(toAda, earlier(toAda, state))).toBe(is);
  });

  test('sameAgain ignores an identical payment that was paid ten minutes ago', () => {
    expect(found(toAda, earlier(toAda, 'paid', 599_000))).toBe('paid');
    expect(found(toAda, earlier(toAda, 'paid', 600_000))).toBeUndefined();
  });

  test('sameAgain reports an identical unfinished payment of any age', () => {
    expect(found(toAda, earlier(toAda, 'unknown', 90 * 86_400_000))).toBe('unfinished');
  });

  test('sameAgain ignores an identical payment under the reference of the new payment', () => {
    const known = [earlier(toAda, 'in-flight')];
    expect(sameAgain(targetOf(toAda), known, { ref: 'R', now, paidWithinMs })).toBeUndefined();
  });

  test('sameAgain reports the latest of several identical payments', () => {
    const known = [earlier(toAda, 'unknown', 50_000, 'A'), earlier(toAda, 'paid', 10_000, 'B')];
    const same = sameAgain(targetOf(toAda), known, { ref: undefined, now, paidWithinMs });
    expect(same?.payment.ref).toBe('B');
  });
});

describe('earlier different payment', () => {
  test.for([
    ['amount', lnurlOrder('ada@example.com', btc('0.000014'))],
    ['address', lnurlOrder('bob@example.com', btc('0.000013'))],
    ['currency', lnurlOrder('ada@example.com', money('USDT', '0.000013'))],
  ] as const)('sameAgain ignores an earlier payment with another %s', ([, order]) => {
    expect(found(toAda, earlier(order, 'in-flight'))).toBeUndefined();
  });
});

describe('destination of an earlier payment', () => {
  test('sameAgain matches a Lightning Address in another letter case', () => {
    const upper = lnurlOrder('Ada@Example.com', btc('0.000013'));
    expect(found(toAda, earlier(upper, 'in-flight'))).toBe('unfinished');
  });

  test('sameAgain treats a payment to an address as a repeat of a Lightning payment of a URI with that address', () => {
    expect(found(onchain, earlier(ofUri(onchain), 'paid'))).toBe('paid');
  });

  test('sameAgain treats a Lightning payment of a URI as a repeat of a payment to the address in the URI', () => {
    expect(found(ofUri(onchain), earlier(onchain, 'in-flight'))).toBe('unfinished');
  });

  test('sameAgain ignores an earlier invoice payment because the idempotency key prevents a second payment', () => {
    const invoice = { ...ofUri(onchain), alsoPays: undefined };
    expect(found(invoice, earlier(invoice, 'in-flight'))).toBeUndefined();
  });

  test('sameAgain ignores an earlier swap because the money stays in the account', () => {
    const swap = swapOrder('BTC', 'USDT', btc('0.0001'), 'source');
    expect(found(swap, earlier(swap, 'in-flight'))).toBeUndefined();
  });
});
