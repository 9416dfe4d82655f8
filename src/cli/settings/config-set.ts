// Changes one setting of the profile, or takes it away. What is given is checked before it is kept.
import { Failure } from '../../formats/failure.js';
import { changeProfile } from '../../store/profile/profiles.js';
import { configNames, findKey } from './config-keys.js';
import { defineCommand } from '../define.js';
import { flag, text, word } from '../values.js';

export const configSet = defineCommand({
  arguments: {
    key: word('KEY', findKey, configNames).describe(configNames.join(', ')),
    value: text('VALUE').optional().describe('its new value'),
  },
  options: { unset: flag().describe('take it away instead') },
  examples: [
    ['svcpay config set sender.name "Jane Roe"', 'your name, for payouts'],
    ['svcpay config set network testnet --profile trial', 'of another profile'],
    ['svcpay config set account --unset', 'back to the account of the API key'],
  ],
  async run({ key, value, unset }, { config, settings, out, env }) {
    if (unset === (value !== undefined)) throw new Failure('usage', `Give ${key.name} a value, or --unset.`);
    await changeProfile(config, settings.profileName, (before) => key.change(before, value));
    out.say(`${key.name} is ${unset ? 'no longer set' : 'set'} in profile ${settings.profileName}.`);
    if (key.variable !== undefined && (env[key.variable] ?? '') !== '') out.warn(`${key.variable} goes before it.`);
    const isIdle = key.name === 'base-url' && !unset && settings.profile.sandbox === true;
    if (isIdle) out.warn('This profile uses the embedded sandbox instead: svcpay config set sandbox false');
  },
});
