// Lists the payments that were begun here and are not over.
import { pendingList } from '../../terminal/views/intent-view.js';
import { defineCommand } from '../define.js';
import { openIntents, pendingPayment } from './open-payments.js';

export const txPending = defineCommand({
  arguments: {},
  options: {},
  examples: [
    ['svcpay tx pending', 'what is open'],
    ['svcpay tx pending --json', 'the same for a script: an empty array when nothing is'],
  ],
  async run(_values, context) {
    const intents = await openIntents(context);
    await context.out.list(intents.map(pendingPayment), pendingList(context.now()));
  },
});
