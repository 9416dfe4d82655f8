// Finds blocks on every blockchain of the sandbox: transfers that wait for confirmations get them.
import { listOf, transferSchema } from '../../api/sandbox-answers.js';
import { minedList } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { controlSandbox } from './control.js';
import { whole } from '../values.js';

export const sandboxMine = defineCommand({
  fields: ['id', 'chain', 'confirmations', 'needed'],
  arguments: { blocks: whole(1, 1000).otherwise(1).describe('how many blocks (default 1)') },
  examples: [['svcpay sandbox mine 6', 'enough for any on-chain payment to be final']],
  async run({ blocks }, context) {
    const { data } = await controlSandbox(context, 'POST', 'mine', listOf(transferSchema), { n: blocks });
    await context.out.list(data, minedList);
  },
});
