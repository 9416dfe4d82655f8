// Takes the sandbox back to its first state; its credentials stay.
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { defineCommand } from '../define.js';
import { controlSandbox } from './control.js';
import { seeds } from './server.js';
import { choice } from '../values.js';

export const sandboxReset = defineCommand({
  fields: [],
  options: {
    seed: choice(seeds, 'SEED').optional().describe(`begin with ${seeds.join(', ')} (default: as before)`),
  },
  examples: [
    ['svcpay sandbox reset --yes', 'a fresh sandbox'],
    ['svcpay sandbox reset --seed history --yes', 'with a month of transactions'],
  ],
  async run({ seed }, context) {
    const yes = await context.ask.confirm('Forget all transactions of the sandbox?');
    if (!yes) throw new Failure('declined', 'The sandbox stays as it is.');
    if (seed === undefined) await controlSandbox(context, 'POST', 'reset', v.unknown());
    else await controlSandbox(context, 'POST', 'seed', v.unknown(), { seed });
    context.out.say('The sandbox is fresh again.');
    context.out.did({ reset: true });
  },
});
