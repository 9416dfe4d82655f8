// Lists the settings in force and what decides each.
import { settingList } from '../../terminal/views/settings-views.js';
import { readKeys } from './config-keys.js';
import { defineCommand } from '../define.js';

export const configList = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay config list --profile acme', 'of another profile']],
  async run(_values, context) {
    await context.out.list(readKeys(context), settingList(`profile ${context.settings.profileName}`));
  },
});
