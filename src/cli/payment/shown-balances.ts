// Reads the balances that svcpay shows next to an amount question.
import { moneyFromWire, type Money } from '../../formats/amount.js';
import { ifAvailable } from '../../formats/failure.js';
import type { Context } from '../context.js';

/** Returns the spendable balances that the service reports. */
async function readBalances({ account }: Context): Promise<Money[]> {
  const wallets = await (await account()).client.wallets();
  return wallets.flatMap(({ ccy, availableBalance }) => moneyFromWire(ccy, availableBalance) ?? []);
}

/**
 * Returns the balances to show with the amount question, or no balances if svcpay cannot read the
 * wallets. A failed read is harmless, because svcpay reads the wallets again for the payment.
 */
export const shownBalances = async (context: Context): Promise<Money[]> =>
  (await ifAvailable(readBalances(context))) ?? [];
