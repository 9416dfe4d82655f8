// Takes faults of the sandbox back: one, or all.
import { faultList } from '../../terminal/views/sandbox-traffic-view.js';
import { defineCommand } from '../define.js';
import { faultSchema, listOf } from './control-answers.js';
import { controlSandbox } from './control.js';
import { whole } from '../values.js';

export const sandboxFaultClear = defineCommand({
  arguments: { id: whole(1, 999_999_999, 'ID').optional().describe('one of them; all unless given') },
  options: {},
  examples: [['svcpay --sandbox sandbox fault clear', 'everything goes well again']],
  async run({ id }, context) {
    const path = id === undefined ? 'faults' : `faults/${id}`;
    const { data } = await controlSandbox(context, 'DELETE', path, listOf(faultSchema));
    await context.out.list(data, faultList);
  },
});
