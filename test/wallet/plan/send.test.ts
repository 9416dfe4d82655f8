// The planner: the payment that follows from a destination, an amount and flags, for every send command.
import { describe, expect, test } from 'vitest';
import { encodeInvoice } from '../../../src/formats/bolt11/encode.js';
import { planSend, planSendNow, type SendWords } from '../../../src/wallet/plan/send.js';
import { shownOrder } from '../../support/orders.js';

const now = 1_900_000_000_000;
const around = { network: 'testnet', now } as const;
const bitcoin = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const tron = 'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW';
const invoice = (amountMsat: bigint | null, madeAt = now) =>
  encodeInvoice(
    {
      network: 'testnet',
      amountMsat,
      timestamp: Math.floor(madeAt / 1000),
      paymentHash: '11'.repeat(32),
      paymentSecret: '22'.repeat(32),
      description: 'tea',
      expiry: 600,
    },
    new Uint8Array(32).fill(7),
  );
const uri = (lightning: string) => `bitcoin:${bitcoin}?amount=0.00001&lightning=${lightning}`;

const orders: readonly (readonly [SendWords, string])[] = [
  [{ to: 'a@b.com', amount: '5usdt' }, 'USDT 5 -> BTC lnurl'],
  [{ to: 'a@b.com', amount: '5', from: 'USDT' }, 'USDT 5 -> BTC lnurl'],
  [{ to: 'a@b.com', spend: '50 000 sat' }, 'BTC 0.0005 -> BTC lnurl'],
  [
    { kind: 'lnurl', to: 'a@b.com', amount: '5usdt', deductFees: true },
    'USDT 5 -> BTC lnurl, less fees',
  ],
  [{ to: bitcoin, amount: '2000sat', from: 'VND' }, 'VND -> BTC 0.00002 on-chain'],
  [{ to: tron, amount: '25', deductFees: true }, 'USDT -> USDT 25 tron, less fees'],
  [{ to: tron, spend: '250000vnd' }, 'VND 250000 -> USDT tron'],
  [{ to: tron, spend: '250000', from: 'VND' }, 'VND 250000 -> USDT tron'],
  [{ to: invoice(1_000_000n) }, 'BTC -> BTC lightning'],
  [{ to: uri(invoice(1_000_000n)) }, 'BTC -> BTC lightning'],
  [{ to: uri(invoice(1_000_000n)), via: 'onchain' }, 'BTC -> BTC 0.00001 on-chain'],
  [{ to: uri(invoice(1_000_000n)), deductFees: true }, 'BTC -> BTC 0.00001 on-chain, less fees'],
  [{ to: uri(invoice(1_000_000n, now - 600_000)) }, 'BTC -> BTC 0.00001 on-chain'],
  [{ to: uri(invoice(null)) }, 'BTC -> BTC 0.00001 on-chain'],
  [{ kind: 'onchain', to: uri(invoice(1_000_000n)) }, 'BTC -> BTC 0.00001 on-chain'],
];

describe('the planner', () => {
  test.for(orders)('makes %o a payment', ([words, expected]) => {
    expect(shownOrder(planSendNow(words, around).order)).toBe(expected);
  });

  test.for<[SendWords, string, string | undefined]>([
    [{}, 'destination', undefined],
    [{ to: bitcoin }, 'amount', 'BTC'],
    [{ to: tron }, 'amount', 'USDT'],
    [{ to: 'a@b.com' }, 'amount', undefined],
    [{ to: uri(invoice(1_000_000n)) }, 'way', undefined],
  ])('explains what is missing in %o', ([words, missing, ccy]) => {
    expect(planSend(words, around)).toMatchObject({ missing, ...(ccy !== undefined && { ccy }) });
  });

  test('pays only once if a URI has two methods', () => {
    const text = uri(invoice(1_000_000n));
    const [lightning, onchain] = (['lightning', 'onchain'] as const).map((via) =>
      planSendNow({ to: text, via }, around),
    );
    expect(onchain?.order.idempotencyKey).toBe(lightning?.order.idempotencyKey);
  });
});
