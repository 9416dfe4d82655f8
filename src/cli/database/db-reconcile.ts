// After a restore from a back-up: enters what was paid since, so that references, invoices and limits count it again.
import { reconciledView } from '../../terminal/views/database-view.js';
import { reconcile } from '../../wallet/history/reconcile.js';
import { defineCommand } from '../define.js';
import { beginningOf, instant } from '../history/history-options.js';
import { lookAt, openIntents } from '../history/open-payments.js';

export const dbReconcile = defineCommand({
  options: { since: instant().describe('when the back-up was made, or before: 36h, 2026-03-01 (default: all of history)') },
  examples: [
    ['svcpay db reconcile --since 36h', 'after a restore, before anything is paid; nothing is paid by it'],
    ['svcpay db reconcile --json', 'after the journal was lost; may be interrupted and run again'],
  ],
  fields: ['read', 'entered', 'open'],
  async run({ since }, context) {
    const { live, out, terminal, now, newId } = context;
    const { client: service, id: account, scope, ...own } = await context.account();
    const journal = await own.journal();
    const onRead = (count: number): void => {
      if (terminal.canAnimate) live.start(() => `Comparing the journal with the history: ${count} transactions`);
    };
    try {
      const from = await beginningOf(since, service);
      const { uncounted, ...counts } = await reconcile(from, { service, journal, scope, account, now, newId, onRead });
      for (const intent of await openIntents(context)) if (intent.txnId !== null) await lookAt(intent, context);
      const open = (await openIntents(context)).length;
      live.stop();
      for (const txnId of uncounted) out.warn(`The service does not say what ${txnId} cost: limits do not count it.`);
      await out.record({ ...counts, open }, reconciledView({ ...counts, open }));
    } finally {
      live.stop();
    }
  },
});
