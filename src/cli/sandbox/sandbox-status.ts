// Shows what the sandbox holds: its clock, accounts and wallets, transactions, webhooks and faults.
import * as v from 'valibot';
import { sandboxStatusView } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { clockSchema } from './control-answers.js';
import { controlSandbox } from './control.js';

const counts = v.record(v.string(), v.number());

const statusSchema = v.looseObject({
  baseUrl: v.string(),
  accountId: v.string(),
  clock: clockSchema,
  autoPay: v.union([v.number(), v.literal('off')]),
  accounts: v.array(v.looseObject({
    accountId: v.string(),
    accountDisplayName: v.string(),
    wallets: v.array(v.looseObject({ ccy: v.string(), amount: v.number(), availableBalance: v.number() })),
  })),
  transactions: counts,
  faults: v.number(),
  deliveries: counts,
  due: v.number(),
});

export const sandboxStatus = defineCommand({
  arguments: {},
  options: {},
  examples: [
    ['svcpay sandbox status', 'the embedded sandbox'],
    ['svcpay sandbox status --json --fields clock.now', 'its time, for a script'],
  ],
  async run(_values, context) {
    const status = await controlSandbox(context, 'GET', 'status', statusSchema);
    await context.out.record(status, sandboxStatusView(status));
  },
});
