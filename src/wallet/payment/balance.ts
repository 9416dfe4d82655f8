// What a wallet can spend, and the refusal when that is not enough.
import type { Wallet } from '../../api/types.js';
import { formatAmount, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { Failure, ifAvailable } from '../../formats/failure.js';

export interface Funds {
  readonly available: Money;
  /** What pending transactions reserve. */
  readonly reserved: Money;
  /** Read before the quote was requested, so that nothing of the quote is in it. */
  readonly isBefore?: boolean;
}

/**
 * An account without a wallet in the currency has no funds. Undefined if the service does not
 * return it: the service decides.
 */
export async function readFunds(
  ccy: string,
  service: { wallets(): Promise<Wallet[]> },
): Promise<Funds | undefined> {
  const wallets = await ifAvailable(service.wallets());
  const wallet = wallets?.find((each) => each.ccy === ccy);
  if (wallets !== undefined && wallet === undefined)
    return { available: money(ccy, 0), reserved: money(ccy, 0) };
  const [available, total] = [
    moneyFromWire(ccy, wallet?.availableBalance),
    moneyFromWire(ccy, wallet?.amount),
  ];
  if (available === undefined) return undefined;
  return { available, reserved: { ccy, value: (total ?? available).value.minus(available.value) } };
}

/**
 * What could be spent before the quote; undefined if the figure may include what the quote of this
 * total reserves.
 */
export function availableBefore(funds: Funds | undefined, total: Money): Money | undefined {
  if (funds === undefined) return undefined;
  return funds.isBefore === true || funds.reserved.value.lt(total.value)
    ? funds.available
    : undefined;
}

export function notEnough(needed: Money, available: Money): Failure {
  const have = available.value.eq(0) ? `no ${needed.ccy}` : formatAmount(available);
  return new Failure(
    'limit',
    `Not sent: ${formatAmount(needed)} is needed, and you have ${have}.`,
    { next: { do: 'see-wallets' } },
  );
}
