// Changes one setting of the profile, or takes it away. What is given is checked before it is kept.
import { Failure } from '../../formats/failure.js';
import { changeProfile } from '../../store/profile/profiles.js';
import type { Needs } from '../context.js';
import { configNames, findKey, type ConfigKey } from './config-keys.js';
import { defineCommand } from '../define.js';
import { flag, text, word } from '../values.js';

export const configSet = defineCommand({
  fields: [],
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
  async run({ key, value, unset }, context) {
    if (unset === (value !== undefined)) throw new Failure('usage', `Give ${key.name} a value, or --unset.`);
    await change(key, value, context);
  },
});

export const configUnset = defineCommand({
  fields: [],
  arguments: { key: word('KEY', findKey, configNames).describe(configNames.join(', ')) },
  options: {},
  examples: [['svcpay config unset account', 'back to the account of the API key']],
  run: ({ key }, context) => change(key, undefined, context),
});

type Place = Needs<'config' | 'settings' | 'secrets' | 'out' | 'env'>;

async function change(key: ConfigKey, value: string | undefined, context: Place): Promise<void> {
  const { config, settings, secrets, out, env } = context;
  const kept = value === undefined ? undefined : ((await key.keep?.(value, secrets)) ?? value);
  await changeProfile(config, settings.profileName, (before) => key.change(before, kept));
  out.say(`${key.name} is ${value === undefined ? 'no longer set' : 'set'} in profile ${settings.profileName}.`);
  out.did({ profile: settings.profileName, key: key.name, set: value !== undefined });
  if (key.variable !== undefined && (env[key.variable] ?? '') !== '') out.warn(`${key.variable} goes before it.`);
  const isIdle = key.name === 'base-url' && value !== undefined && settings.profile.sandbox === true;
  if (isIdle) out.warn('This profile uses the embedded sandbox instead: svcpay config set sandbox false');
}
