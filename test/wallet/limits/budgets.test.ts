// Tests what a budget allows, and which payments it leaves to the owner. Each condition has the
// last payment that it allows and the first that it refuses.
import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../src/formats/amount.js';
import type { Budget, BudgetRules } from '../../../src/store/journal/journal.js';
import { checkBudget, OverBudget } from '../../../src/wallet/limits/limits.js';
import type { Order } from '../../../src/wallet/order/orders.js';
import { lnurlOrder, swapOrder } from '../../support/orders.js';

const rules: BudgetRules = {
  perPayment: {},
  perDay: { BTC: '0.01' },
  total: {},
  askAbove: {},
  destinations: [],
  kinds: [],
  expiresAt: null,
  outbox: null,
};
const spent = (amount: string) => [{ ccy: 'BTC', total: amount }];
const budget = (given: Partial<BudgetRules>, more: Partial<Budget> = {}): Budget => ({
  name: 'agent',
  rules: { ...rules, ...given },
  stopped: null,
  time: 1_000,
  spentToday: [],
  spentEver: [],
  ...more,
});

const toAda = lnurlOrder('ada@example.com', parseAmount('1000sat'));
const swap = swapOrder('BTC', 'USDT', parseAmount('1000sat'), 'source');

/** Returns `allowed`, or why the payment is refused, with `owner:` if the owner may approve it. */
function outcome(given: Budget | undefined, amounts: readonly string[], order: Order = toAda) {
  try {
    checkBudget(
      'agent',
      given,
      order,
      amounts.map((each) => parseAmount(each)),
    );
    return 'allowed';
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error;
    return `${error.forOwner === undefined ? '' : 'owner: '}${error.clause}`;
  }
}

describe('a budget', () => {
  const day = { perDay: { BTC: '0.001' } };
  const total = { perDay: {}, total: { BTC: '0.001' } };
  test.for<[string, Budget | undefined, string[], string | RegExp, Order?]>([
    ['allows a payment within its figures', budget({}), ['1000sat'], 'allowed'],
    ['that does not exist', undefined, ['1sat'], 'there is no budget "agent"'],
    ['that is stopped', budget({}, { stopped: 'this' }), ['1sat'], 'the budget agent is stopped'],
    [
      'that is stopped with all',
      budget({}, { stopped: 'all' }),
      ['1sat'],
      'all budgets are stopped',
    ],
    ['just before it expires', budget({ expiresAt: 1_001 }), ['1sat'], 'allowed'],
    ['when it expires', budget({ expiresAt: 1_000 }), ['1sat'], 'the budget agent has expired'],
    ['of this kind', budget({ kinds: ['swap', 'lnurl'] }), ['1sat'], 'allowed'],
    ['of another kind', budget({ kinds: ['swap'] }), ['1sat'], /not allow a payment by lnurl/],
    ['without a figure in the currency', budget({}), ['1usdt'], /has no figure in USDT/],
    [
      'with only a limit per payment',
      budget({ perPayment: { USDT: '9' } }),
      ['1usdt'],
      /no figure/,
    ],
    ['with a total in the currency', budget(total), ['100000sat'], 'allowed'],
    ['without a figure for what arrives', budget({}), ['1sat', '5usd'], 'allowed'],
    [
      'up to the limit per payment',
      budget({ perPayment: { BTC: '0.00001' } }),
      ['1000sat'],
      'allowed',
    ],
    [
      'over the limit per payment',
      budget({ perPayment: { BTC: '0.00001' } }),
      ['1001sat'],
      /^0\.00001001 BTC .* is over the budget agent's per-payment limit of/,
    ],
    [
      'up to the rest of the day',
      budget(day, { spentToday: spent('0.0009') }),
      ['10000sat'],
      'allowed',
    ],
    [
      'over the rest of the day',
      budget(day, { spentToday: spent('0.0009') }),
      ['10001sat'],
      /the budget agent's daily limit of .* of which 0\.00090000 BTC/,
    ],
    [
      'whatever was spent on earlier days',
      budget(day, { spentEver: spent('5') }),
      ['1sat'],
      'allowed',
    ],
    [
      'up to the rest of the total',
      budget(total, { spentEver: spent('0.0009') }),
      ['10000sat'],
      'allowed',
    ],
    [
      'over the rest of the total',
      budget(total, { spentEver: spent('0.0009') }),
      ['10001sat'],
      /the budget agent's total of/,
    ],
    [
      'up to the ask-above amount',
      budget({ askAbove: { BTC: '0.00001' } }),
      ['1000sat'],
      'allowed',
    ],
    [
      'above the ask-above amount',
      budget({ askAbove: { BTC: '0.00001' } }),
      ['1001sat'],
      /^owner: .* is over the budget agent's ask-above amount/,
    ],
    [
      'above the ask-above amount of what arrives',
      budget({ askAbove: { VND: '5' } }),
      ['1sat', '6vnd'],
      /^owner: /,
    ],
    [
      'to a payee',
      budget({ destinations: ['bob@example.com', 'Ada@example.com'] }),
      ['1sat'],
      'allowed',
    ],
    [
      'to another payee',
      budget({ destinations: ['bob@example.com'] }),
      ['1sat'],
      'owner: ada@example.com is not a payee of the budget agent',
    ],
    [
      'between own wallets despite its payees',
      budget({ destinations: ['bob@example.com'] }),
      ['1sat'],
      'allowed',
      swap,
    ],
    [
      'stopped, for another payee',
      budget({ destinations: ['bob@example.com'] }, { stopped: 'this' }),
      ['1sat'],
      /^the budget agent is stopped/,
    ],
  ])('%s', ([, given, amounts, expected, order]) => {
    if (typeof expected === 'string') expect(outcome(given, amounts, order)).toBe(expected);
    else expect(outcome(given, amounts, order)).toMatch(expected);
  });
});
