// The planner turns a destination, an amount and flags into a payment, for every send command.
import { describe, expect, test } from 'vitest';
import { encodeInvoice } from '../../../src/formats/bolt11/encode.js';
import { fixed } from '../../../src/formats/amount.js';
import { needOf, orderOf } from '../../../src/wallet/instruction/order.js';
import { readSend, readSendNow, type SendWords } from '../../../src/wallet/instruction/send.js';
import { wholeOf } from '../../../src/wallet/instruction/instruction.js';
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

const ordered = (words: SendWords) => orderOf(readSendNow(words, around).instruction, { now });

const orders: readonly (readonly [why: string, words: SendWords, order: string])[] = [
  [
    'a Lightning Address payment from the wallet in the currency of the amount',
    { to: 'a@b.com', amount: '5usdt' },
    'USDT 5 -> BTC lnurl',
  ],
  [
    'a Lightning Address payment from the wallet of --from',
    { to: 'a@b.com', amount: '5', from: 'USDT' },
    'USDT 5 -> BTC lnurl',
  ],
  [
    'a Lightning Address payment that debits the amount of --spend',
    { to: 'a@b.com', spend: '50 000 sat' },
    'BTC 0.0005 -> BTC lnurl',
  ],
  [
    'a Lightning Address payment that deducts its fees from the amount',
    { rail: 'lnurl', to: 'a@b.com', amount: '5usdt', deductFees: true },
    'USDT 5 -> BTC lnurl, less fees',
  ],
  [
    'an on-chain payment from a VND wallet',
    { to: bitcoin, amount: '2000sat', from: 'VND' },
    'VND -> BTC 0.00002 on-chain',
  ],
  [
    'a USDT payment that deducts its fees from the amount',
    { to: tron, amount: '25', deductFees: true },
    'USDT -> USDT 25 tron, less fees',
  ],
  [
    'a USDT payment that debits the VND amount of --spend',
    { to: tron, spend: '250000vnd' },
    'VND 250000 -> USDT tron',
  ],
  [
    'a USDT payment that debits --spend from the wallet of --from',
    { to: tron, spend: '250000', from: 'VND' },
    'VND 250000 -> USDT tron',
  ],
  ['a Lightning payment for an invoice', { to: invoice(1_000_000n) }, 'BTC -> BTC lightning'],
  [
    'a Lightning payment for a URI with an invoice',
    { to: uri(invoice(1_000_000n)) },
    'BTC -> BTC lightning',
  ],
  [
    'an on-chain payment for a URI with an invoice and --via onchain',
    { to: uri(invoice(1_000_000n)), via: 'onchain' },
    'BTC -> BTC 0.00001 on-chain',
  ],
  [
    'an on-chain payment for a URI with an invoice if fees are deducted',
    { to: uri(invoice(1_000_000n)), deductFees: true },
    'BTC -> BTC 0.00001 on-chain, less fees',
  ],
  [
    'an on-chain payment for a URI with an expired invoice',
    { to: uri(invoice(1_000_000n, now - 600_000)) },
    'BTC -> BTC 0.00001 on-chain',
  ],
  [
    'an on-chain payment for a URI whose invoice has no amount',
    { to: uri(invoice(null)) },
    'BTC -> BTC 0.00001 on-chain',
  ],
  [
    'an on-chain payment for a URI with an invoice if the command is "send onchain"',
    { rail: 'onchain', to: uri(invoice(1_000_000n)) },
    'BTC -> BTC 0.00001 on-chain',
  ],
];

