// Finds blocks on every blockchain of the sandbox: transfers that wait for confirmations get them.
import * as v from 'valibot';
import { minedList } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { listOf } from './control-answers.js';
import { controlSandbox } from './control.js';
import { whole } from '../values.js';

const transferSchema = v.looseObject({
  id: v.string(),
  chain: v.string(),
  confirmations: v.number(),
  needed: v.number(),
});

export const sandboxMine = defineCommand({
  fields: ['id', 'chain', 'confirmations', 'needed'],
  arguments: { blocks: whole(1, 1000).otherwise(1).describe('how many blocks (default 1)') },
  options: {},
  examples: [['svcpay sandbox mine 6', 'enough for any on-chain payment to be final']],
  async run({ blocks }, context) {
    const { data } = await controlSandbox(context, 'POST', 'mine', listOf(transferSchema), { n: blocks });
    await context.out.list(data, minedList);
  },
});
