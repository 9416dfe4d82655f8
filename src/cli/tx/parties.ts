// Looks up the recipients of this home's payments in the journal.
import type { ListedTransaction } from '../../api/types.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { latest, type Payment } from '../../store/journal/payment.js';
import { shortened } from '../../formats/text.js';
import type { RecipientOf } from '../../terminal/views/transaction-view.js';
import { instructionOf } from '../../wallet/instruction/instruction.js';
import { payeeOf } from '../../wallet/payout/payee.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import type { Context } from '../context.js';

/** Returns a function that finds the recipients of the sends among the given transactions. */
export const recipientsOf = (
  transactions: readonly ListedTransaction[],
  context: Context,
): Promise<RecipientOf> =>
  partiesOf(
    transactions.flatMap(({ txnId, sourceReq }) =>
      sourceReq.method === 'servicepay' ? txnId : [],
    ),
    context,
  );

/**
 * Looks up the recipients of transactions. Returns no recipients if svcpay cannot read the journal.
 */
export async function partiesOf(txnIds: readonly string[], context: Context): Promise<RecipientOf> {
  if (txnIds.length === 0) return () => undefined;
  try {
    const { scope, ...account } = await context.account();
    const journal = await account.journal();
    const parties = new Map<string, string>();
    for (const txnId of txnIds) {
      const payment = await journal.find(scope, txnId);
      if (payment !== undefined) parties.set(txnId, partyOf(payment));
    }
    return (txnId) => parties.get(txnId);
  } catch {
    return () => undefined;
  }
}

/**
 * Describes the recipient in words: the name in the address book or on the account, the invoice's
 * description, or the destination.
 */
export function partyOf(payment: Payment): string {
  const { verb, to, name, payout } = instructionOf(payment);
  if (verb === 'swap') return `${to} wallet`;
  if (name !== undefined) return name;
  const { body, destination } = decodeOrder(latest(payment).request);
  const { paymentRequest } = body.destReq.reqDetails ?? {};
  if (payout !== undefined) return payeeOf(payout).name || shortened(destination);
  if (typeof paymentRequest !== 'string') return shortened(destination);
  return decodeInvoice(paymentRequest).description || shortened(destination);
}
