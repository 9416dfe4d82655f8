// Follows transactions until each is final. Exit code 6 when one of them ended without completing.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { stepsLine } from '../../terminal/steps.js';
import { transactionList } from '../../terminal/transaction-view.js';
import { waitUntilFinal } from '../../wallet/wait.js';
import { defineCommand } from '../define.js';
import { duration, text } from '../values.js';

export const txWatch = defineCommand({
  arguments: { ids: text('ID').repeated().describe('transaction ids') },
  options: { waitTimeout: duration().optional().describe('longest wait') },
  examples: [['svcpay tx watch ID -o jsonl', 'a line for every change of state']],
  async run({ ids, waitTimeout }, context) {
    const { live, out, now, terminal } = context;
    const service = await context.client();
    const latest = new Map<string, Transaction>();
    for (const id of new Set(ids)) latest.set(id, await service.transaction(id));
    const observe = (txn: Transaction): void => {
      latest.set(txn.txnId, txn);
      out.change(txn);
      live.update();
    };
    [...latest.values()].forEach(observe);
    const open = (): Transaction[] => [...latest.values()].filter((txn) => txn.txnState !== 'completed');
    live.start(() => {
      const [first] = open();
      const others = open().length > 1 ? `   and ${open().length - 1} more` : '';
      return first === undefined ? 'Done' : `${stepsLine(first, terminal.stderrCanvas)}   ${first.txnId}${others}`;
    });
    try {
      const until = waitTimeout === undefined ? undefined : now() + waitTimeout;
      const ended = await Promise.all(
        [...latest.values()].map((txn) => waitUntilFinal(txn, { until, onChange: observe }, { ...context, service })),
      );
      live.stop();
      const view = transactionList(service.serviceNow());
      if (out.format !== 'jsonl') await (ended.length === 1 && ended[0] ? out.record(ended[0], { ...view, screen: () => [] }) : out.list(ended, view));
      failIfUnpaid(ended);
    } finally {
      live.stop();
    }
  },
});

function failIfUnpaid(ended: readonly Transaction[]): void {
  const [unpaid] = ended.filter(({ txnState }) => txnState !== 'completed');
  if (unpaid === undefined) return;
  throw new Failure('payment-failed', `Transaction ${unpaid.txnId} ended as ${unpaid.txnState}.`, {
    hint: `svcpay tx get ${unpaid.txnId}`,
    txnId: unpaid.txnId,
  });
}
