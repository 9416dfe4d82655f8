// What a wallet can spend, and the refusal when it is not enough.
import type { Wallet } from '../../api/types.js';
import { formatAmount, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { Failure, ifTold } from '../../formats/failure.js';

/**
 * What a wallet can spend in one currency: nothing where the account has no such wallet. Undefined where the service does
 * not tell: it decides about the funds itself.
 */
export async function availableIn(ccy: string, service: { wallets(): Promise<Wallet[]> }): Promise<Money | undefined> {
  const wallets = await ifTold(service.wallets());
  const wallet = wallets?.find((each) => each.ccy === ccy);
  return wallets !== undefined && wallet === undefined ? money(ccy, 0) : moneyFromWire(ccy, wallet?.availableBalance);
}

export function notEnough(needed: Money, available: Money): Failure {
  const have = available.value.eq(0) ? `no ${needed.ccy}` : formatAmount(available);
  return new Failure('limit', `Not sent: ${formatAmount(needed)} is needed, and you have ${have}.`, {
    next: { do: 'see-wallets' },
  });
}
