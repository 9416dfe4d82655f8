// Determines the amount of `all`: the whole balance leaves the wallet, including fees. Pure.
import Big from 'big.js';
import type { Wallet } from '../../api/types.js';
import { decimalsOf, formatAmount, moneyFromWire, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { exactAmount, type Instruction } from './instruction.js';

export const isAll = (amount: string | undefined): boolean =>
  amount?.trim().toLowerCase() === 'all';

/**
 * Returns the balance of a wallet, rounded down to the currency's smallest unit. Throws Failure
 * `limit` for a missing or empty wallet.
 */
export function wholeOf(ccy: string, wallets: readonly Wallet[]): Money {
  const held = moneyFromWire(ccy, wallets.find((each) => each.ccy === ccy)?.availableBalance);
  if (held === undefined) throw nothingIn(`you have no ${ccy} wallet.`);
  const whole = held.value.round(decimalsOf(ccy), Big.roundDown);
  if (whole.gt(0)) return { ccy, value: whole };
  throw nothingIn(`your ${ccy} wallet is empty.`);
}

const nothingIn = (why: string): Failure =>
  new Failure('limit', why, { money: 'Not sent', next: { do: 'see-wallets' } });

/** Throws Failure `usage` for an amount above the balance that svcpay shows on the screen. */
export function checkHeld({ ccy, value }: Money, held: Money | undefined): void {
  if (held === undefined || held.ccy !== ccy || held.value.gte(value)) return;
  throw new Failure('usage', `You have ${formatAmount(held)}. Write less, or all.`);
}

/** Refuses an amount that exceeds the balance of the paying wallet, as shown on the screen. */
export function checkWithin(instruction: Instruction, balances: readonly Money[]): void {
  const asked = exactAmount(instruction);
  if (asked === undefined || asked.ccy !== instruction.from) return;
  checkHeld(
    asked,
    balances.find(({ ccy }) => ccy === asked.ccy),
  );
}
