// Forgets the token and the secret of a profile; the profile itself stays, so that logging in again asks for less.
import { changeProfile } from '../../store/profile/profiles.js';
import { credentialName } from '../../store/profile/tokens.js';
import { defineCommand } from '../define.js';

export const logout = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay logout --profile acme', 'forget the secrets of one profile']],
  async run(_values, { settings, secrets, tokens, config, out }) {
    await tokens()?.clear();
    const { baseUrl, apiKey } = settings.profile;
    if (baseUrl !== undefined && apiKey !== undefined) await secrets.remove(credentialName(baseUrl, apiKey));
    await changeProfile(config, settings.profileName, ({ sandbox: _sandbox, ...kept }) => kept);
    out.say(`Logged out of profile ${settings.profileName}.`);
  },
});
