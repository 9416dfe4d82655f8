// Creates transactions for tests of the books.
import type { ListedTransaction } from '../../../src/api/types.js';

export const start = Date.UTC(2026, 9, 1);

const side = (ccy: string, method: string, amount: number, more: object = {}) => ({
  ccy,
  method,
  amtRequested: amount,
  amtSettled: amount,
  ...more,
});

export const fees = { servicepayFees: 0.00000005, networkFees: 0.00000002 };

export function transaction(changes: Partial<ListedTransaction> = {}): ListedTransaction {
  return {
    txnId: 'sent',
    txnState: 'completed',
    createdAt: start,
    sourceReq: side('BTC', 'servicepay', 0.001, fees),
    destReq: side('BTC', 'lightning', 0.001),
    ...changes,
  };
}

export const received = (changes: Partial<ListedTransaction> = {}): ListedTransaction =>
  transaction({
    txnId: 'received',
    sourceReq: side('BTC', 'lightning', 0.002, { servicepayFees: 0, networkFees: 0 }),
    destReq: side('BTC', 'servicepay', 0.002),
    ...changes,
  });

export const swapped = (changes: Partial<ListedTransaction> = {}): ListedTransaction =>
  transaction({
    txnId: 'swapped',
    fxRate: 0.00001,
    sourceReq: side('USDT', 'servicepay', 25, { servicepayFees: 0.0625, networkFees: 0 }),
    destReq: side('BTC', 'servicepay', 0.00025),
    ...changes,
  });
