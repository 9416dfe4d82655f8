// Lists the requests that the sandbox has answered, oldest first, and the sandbox's webhook
// deliveries.
import {
  deliveryAnswer,
  deliveryStatuses,
  listOf,
  requestAnswer,
} from '../../formats/sandbox/answers.js';
import { deliveryList, requestList } from '../../terminal/views/sandbox-traffic-view.js';
import { namesOf } from '../../terminal/rows/list.js';
import { defineCommand } from '../define.js';
import { resolveId } from '../tx/resolve-id.js';
import { choice, text, transaction, whole } from '../values.js';
import { controlSandbox, queryOf } from './control.js';

export const sandboxLog = defineCommand({
  prints: namesOf(undefined, requestList),
  options: {
    method: text('METHOD').optional().describe('only requests of this method, such as PUT'),
    path: text('PATH').optional().describe('only requests to this path, whatever the query'),
    limit: whole(1, 10_000)
      .otherwise(50)
      .describe('show this many of the latest rows (default 50)'),
  },
  examples: [
    ['svcpay sandbox log --method PUT', 'shows the confirmations'],
    ['svcpay sandbox log -o jsonl --limit 1000', 'includes the bodies of requests and responses'],
  ],
  async run(filter, context) {
    const { data } = await controlSandbox(
      context,
      'GET',
      `log${queryOf(filter)}`,
      listOf(requestAnswer),
    );
    await context.out.list(data, requestList);
  },
});

export const sandboxDeliveries = defineCommand({
  prints: namesOf(undefined, deliveryList),
  options: {
    txn: transaction().optional().describe('only deliveries of this transaction'),
    status: choice(deliveryStatuses, 'STATUS')
      .optional()
      .describe(`only deliveries with this status: ${deliveryStatuses.join(', ')}`),
    limit: whole(1, 1000).otherwise(50).describe('show this many of the latest rows (default 50)'),
    replay: whole(1, 999_999_999, 'ID').optional().describe('deliver this event again'),
  },
  examples: [
    ['svcpay sandbox deliveries', 'lists each event with its last response'],
    ['svcpay sandbox deliveries --replay 7', 'delivers event 7 again'],
  ],
  async run({ txn, status, limit, replay }, context) {
    if (replay !== undefined) {
      const again = await controlSandbox(
        context,
        'POST',
        `deliveries/${replay}/replay`,
        deliveryAnswer,
      );
      return context.out.list([again], deliveryList);
    }
    const txnId = txn === undefined ? undefined : await resolveId(txn, context);
    const path = `deliveries${queryOf({ txnId, status, limit })}`;
    const { data } = await controlSandbox(context, 'GET', path, listOf(deliveryAnswer));
    await context.out.list(data, deliveryList);
  },
});
