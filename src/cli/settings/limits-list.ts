// Shows the local spending policy of the profile.
import { limitFields } from '../../terminal/views/limits-view.js';
import { defineCommand } from '../define.js';
import { showLimits } from './limits-flow.js';

export const limitsList = defineCommand({
  fields: limitFields,
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
