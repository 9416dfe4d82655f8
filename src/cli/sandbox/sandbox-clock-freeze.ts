// Lets the sandbox's clock stand still.
import { defineCommand } from '../define.js';
import { controlClock } from './clock.js';

export const sandboxClockFreeze = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay --sandbox sandbox clock freeze', 'nothing settles or expires until it is moved']],
  run: (_values, context) => controlClock(context, 'POST', 'clock/freeze'),
});
