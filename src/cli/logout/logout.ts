// Logs out of a profile.
import { changeProfile, profilesSharing } from '../../store/profile/profiles.js';
import { credentialName } from '../../store/profile/settings.js';
import { defineCommand, done } from '../define.js';

/**
 * Logs out. Logging out keeps the profile, so that the next login asks fewer questions. Profiles
 * with the same API key share the secret, so svcpay logs them out too.
 */
export const logout = defineCommand({
  examples: [
    ['svcpay logout', 'asks for confirmation, then deletes the token and the secret'],
    [
      'svcpay logout --profile acme --yes',
      'deletes the token and the secret of the profile acme, in a script',
    ],
  ],
  changes: true,
  async run(_inputs, { settings, secrets, tokens, config, out, ask }) {
    const others = profilesSharing(settings.profileName, config.read());
    await ask.agree(
      `Log out of profile ${settings.profileName}, and delete its token and secret?` +
        (others.length === 0 ? '' : ` This also logs out ${others.join(', ')} (same API key).`),
      'Nothing was deleted',
    );
    if (!settings.embedded) await (await tokens())?.clear();
    const { baseUrl, apiKey } = settings.profile;
    if (baseUrl !== undefined && apiKey !== undefined)
      await secrets.remove(credentialName(baseUrl, apiKey));
    await changeProfile(config, settings.profileName, ({ sandbox: _sandbox, ...kept }) => kept);
    out.say(`Logged out of profile ${[settings.profileName, ...others].join(', ')}.`);
    return { profile: settings.profileName, loggedOut: true };
  },
  view: done,
});
