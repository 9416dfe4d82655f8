// Lists the requests that the sandbox has answered, oldest first.
import { listOf, requestSchema } from '../../api/sandbox-answers.js';
import { requestList } from '../../terminal/views/sandbox-traffic-view.js';
import { defineCommand } from '../define.js';
import { controlSandbox, queryOf } from './control.js';
import { text, whole } from '../values.js';

export const sandboxLog = defineCommand({
  options: {
    method: text('METHOD').optional().describe('only requests of this method, such as PUT'),
    path: text('PATH').optional().describe('only requests of this path, with or without its query'),
    limit: whole(1, 10_000).otherwise(50).describe('how many, the newest (default 50)'),
  },
  examples: [
    ['svcpay sandbox log --method PUT', 'what was confirmed'],
    ['svcpay sandbox log -o jsonl --limit 1000', 'with the bodies of requests and answers'],
  ],
  async run(filter, context) {
    const { data } = await controlSandbox(context, 'GET', `log${queryOf(filter)}`, listOf(requestSchema));
    await context.out.list(data, requestList);
  },
});
