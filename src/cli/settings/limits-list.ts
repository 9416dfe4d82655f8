// Shows the local spending policy of the profile.
import { defineCommand } from '../define.js';
import { showLimits } from './limits-flow.js';

export const limitsList = defineCommand({
  arguments: {},
  options: {},
  examples: [
    ['svcpay limits list', 'every limit, and what of it is used'],
    ['svcpay limits list --json', 'for a script'],
  ],
  async run(_values, context) {
    await showLimits(context);
  },
});
