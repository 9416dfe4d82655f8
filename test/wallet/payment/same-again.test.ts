// The same amount to the same destination: which earlier payments a new one is asked about.
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

/** An invoice of a URI that has the address as well. */
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

describe('an equal payment', () => {
  test.for([
    ['submitting', 'unfinished'],
    ['in-flight', 'unfinished'],
    ['unknown', 'unfinished'],
    ['error', 'unfinished'],
    ['paid', 'paid'],
    ['requested', undefined],
    ['quoted', undefined],
    ['failed', undefined],
    ['lapsed', undefined],
  ] as const)('that is %s counts as %s', ([state, is]) => {
    expect(found(toAda, earlier(toAda, state))).toBe(is);
  });

  test('that was paid more than ten minutes ago does not count', () => {
    expect(found(toAda, earlier(toAda, 'paid', 599_000))).toBe('paid');
    expect(found(toAda, earlier(toAda, 'paid', 600_000))).toBeUndefined();
  });

  test('that is unfinished counts however old it is', () => {
    expect(found(toAda, earlier(toAda, 'unknown', 90 * 86_400_000))).toBe('unfinished');
  });

  test('under the reference of the new payment does not count', () => {
    const known = [earlier(toAda, 'in-flight')];
    expect(sameAgain(targetOf(toAda), known, { ref: 'R', now, paidWithinMs })).toBeUndefined();
  });

  test('is the latest of several', () => {
    const known = [earlier(toAda, 'unknown', 50_000, 'A'), earlier(toAda, 'paid', 10_000, 'B')];
    const same = sameAgain(targetOf(toAda), known, { ref: undefined, now, paidWithinMs });
    expect(same?.payment.ref).toBe('B');
  });
});

describe('a different payment', () => {
  test.for([
    ['another amount', lnurlOrder('ada@example.com', btc('0.000014'))],
    ['another address', lnurlOrder('bob@example.com', btc('0.000013'))],
    ['another currency', lnurlOrder('ada@example.com', money('USDT', '0.000013'))],
  ] as const)('to %s does not count', ([, order]) => {
    expect(found(toAda, earlier(order, 'in-flight'))).toBeUndefined();
  });
});

describe('the destination', () => {
  test('of a Lightning Address is the same in other letter case', () => {
    const upper = lnurlOrder('Ada@Example.com', btc('0.000013'));
    expect(found(toAda, earlier(upper, 'in-flight'))).toBe('unfinished');
  });

  test('of a URI that was paid over Lightning is its address too', () => {
    expect(found(onchain, earlier(ofUri(onchain), 'paid'))).toBe('paid');
  });

  test('of a URI that would be paid over Lightning is its address too', () => {
    expect(found(ofUri(onchain), earlier(onchain, 'in-flight'))).toBe('unfinished');
  });

  test('of an invoice alone is none: it is paid once by its own rule', () => {
    const invoice = { ...ofUri(onchain), alsoPays: undefined };
    expect(found(invoice, earlier(invoice, 'in-flight'))).toBeUndefined();
  });

  test('of a swap is none: the money stays in the account', () => {
    const swap = swapOrder('BTC', 'USDT', btc('0.0001'), 'source');
    expect(found(swap, earlier(swap, 'in-flight'))).toBeUndefined();
  });
});
