// Prints where the settings are kept.
import { pathView } from '../../terminal/views/settings-views.js';
import { defineCommand } from '../define.js';

export const configPath = defineCommand({
  arguments: {},
  options: {},
  examples: [['cat "$(svcpay config path)"', 'the file itself; secrets are not in it']],
  async run(_values, { config, out }) {
    await out.record({ path: config.path }, pathView(config.path));
  },
});
