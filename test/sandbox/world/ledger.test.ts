// The ledger of the sandbox refuses a movement that does not balance, happens twice or takes a
// wallet below zero.
import { randomBytes } from 'node:crypto';
import Big from 'big.js';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../../src/sandbox/world.js';
import { openStore, type Store } from '../../../src/sandbox/database.js';
import {
  InsufficientFunds,
  leg,
  post,
  verifyBooks,
  type Leg,
  availableIn,
  walletsOf,
} from '../../../src/sandbox/accounts.js';
import { wireNamesOf } from '../../../src/sandbox/wire.js';

let store: Store;
let ctx: Context;

beforeEach(() => {
  store = openStore({
    file: ':memory:',
    now: Date.now,
    initialise: () => undefined,
    verify: verifyBooks,
  });
  ctx = {
    store,
    now: 1,
    random: randomBytes,
    wireNames: wireNamesOf('service'),
    baseUrl: '',
    allowHttpCallbacks: false,
    allowSignatureReuse: false,
    machine: 1,
    actions: new Map(),
    onError: () => undefined,
    settleMs: undefined,
  };
});

afterEach(() => store.close());

let subjects = 0;
const move = (...legs: Leg[]) =>
  store.write(() => post(ctx, { subject: `t${(subjects += 1)}`, step: 'settle', legs }));
const fund = (ccy: string, amount: string) =>
  move(
    leg('outside', 'a', ccy, new Big(amount).neg()),
    leg('available', 'a', ccy, new Big(amount)),
  );
const available = (ccy: string) => availableIn(store, 'a', ccy).toFixed();

describe('the ledger of the sandbox', () => {
  test('moves money between the available and the reserved balance', async () => {
    await fund('BTC', '0.3');
    await move(
      leg('available', 'a', 'BTC', new Big('-0.1')),
      leg('reserved', 'a', 'BTC', new Big('0.1')),
    );
    const [wallet] = walletsOf(store, 'a');
    expect([available('BTC'), wallet?.amount.toFixed()]).toEqual(['0.2', '0.3']);
  });

  test('refuses a movement that does not sum to zero in each currency', async () => {
    await fund('BTC', '1');
    const crooked = move(
      leg('available', 'a', 'BTC', new Big(-1)),
      leg('available', 'a', 'USD', new Big(1)),
    );
    await expect(crooked).rejects.toThrow('The books are wrong');
    expect(available('BTC')).toBe('1');
  });

  test('refuses to take a wallet below zero and records no part of the movement', async () => {
    await fund('USD', '5');
    const overdraw = move(
      leg('outside', 'a', 'USD', new Big('5.01')),
      leg('available', 'a', 'USD', new Big('-5.01')),
    );
    await expect(overdraw).rejects.toThrow(InsufficientFunds);
    expect(available('USD')).toBe('5');
  });

  test('accepts a movement of zero', async () => {
    await move(leg('available', 'a', 'BTC', new Big(0)));
    expect(available('BTC')).toBe('0');
  });

  test('records each step of a transaction only once', async () => {
    const legs = [
      leg('outside', 'a', 'BTC', new Big(-1)),
      leg('available', 'a', 'BTC', new Big(1)),
    ];
    const once = () => store.write(() => post(ctx, { subject: 'once', step: 'settle', legs }));
    await once();
    await expect(once()).rejects.toThrow('UNIQUE');
    expect(available('BTC')).toBe('1');
  });

  test('refuses an amount with more decimals than its currency', async () => {
    await expect(fund('BTC', '0.000000001')).rejects.toThrow(RangeError);
  });

  test.for([
    ['a balance exceeds the sum of its movements', `available + (owner = 'a')`],
    ['a wallet is below zero', `CASE owner WHEN 'a' THEN -1 ELSE 1 END`],
  ] as const)('stops the commit if %s', async ([, balance]) => {
    await fund('BTC', '1');
    const tamper = store.write(() => store.run(`UPDATE wallet SET available = ${balance}`));
    await expect(tamper).rejects.toThrow('The books are wrong');
    expect(available('BTC')).toBe('1');
  });

  test('agrees with plain arithmetic over any series of movements', async () => {
    const amounts = fc.array(fc.integer({ min: -300, max: 500 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(amounts, async (steps) => {
        const before = new Big(available('BTC')).times(1e8).toNumber();
        let expected = before;
        for (const sats of steps) {
          const amount = new Big(sats).times('1e-8');
          const moved = move(
            leg('outside', 'a', 'BTC', amount.neg()),
            leg('available', 'a', 'BTC', amount),
          );
          if (expected + sats < 0) {
            await expect(moved).rejects.toThrow(InsufficientFunds);
          } else {
            await moved;
            expected += sats;
          }
        }
        expect(new Big(available('BTC')).times(1e8).toNumber()).toBe(expected);
      }),
      { numRuns: 25 },
    );
  });
});
