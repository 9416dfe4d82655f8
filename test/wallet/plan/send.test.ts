// The planner: the payment that follows from a destination, an amount and flags, for every send
// command.
import { describe, expect, test } from 'vitest';
import { encodeInvoice } from '../../../src/formats/bolt11/encode.js';
import { fixed, money } from '../../../src/formats/amount.js';
import { wholeOf } from '../../../src/wallet/plan/spend-all.js';
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
    { rail: 'lnurl', to: 'a@b.com', amount: '5usdt', deductFees: true },
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
  [{ rail: 'onchain', to: uri(invoice(1_000_000n)) }, 'BTC -> BTC 0.00001 on-chain'],
];

describe('the planner', () => {
  test.for(orders)('makes %o a payment', ([words, expected]) => {
    expect(shownOrder(planSendNow(words, around).order)).toBe(expected);
  });

  test.for<[SendWords, string]>([
    [{ to: bitcoin, amount: 'all' }, 'BTC -> BTC 0.12345678 on-chain, less fees'],
    [{ to: 'a@b.com', amount: 'ALL' }, 'BTC 0.12345678 -> BTC lnurl, less fees'],
    [{ to: 'a@b.com', amount: 'all', from: 'VND' }, 'VND 7000 -> BTC lnurl, less fees'],
    [{ to: tron, amount: 'all' }, 'USDT 12.5 -> USDT tron, less fees'],
    [{ to: tron, amount: 'all', from: 'VND' }, 'VND 7000 -> USDT tron, less fees'],
  ])('makes all in %o the whole balance, with the fees inside', ([words, expected]) => {
    const balances = [money('BTC', '0.12345678'), money('USDT', '12.5'), money('VND', '7000')];
    const planned = planSend(words, around);
    expect(planned).toMatchObject({ missing: 'balance' });
    const held = balances.find(({ ccy }) => 'ccy' in planned && ccy === planned.ccy);
    expect(shownOrder(planSendNow(words, { ...around, held }).order)).toBe(expected);
  });

  test.for<[SendWords, RegExp]>([
    [{ to: invoice(1_000_000n), amount: 'all' }, /invoice is for .* not for all/],
    [{ to: bitcoin, amount: 'all', from: 'USDT' }, /cannot be all of your USDT wallet/],
    [{ to: bitcoin, amount: 'all' }, /"all" is not an amount here/],
  ])('refuses all in %o', ([words, message]) => {
    expect(() => planSendNow(words, around)).toThrow(message);
  });

  test('counts only what the currency can express, and refuses an empty wallet', () => {
    expect(fixed(wholeOf(money('BTC', '0.000000019')).value)).toBe('0.00000001');
    expect(fixed(wholeOf(money('VND', '70.9')).value)).toBe('70');
    expect(() => wholeOf(money('VND', '0.9'))).toThrow('your VND wallet is empty');
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
