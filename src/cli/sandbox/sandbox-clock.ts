// Shows, advances, freezes and thaws the sandbox's clock.
import { clockAnswer, fieldNames } from '../../formats/sandbox/answers.js';
import { clockView } from '../../terminal/views/sandbox-view.js';
import type { Context } from '../context.js';
import { controlSandbox } from './control.js';
import { defineCommand } from '../define.js';
import { duration } from '../values.js';

const clockFields = fieldNames(clockAnswer);

async function controlClock(
  context: Context,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<void> {
  const clock = await controlSandbox(context, method, path, clockAnswer, body);
  await context.out.record(clock, clockView(clock));
}

export const sandboxClockShow = defineCommand({
  fields: clockFields,
  examples: [
    [
      'svcpay sandbox clock show',
      'shows the time of the sandbox, which decides when quotes and invoices expire',
    ],
  ],
  run: (_values, context) => controlClock(context, 'GET', 'clock'),
});

export const sandboxClockAdvance = defineCommand({
  fields: clockFields,
  arguments: { by: duration().describe('time to advance, e.g. 90s, 2h or 1d') },
  examples: [
    [
      'svcpay sandbox clock advance 2h',
      'lets invoices expire, confirmations arrive and webhooks retry',
    ],
  ],
  run: ({ by }, context) => controlClock(context, 'POST', 'clock/advance', { by }),
});

export const sandboxClockFreeze = defineCommand({
  fields: clockFields,
  examples: [['svcpay sandbox clock freeze', 'stops the clock, so nothing settles or expires']],
  run: (_values, context) => controlClock(context, 'POST', 'clock/freeze'),
});

export const sandboxClockThaw = defineCommand({
  fields: clockFields,
  examples: [['svcpay sandbox clock thaw', 'lets the clock continue from its current time']],
  run: (_values, context) => controlClock(context, 'POST', 'clock/thaw'),
});
