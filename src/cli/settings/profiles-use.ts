// Makes a profile the one that is used when nothing says otherwise.
import { findProfile } from '../../store/profile/profiles.js';
import { defineCommand } from '../define.js';
import { text } from '../values.js';

export const profilesUse = defineCommand({
  fields: [],
  arguments: { name: text('NAME').suggesting('profile').describe('as svcpay profiles list shows it') },
  options: {},
  examples: [['svcpay profiles use acme', 'from now on']],
  async run({ name }, { config, out, env }) {
    await config.update((before) => {
      findProfile(before, name);
      return { ...before, current: name };
    });
    out.say(`Profile ${name} is used from now on.`);
    out.did({ name, current: true });
    if ((env['SVCPAY_PROFILE'] ?? '') !== '') out.warn('SVCPAY_PROFILE goes before it.');
  },
});
