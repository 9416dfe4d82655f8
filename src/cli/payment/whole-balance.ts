// Reads the balances shown next to an amount question, and the balance for the amount `all`.
import { money, moneyFromWire, type Money } from '../../formats/amount.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import { wholeOf } from '../../wallet/plan/spend-all.js';
import type { Context } from '../context.js';
import { paymentNamed } from '../tx/resolve-id.js';

/**
 * Returns the amount for `all`, which is the balance of the wallet. If the reference already has a
 * payment, the amount for `all` is that payment's amount, because the payment has changed the
 * balance. Throws Failure `limit` for a missing or empty wallet.
 */
export async function wholeBalance(
  ccy: string,
  ref: string | undefined,
  context: Context,
): Promise<Money> {
  const earlier = ref === undefined ? undefined : await debitUnder(ref, context);
  if (earlier?.ccy === ccy) return earlier;
  const held = (await readBalances(context)).find((each) => each.ccy === ccy);
  if (held !== undefined) return wholeOf(held);
  throw new Failure('limit', `Not sent: you have no ${ccy} wallet.`, {
    next: { do: 'see-wallets' },
  });
}

/**
 * Returns the amount that the order of the payment `ref` requests: either the amount to debit or
 * the amount to receive.
 */
async function debitUnder(ref: string, context: Context): Promise<Money | undefined> {
  const { scope, journal } = await context.account();
  const payment = await paymentNamed(ref, scope, await journal());
  if (payment === undefined) return undefined;
  const { sourceReq, destReq } = decodeOrder(payment.request).body;
  const { ccy, amtRequested } = sourceReq.amtRequested === undefined ? destReq : sourceReq;
  return amtRequested === undefined ? undefined : money(ccy, amtRequested);
}

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