describe('the planner of svcpay send', () => {
  test.for(orders)('plans %s', ([, words, expected]) => {
    expect(shownOrder(ordered(words))).toBe(expected);
  });

  test.for<[why: string, words: SendWords, order: string]>([
    [
      'an on-chain address',
      { to: bitcoin, amount: 'all' },
      'BTC -> BTC 0.12345678 on-chain, less fees',
    ],
    [
      'a Lightning Address',
      { to: 'a@b.com', amount: 'ALL' },
      'BTC 0.12345678 -> BTC lnurl, less fees',
    ],
    [
      'a Lightning Address from a VND wallet',
      { to: 'a@b.com', amount: 'all', from: 'VND' },
      'VND 7000 -> BTC lnurl, less fees',
    ],
    ['a TRON address', { to: tron, amount: 'all' }, 'USDT 12.5 -> USDT tron, less fees'],
    [
      'a TRON address from a VND wallet',
      { to: tron, amount: 'all', from: 'VND' },
      'VND 7000 -> USDT tron, less fees',
    ],
  ])('plans to send the whole balance, fees included, to %s', ([, words, expected]) => {
    const wallets = Object.entries({ BTC: 0.12345678, USDT: 12.5, VND: 7000 }).map(
      ([ccy, availableBalance]) => ({ ccy, availableBalance, amount: availableBalance }),
    );
    const { instruction } = readSendNow(words, around);
    expect(needOf(instruction)).toBe('wallets');
    expect(shownOrder(orderOf(instruction, { now, wallets }))).toBe(expected);
  });

  test.for<[why: string, words: SendWords, message: RegExp]>([
    [
      'an invoice with an amount',
      { to: invoice(1_000_000n), amount: 'all' },
      /invoice is for .* not for all/,
    ],
    [
      'an on-chain address from a USDT wallet',
      { to: bitcoin, amount: 'all', from: 'USDT' },
      /cannot send all of your USDT/,
    ],
  ])('refuses to send the amount "all" to %s', ([, words, message]) => {
    expect(() => readSendNow(words, around)).toThrow(message);
  });

  test('rounds the whole balance down to the decimals of its currency', () => {
    const whole = (ccy: string, availableBalance: number): string =>
      fixed(wholeOf(ccy, [{ ccy, availableBalance }]).value);
    expect(whole('BTC', 0.000000019)).toBe('0.00000001');
    expect(whole('VND', 70.9)).toBe('70');
    expect(() => whole('VND', 0.9)).toThrow('your VND wallet is empty');
  });

  test.for<[why: string, words: SendWords, missing: string, ccy: string | undefined]>([
    ['destination of an empty command line', {}, 'destination', undefined],
    ['amount in BTC for a Bitcoin address', { to: bitcoin }, 'amount', 'BTC'],
    ['amount in USDT for a TRON address', { to: tron }, 'amount', 'USDT'],
    ['amount for a Lightning Address', { to: 'a@b.com' }, 'amount', undefined],
    [
      'choice of --via for a URI with an invoice',
      { to: uri(invoice(1_000_000n)) },
      'way',
      undefined,
    ],
  ])('reports the missing %s', ([, words, missing, ccy]) => {
    expect(readSend(words, around)).toMatchObject({ missing, ...(ccy !== undefined && { ccy }) });
  });

  test('derives one idempotency key for both payment methods of a URI', () => {
    const text = uri(invoice(1_000_000n));
    const [lightning, onchain] = (['lightning', 'onchain'] as const).map((via) =>
      ordered({ to: text, via }),
    );
    expect(onchain?.idempotencyKey).toBe(lightning?.idempotencyKey);
  });
});

const paid = invoice(1_000_000n);
const expired = invoice(1_000_000n, now - 601_000);
const noAddress = `bitcoin:?lightning=${paid}`;

describe('the planner of svcpay send, before any request', () => {
  test.for<[why: string, words: SendWords, message: string]>([
    ['no destination', {}, 'the destination is missing'],
    ['no amount', { to: tron }, 'such as 25usdt'],
    ['--via for an address', { to: bitcoin, amount: '2000sat', via: 'onchain' }, 'only a bitcoin:'],
    ['an address for send lightning', { to: bitcoin, rail: 'lightning' }, 'this is a Bitcoin addr'],
    ['fees deducted from an invoice', { to: paid, deductFees: true }, 'cannot be deducted'],
    ['a debit for an invoice', { to: paid, spend: '2000sat' }, 'cannot fix the amount debited'],
    ['another amount of an invoice', { to: paid, amount: '1001sat' }, 'not for 1001sat'],
    ['two amounts for a name', { to: 'a@b.com', amount: '1sat', spend: '2sat' }, 'not both'],
    ['two amounts for USDT', { to: tron, amount: '1usdt', spend: '2usdt' }, 'not both'],
    ['a debit on-chain', { to: bitcoin, spend: '2000sat' }, 'requires the amount received'],
    ['dollars from USDT', { to: bitcoin, amount: '5usd', from: 'USDT' }, 'must be in BTC'],
    ['dollars without a wallet', { to: bitcoin, amount: '5usd' }, 'must be in BTC'],
    ['a URI for send usdt', { to: uri(paid), rail: 'usdt' }, 'this is a bitcoin: URI'],
    ['a URI for send lnurl', { to: uri(paid), rail: 'lnurl' }, 'this is a bitcoin: URI'],
    ['two ways', { to: uri(paid), rail: 'lightning', via: 'onchain' }, 'cannot pay on-chain'],
    ['an address as an invoice', { to: `bitcoin:${bitcoin}`, via: 'lightning' }, 'no Lightning in'],
    ['an invoice as an address', { to: noAddress, via: 'onchain' }, 'has no address'],
    ['another amount of a URI', { to: uri(expired), amount: '1001sat' }, 'not for 1001sat'],
    ['all of a URI with an amount', { to: uri(expired), amount: 'all' }, 'not for all'],
  ])('refuses %s', ([, words, message]) => {
    expect(() => readSendNow(words, around)).toThrow(message);
  });

  test.for<[why: string, to: string, missing: string | undefined]>([
    ['with an address and a valid invoice', uri(paid), 'way'],
    ['with an address and an expired invoice', uri(expired), undefined],
    ['with an invoice only', noAddress, undefined],
    ['with an address only', `bitcoin:${bitcoin}?amount=0.00001`, undefined],
    ['with an invoice but no amount of its own', `bitcoin:${bitcoin}?lightning=${paid}`, undefined],
  ])('asks for the way of a URI %s only if both ways work', ([, to, missing]) => {
    expect(readSend({ to }, around).missing).toBe(missing);
  });
});
