// Moves the sandbox's clock forward; everything that becomes due on the way is done.
import { defineCommand } from '../define.js';
import { controlClock } from './clock.js';
import { duration } from '../values.js';

export const sandboxClockAdvance = defineCommand({
  arguments: { by: duration().describe('as in 90s, 2h or 1d') },
  options: {},
  examples: [
    ['svcpay --sandbox sandbox clock advance 2h', 'invoices expire, confirmations come in, webhooks are tried again'],
  ],
  run: ({ by }, context) => controlClock(context, 'POST', 'clock/advance', { by }),
});
