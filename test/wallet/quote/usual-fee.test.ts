// What payments from here usually cost: the middle of those that were made, of one kind and one currency.
import { Big } from 'big.js';
import { describe, expect, test } from 'vitest';
import type { Intent } from '../../../src/store/journal/journal.js';
import { encodeOrder } from '../../../src/wallet/payment/order-record.js';
import { onchainOrder, swapOrder, type Order } from '../../../src/wallet/payment/orders.js';
import { usualFee } from '../../../src/wallet/quote/usual-fee.js';

const btc = (value: string) => ({ ccy: 'BTC', value: new Big(value) });

function paid(order: Order, approvedTotal: string, change: Partial<Intent> = {}): Intent {
  return {
    id: 'i', scope: 's', account: 'a', ref: 'r', kind: order.kind, request: encodeOrder(order), fingerprint: '', onceKey: null,
    terms: {}, consent: 'quote', attempt: 1, step: 'final', txnId: 't', txnState: 'completed', approvedTotal,
    approvedReceives: null, spendCcy: order.body.sourceReq.ccy, approvedAt: 1, doubts: [], closed: false, openedAt: 1, updatedAt: 1, ...change,
  };
}

const send = (amount: string): Order => onchainOrder('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', btc(amount), 'BTC');

describe('what is usually paid in fees', () => {
  test('is the middle of the payments of that kind', () => {
    const usual = usualFee([paid(send('1'), '1.01'), paid(send('1'), '1.5'), paid(send('2'), '2.04')], 'send onchain', 'BTC');
    expect([String(usual?.percent), String(usual?.fees)]).toEqual(['2', '0.04']);
  });

  test.each([
    ['of another kind', paid(swapOrder('BTC', 'USDT', btc('1'), 'source'), '1.1', { approvedReceives: '70000' }), 'send onchain', 'BTC'],
    ['from another wallet', paid(send('1'), '1.1', { spendCcy: 'USDT' }), 'send onchain', 'BTC'],
    ['that failed', paid(send('1'), '1.1', { txnState: 'failed' }), 'send onchain', 'BTC'],
    ['of another version', { ...paid(send('1'), '1.1'), request: '{}' }, 'send onchain', 'BTC'],
    ['that cost nothing', paid(send('1'), '1'), 'send onchain', 'BTC'],
    ['into another currency', paid(swapOrder('BTC', 'USDT', btc('1'), 'source'), '1.1', { approvedReceives: '70000' }), 'swap', 'BTC'],
  ])('is not known from a payment %s', (_, intent, kind, ccy) => {
    expect(usualFee([intent], kind, ccy)).toBeUndefined();
  });
});
