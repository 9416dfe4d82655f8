// Removes a profile with what was kept for it; a secret that another profile needs stays.
import { findProfile, type Profile } from '../../store/profile/profiles.js';
import { credentialName, openTokens } from '../../store/profile/tokens.js';
import { Failure } from '../../formats/failure.js';
import { defineCommand } from '../define.js';
import { text } from '../values.js';

export const profilesRemove = defineCommand({
  fields: [],
  arguments: { name: text('NAME').suggesting('profile').describe('as svcpay profiles list shows it') },
  options: {},
  examples: [['svcpay profiles remove trial', 'asks first']],
  async run({ name }, { config, secrets, home, ask, out }) {
    const before = config.read();
    const profile = findProfile(before, name);
    const yes = await ask.confirm(`Remove profile ${name} with its secret, its limits and your details in it?`);
    if (!yes) throw new Failure('declined', 'Nothing was removed.');
    const { [name]: _removed, ...others } = before.profiles;
    const credentials = nameOf(profile);
    if (credentials !== undefined && !Object.values(others).some((each) => nameOf(each) === credentials)) {
      await secrets.remove(credentials);
      await openTokens(home.config, credentials).clear();
    }
    await config.update(({ current, profiles: { [name]: _gone, ...kept }, ...rest }) => ({
      ...rest,
      profiles: kept,
      ...(current !== name && current !== undefined && { current }),
    }));
    out.say(`Profile ${name} is removed.`);
    out.did({ name, removed: true });
  },
});

const nameOf = ({ baseUrl, apiKey }: Profile): string | undefined =>
  baseUrl === undefined || apiKey === undefined ? undefined : credentialName(baseUrl, apiKey);
