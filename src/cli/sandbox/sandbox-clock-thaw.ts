// Lets the sandbox's clock run on.
import { defineCommand } from '../define.js';
import { controlClock } from './clock.js';

export const sandboxClockThaw = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay --sandbox sandbox clock thaw', 'it goes on from where it stands']],
  run: (_values, context) => controlClock(context, 'POST', 'clock/thaw'),
});
