// Forgets the token and the secret of a profile; the profile itself stays, so that logging in again asks for less.
import { changeProfile } from '../../store/profile/profiles.js';
import { credentialName } from '../../store/profile/tokens.js';
import { defineCommand } from '../define.js';

export const logout = defineCommand({
  fields: [],
  examples: [
    ['svcpay logout', 'asks first'],
    ['svcpay logout --profile acme --yes', 'forget the secrets of one profile, in a script'],
  ],
  async run(_values, { settings, secrets, tokens, config, out, ask }) {
    await ask.agree(`Log out of profile ${settings.profileName}, and forget its token and its secret?`, 'Nothing was forgotten.');
    await tokens()?.clear();
    const { baseUrl, apiKey } = settings.profile;
    if (baseUrl !== undefined && apiKey !== undefined) await secrets.remove(credentialName(baseUrl, apiKey));
    await changeProfile(config, settings.profileName, ({ sandbox: _sandbox, ...kept }) => kept);
    out.say(`Logged out of profile ${settings.profileName}.`);
    out.did({ profile: settings.profileName, loggedOut: true });
  },
});
