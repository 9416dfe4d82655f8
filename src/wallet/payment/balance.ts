// What a wallet can spend, and the refusal when it is not enough.
import type { Wallet } from '../../api/types.js';
import { formatAmount, moneyFromWire, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';

/** What a wallet can spend in one currency; undefined when the account has no such wallet, or its balance is not told. */
export async function availableIn(ccy: string, service: { wallets(): Promise<Wallet[]> }): Promise<Money | undefined> {
  const wallet = (await service.wallets()).find((each) => each.ccy === ccy);
  return moneyFromWire(ccy, wallet?.availableBalance);
}

export function notEnough(needed: Money, available: Money | undefined): Failure {
  const have = available === undefined ? `no ${needed.ccy} wallet` : formatAmount(available);
  return new Failure('limit', `Not sent: ${formatAmount(needed)} is needed, and you have ${have}.`, {
    hint: 'svcpay wallets',
  });
}
