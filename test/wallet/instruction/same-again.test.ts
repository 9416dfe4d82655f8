// sameAgain finds earlier payments of the same amount to the same destination.
import { describe, expect, test } from 'vitest';
import { money } from '../../../src/formats/amount.js';
import { opened, requested, type AttemptState } from '../../../src/store/journal/payment.js';
import { type Order, encodeOrder } from '../../../src/wallet/order/orders.js';
import { lnurlOrder, onchainOrder, swapOrder } from '../../support/orders.js';
import { sameAgain } from '../../../src/wallet/limits/limits.js';
import { instructionOfOrder, orderOf } from '../../../src/wallet/instruction/order.js';
import { askedColumns, type Instruction } from '../../../src/wallet/instruction/instruction.js';
import { readSendNow } from '../../../src/wallet/instruction/send.js';
import { encodeLnurl } from '../../../src/formats/destination.js';
import { encodeInvoice } from '../../../src/formats/bolt11/encode.js';

const now = 1_800_000_000_000;
const btc = (amount: string) => money('BTC', amount);
const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const toAda = lnurlOrder('ada@example.com', btc('0.000013'));
const onchain = onchainOrder(address, btc('0.0001'), 'BTC');

const paidWithinMs = 600_000;

const read = (to: string, amount?: string): Instruction =>
  readSendNow({ to, amount }, { network: 'mainnet', now }).instruction;

const invoice = encodeInvoice(
  {
    network: 'mainnet',
    amountMsat: 10_000_000n,
    timestamp: now / 1000,
    paymentHash: '11'.repeat(32),
    paymentSecret: '22'.repeat(32),
    description: 'tea',
    expiry: 600,
  },
  new Uint8Array(32).fill(7),
);
const uri = read(`bitcoin:${address}?amount=0.0001&lightning=${invoice}`);

const earlier = (
  asked: Order | Instruction,
  state: AttemptState,
  ago = 20_000,
  ref = 'R',
  priced?: Order,
) => {
  const instruction = 'verb' in asked ? asked : instructionOfOrder(asked, false);
  const order = priced ?? ('verb' in asked ? orderOf(asked, { now }) : asked);
  const draft = {
    id: 'p',
    scope: 's',
    account: 's',
    ref,
    ...askedColumns(instruction, order.kind),
    request: encodeOrder(order),
    terms: {},
  };
  const attempt = { ...requested(1, draft.request), state, txnId: 't1' };
  return { ...opened(draft, now - ago), updatedAt: now - ago, attempts: [attempt] };
};

const latestOf = (
  asked: Order | Instruction,
  known: readonly ReturnType<typeof earlier>[],
  ref?: string,
) => {
  const instruction = 'verb' in asked ? asked : instructionOfOrder(asked, false);
  const order = 'verb' in asked ? undefined : asked;
  return sameAgain({ instruction, order, ref }, known, { now, paidWithinMs });
};

const found = (asked: Order | Instruction, ...known: ReturnType<typeof earlier>[]) =>
  latestOf(asked, known)?.is;

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
    expect(latestOf(toAda, known, 'R')).toBeUndefined();
  });

  test('sameAgain reports the latest of several identical payments', () => {
    const known = [earlier(toAda, 'unknown', 50_000, 'A'), earlier(toAda, 'paid', 10_000, 'B')];
    expect(latestOf(toAda, known)?.payment.ref).toBe('B');
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
    expect(found(onchain, earlier(uri, 'paid'))).toBe('paid');
  });

  test('sameAgain treats a Lightning payment of a URI as a repeat of a payment to the address in the URI', () => {
    expect(found(uri, earlier(onchain, 'in-flight'))).toBe('unfinished');
  });

  test('sameAgain ignores an earlier invoice payment because the idempotency key prevents a second payment', () => {
    const asked = read(invoice);
    expect(found(asked, earlier(asked, 'in-flight'))).toBeUndefined();
  });

  test('sameAgain ignores an earlier swap because the money stays in the account', () => {
    const swap = swapOrder('BTC', 'USDT', btc('0.0001'), 'source');
    expect(found(swap, earlier(swap, 'in-flight'))).toBeUndefined();
  });

  test('sameAgain matches an LNURL with the Lightning Address that it leads to', () => {
    const lnurl = encodeLnurl('https://example.com/.well-known/lnurlp/ada');
    expect(found(read(lnurl, '1300sat'), earlier(toAda, 'in-flight'))).toBe('unfinished');
  });

  test('sameAgain compares a fiat amount as asked, whatever bitcoin it was worth', () => {
    const asked = readSendNow(
      { to: 'ada@example.com', amount: '10usd', from: 'BTC' },
      { network: 'mainnet', now },
    ).instruction;
    const [then, today] = [90_000, 100_000].map((rate) =>
      orderOf(asked, { now, rates: { BTCUSD: rate } }),
    );
    if (then === undefined || today === undefined) throw new Error('no order');
    const before = earlier(asked, 'in-flight', 20_000, 'R', then);
    expect(latestOf(asked, [before])?.is).toBe('unfinished');
    expect(found(then, before)).toBe('unfinished');
    expect(found(today, before)).toBeUndefined();
  });
});
