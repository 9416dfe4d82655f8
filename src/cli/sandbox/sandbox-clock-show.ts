// Shows the time of the sandbox.
import { defineCommand } from '../define.js';
import { controlClock } from './clock.js';

export const sandboxClockShow = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay --sandbox sandbox clock show', 'its time, by which quotes and invoices expire']],
  run: (_values, context) => controlClock(context, 'GET', 'clock'),
});
