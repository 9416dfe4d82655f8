// The local spending policy: per payment, per day, and which destinations. Pure: figures in, a refusal or nothing out.
import Big from 'big.js';
import { formatAmount, money, type Money } from '../formats/amount.js';
import { Failure } from '../formats/failure.js';
import type { Spend } from '../store/journal.js';
import type { Limits } from '../store/profiles.js';

/** A limit per day counts what was let go in this time before now. */
export const limitWindowMs = 86_400_000;

/** Throws Failure `limit` when a destination is not among those that are allowed; no list allows all. */
export function checkDestination({ destinations }: Limits, destination: string): void {
  if (destinations.length === 0 || destinations.some((each) => each.toLowerCase() === destination.toLowerCase())) return;
  throw new Failure('limit', `Not sent: ${destination} is not among the destinations that your limits allow.`, {
    hint: `svcpay limits allow ${destination}`,
  });
}

/** Throws Failure `limit` when this payment, or it and all of the last day together, is above a limit. */
export function checkSpend(limits: Limits, total: Money, spent: readonly Spend[]): void {
  const perPayment = limits.perPayment[total.ccy];
  if (perPayment !== undefined && total.value.gt(perPayment)) {
    throw over(total, `your limit per payment is ${formatAmount(money(total.ccy, perPayment))}`);
  }
  const perDay = limits.perDay[total.ccy];
  if (perDay === undefined) return;
  const before = spent
    .filter((each) => each.ccy === total.ccy)
    .reduce((sum, each) => sum.plus(each.total), new Big(0));
  if (before.plus(total.value).lte(perDay)) return;
  const used = formatAmount({ ccy: total.ccy, value: before });
  throw over(total, `your limit per day is ${formatAmount(money(total.ccy, perDay))}, of which ${used} is used`);
}

function over(total: Money, rule: string): Failure {
  return new Failure('limit', `Not sent: ${formatAmount(total)} is too much, ${rule}.`, { hint: 'svcpay limits list' });
}
