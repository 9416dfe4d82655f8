// Lists the profiles: which services and accounts are set up.
import { profileList } from '../../terminal/views/settings-views.js';
import { defineCommand } from '../define.js';

export const profilesList = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay profiles list -q', 'the names alone']],
  async run(_values, { config, settings, out }) {
    const rows = Object.entries(config.read().profiles).map(([name, { baseUrl, sandbox, account, network }]) => ({
      name,
      current: name === settings.profileName,
      baseUrl: baseUrl ?? null,
      sandbox: sandbox === true,
      account: account ?? null,
      network: network ?? null,
    }));
    await out.list(rows.toSorted((a, b) => a.name.localeCompare(b.name)), profileList);
  },
});
