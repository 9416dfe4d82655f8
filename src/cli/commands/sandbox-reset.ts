// Takes the sandbox back to its first state; its credentials stay.
import * as v from 'valibot';
import { defineCommand } from '../define.js';
import { controlSandbox } from '../sandbox-control.js';

export const sandboxReset = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay --sandbox sandbox reset --yes', 'a fresh sandbox']],
  async run(_values, { ask, out, ...context }) {
    if (!(await ask.confirm('Forget all transactions of the sandbox?'))) return;
    await controlSandbox({ ask, out, ...context }, 'POST', 'reset', v.unknown());
    out.say('The sandbox is fresh again.');
  },
});
