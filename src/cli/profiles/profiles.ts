// Lists, selects and removes profiles.
import { findProfile, profilesSharing } from '../../store/profile/profiles.js';
import { credentialName, openTokens } from '../../store/profile/settings.js';
import { profileList } from '../../terminal/views/settings-views.js';
import { defineCommand, type Deps, done, list } from '../define.js';
import { text } from '../values.js';

const name = text('NAME')
  .suggesting('profile')
  .describe('profile name, as shown by svcpay profiles list');

export const profilesList = defineCommand({
  examples: [['svcpay profiles list -q', 'prints only the names']],
  async run(_inputs, { config, settings }: Deps<'config' | 'settings'>) {
    const rows = Object.entries(config.read().profiles).map(
      ([name, { baseUrl, sandbox, account, network }]) => ({
        name,
        current: name === settings.profileName,
        baseUrl: baseUrl ?? null,
        sandbox: sandbox === true,
        account: account ?? null,
        network: network ?? null,
      }),
    );
    return rows.toSorted((a, b) => a.name.localeCompare(b.name));
  },
  view: list(profileList),
});

export const profilesUse = defineCommand({
  arguments: { name },
  examples: [['svcpay profiles use acme', 'makes acme the default profile']],
  changes: true,
  async run({ name }, { config, out, env }: Deps<'config' | 'out' | 'env'>) {
    await config.update((before) => {
      findProfile(before, name);
      return { ...before, current: name };
    });
    out.say(`Profile ${name} is now your default.`);
    if ((env['SVCPAY_PROFILE'] ?? '') !== '')
      out.warn('The environment variable SVCPAY_PROFILE overrides the default profile.');
    return { name, current: true };
  },
  view: done,
});

/**
 * Removes a profile, and removes the profile's secret unless a different profile uses the secret.
 */
export const profilesRemove = defineCommand({
  arguments: { name },
  examples: [['svcpay profiles remove trial', 'asks for confirmation, then removes the profile']],
  changes: true,
  async run({ name }, { config, secrets, home, ask, out }) {
    const before = config.read();
    const profile = findProfile(before, name);
    await ask.agree(
      `Remove profile ${name} with its secret, limits and personal details?`,
      'Nothing was removed',
    );
    const { baseUrl, apiKey } = profile;
    if (
      baseUrl !== undefined &&
      apiKey !== undefined &&
      profilesSharing(name, before).length === 0
    ) {
      const credentials = credentialName(baseUrl, apiKey);
      await secrets.remove(credentials);
      await openTokens(home.config, credentials).clear();
    }
    await config.update(({ current, profiles: { [name]: _gone, ...kept }, ...rest }) => ({
      ...rest,
      profiles: kept,
      ...(current !== name && current !== undefined && { current }),
    }));
    out.say(`Removed profile ${name}.`);
    return { name, removed: true };
  },
  view: done,
});
