// Lists the payments that were begun here and are not over, as the service has them now.
import { pendingList } from '../../terminal/views/intent-view.js';
import { stateWord } from '../../terminal/views/state-words.js';
import { movedText } from '../../terminal/views/transaction-view.js';
import { defineCommand } from '../define.js';
import { asOfText, pendingPayment, refreshOpen } from './open-payments.js';

export const txPending = defineCommand({
  examples: [
    ['svcpay tx pending', 'what is open'],
    ['svcpay tx pending --json', 'the same for a script: an empty array when nothing is'],
  ],
  async run(_values, context) {
    const { out } = context;
    const refreshed = await refreshOpen(context);
    for (const txn of refreshed.ended) out.say(`  ${stateWord(txn)}: ${movedText(txn)}   svcpay tx get ${txn.txnId}`);
    const footer = `${asOfText(refreshed)} · svcpay tx resume finishes or reports each of them`;
    if (refreshed.failure !== undefined && !out.forPeople) out.warn(asOfText(refreshed));
    await out.list(
      refreshed.open.map((payment) => pendingPayment(payment, refreshed.asOf)),
      pendingList(context.now(), footer),
    );
  },
});
