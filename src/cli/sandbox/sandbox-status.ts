// Shows what the sandbox holds: its clock, accounts and wallets, transactions, webhooks and faults.
import { statusSchema } from '../../api/sandbox-answers.js';
import { sandboxStatusView } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { controlSandbox } from './control.js';

export const sandboxStatus = defineCommand({
  examples: [
    ['svcpay sandbox status', 'the embedded sandbox'],
    ['svcpay sandbox status --json --fields clock.now', 'its time, for a script'],
  ],
  async run(_values, context) {
    const status = await controlSandbox(context, 'GET', 'status', statusSchema);
    await context.out.record(status, sandboxStatusView(status));
  },
});
