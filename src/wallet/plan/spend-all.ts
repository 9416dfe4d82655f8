// Plans the amount `all`: the whole balance leaves the wallet, including fees. Pure.
import Big from 'big.js';
import { decimalsOf, formatAmount, money, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { Order } from '../order/orders.js';

export const isAll = (amount: string | undefined): boolean =>
  amount?.trim().toLowerCase() === 'all';

/**
 * Rounds the balance down to the currency's smallest unit. Throws Failure `limit` if the result is
 * zero.
 */
export function wholeOf({ ccy, value }: Money): Money {
  const whole = value.round(decimalsOf(ccy), Big.roundDown);
  if (whole.gt(0)) return { ccy, value: whole };
  throw new Failure('limit', `Not sent: your ${ccy} wallet is empty.`, {
    next: { do: 'see-wallets' },
  });
}

/** Throws Failure `usage` for an amount above the balance that svcpay shows on the screen. */
export function checkHeld({ ccy, value }: Money, held: Money | undefined): void {
  if (held === undefined || held.ccy !== ccy || held.value.gte(value)) return;
  throw new Failure('usage', `You have ${formatAmount(held)}. Write less, or all.`);
}

/** Refuses an order whose stated debit exceeds the balance that svcpay shows on the screen. */
export function checkWithin({ body }: Order, balances: readonly Money[]): void {
  const { sourceReq, destReq } = body;
  const [side] = [sourceReq, destReq].filter(
    ({ ccy, amtRequested }) => ccy === sourceReq.ccy && amtRequested !== undefined,
  );
  if (side?.amtRequested === undefined) return;
  const held = balances.find(({ ccy }) => ccy === side.ccy);
  checkHeld(money(side.ccy, side.amtRequested), held);
}
