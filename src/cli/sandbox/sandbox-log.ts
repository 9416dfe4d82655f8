// Lists the requests that the sandbox has answered, oldest first.
import * as v from 'valibot';
import { requestList } from '../../terminal/views/sandbox-traffic-view.js';
import { defineCommand } from '../define.js';
import { listOf, queryOf } from './control-answers.js';
import { controlSandbox } from './control.js';
import { text, whole } from '../values.js';

const requestSchema = v.looseObject({
  at: v.number(),
  method: v.string(),
  path: v.string(),
  status: v.number(),
  fault: v.nullable(v.string()),
});

export const sandboxLog = defineCommand({
  arguments: {},
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
