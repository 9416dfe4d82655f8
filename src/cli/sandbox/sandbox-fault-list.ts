// Lists the faults of the sandbox and how often each has struck.
import { faultList } from '../../terminal/views/sandbox-traffic-view.js';
import { defineCommand } from '../define.js';
import { faultSchema, listOf } from './control-answers.js';
import { controlSandbox } from './control.js';

export const sandboxFaultList = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay --sandbox sandbox fault list', 'what is set to go wrong, and how often it has']],
  async run(_values, context) {
    const { data } = await controlSandbox(context, 'GET', 'faults', listOf(faultSchema));
    await context.out.list(data, faultList);
  },
});
