// The open payments of the chosen service and account, as the journal has them.
import type { Intent } from '../../store/journal/journal.js';
import type { PendingPayment } from '../../terminal/views/intent-view.js';
import { knownAmounts } from '../../wallet/limits/limits.js';
import { decodeOrder } from '../../wallet/payment/order-record.js';
import type { Context } from '../context.js';
import { journalScope } from '../payment/payment-flow.js';

/** Oldest first. */
export async function openIntents(context: Context): Promise<readonly Intent[]> {
  const journal = await context.journal();
  return journal.open(await journalScope(context));
}

export function pendingPayment(intent: Intent): PendingPayment {
  const { ref, kind, step, consent, txnId, txnState, attempt, openedAt, updatedAt } = intent;
  const order = decodeOrder(intent.request);
  const [amount] = knownAmounts(order).toReversed();
  const { destination } = order;
  const asked = { ccy: amount?.ccy ?? null, amount: amount?.value ?? null };
  return { ref, kind, destination, ...asked, step, agreed: consent !== 'none', txnId, txnState, attempt, openedAt, updatedAt };
}
