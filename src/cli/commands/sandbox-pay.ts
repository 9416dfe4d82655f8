// Pays a request of the sandbox, as somebody outside would.
import * as v from 'valibot';
import { defineCommand } from '../define.js';
import { controlSandbox } from '../sandbox-control.js';
import { text } from '../values.js';

const paidSchema = v.object({ txnId: v.string(), txnState: v.string() });

export const sandboxPay = defineCommand({
  arguments: { target: text('INVOICE|ADDRESS|TXN').describe('what to pay') },
  options: {},
  examples: [['svcpay --sandbox sandbox pay lntb500u1…', 'the payment that svcpay receive waits for']],
  async run({ target }, context) {
    const paid = await controlSandbox(context, 'POST', 'pay', paidSchema, { target });
    await context.out.record(paid, {
      screen: () => [`  Paid transaction ${paid.txnId}; it is now ${paid.txnState}.`],
      columns: [
        { title: 'Transaction', value: ({ txnId }) => txnId },
        { title: 'State', value: ({ txnState }) => txnState },
      ],
      quiet: ({ txnId }) => txnId,
    });
  },
});
