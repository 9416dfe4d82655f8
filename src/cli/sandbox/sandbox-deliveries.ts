// Lists what the sandbox has delivered to webhooks, or will, with every attempt.
import { deliverySchema, listOf } from '../../api/sandbox-answers.js';
import { deliveryList } from '../../terminal/views/sandbox-traffic-view.js';
import { defineCommand } from '../define.js';
import { transactionId } from '../history/seen.js';
import { controlSandbox, queryOf } from './control.js';
import { choice, transaction, whole } from '../values.js';

const statuses = ['scheduled', 'sending', 'delivered', 'failed', 'canceled'] as const;

export const sandboxDeliveries = defineCommand({
  options: {
    txn: transaction().optional().describe('only those of this transaction'),
    status: choice(statuses, 'STATUS').optional().describe(`only those that are ${statuses.join(', ')}`),
    limit: whole(1, 1000).otherwise(50).describe('how many, the newest (default 50)'),
    replay: whole(1, 999_999_999, 'ID').optional().describe('deliver this one once more'),
  },
  examples: [
    ['svcpay sandbox deliveries', 'each event with its last answer'],
    ['svcpay sandbox deliveries --replay 7', 'post number 7 once more'],
  ],
  async run({ txn, status, limit, replay }, context) {
    if (replay !== undefined) {
      const again = await controlSandbox(context, 'POST', `deliveries/${replay}/replay`, deliverySchema);
      return context.out.list([again], deliveryList);
    }
    const txnId = txn === undefined ? undefined : await transactionId(txn, context);
    const path = `deliveries${queryOf({ txnId, status, limit })}`;
    const { data } = await controlSandbox(context, 'GET', path, listOf(deliverySchema));
    await context.out.list(data, deliveryList);
  },
});
