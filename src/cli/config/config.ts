// Lists, changes and removes the settings of a profile.
import { Failure } from '../../formats/failure.js';
import { changeProfile } from '../../store/profile/profiles.js';
import { back, type Choice, stepFor, walk } from '../../terminal/ask/questions.js';
import { pathView, settingList, settingView } from '../../terminal/views/settings-views.js';
import type { Context } from '../context.js';
import { namesOf } from '../../terminal/rows/list.js';
import type { Column } from '../../terminal/rows/view.js';
import { defineCommand } from '../define.js';
import { leftAtOnce } from '../exit-with.js';
import { text, word } from '../values.js';
import {
  configKeys,
  configNames,
  findKey,
  readKey,
  readKeys,
  type ConfigKey,
} from './config-keys.js';

const key = word('KEY', findKey, configNames).describe(configNames.join(', '));

export const configList = defineCommand({
  prints: namesOf(undefined, settingList('')),
  examples: [['svcpay config list --profile acme', 'lists the settings of another profile']],
  async run(_values, context) {
    await context.out.list(
      readKeys(context),
      settingList(`profile ${context.settings.profileName}`),
    );
  },
});

export const configGet = defineCommand({
  prints: namesOf(undefined, settingList('')),
  arguments: { key },
  examples: [['svcpay config get base-url', 'prints the address of the service']],
  async run({ key }, context) {
    const entry = readKey(key, context);
    if (entry.value === null) {
      throw new Failure('not-found', `${key.name} is not set.`, {
        next: { do: 'run', command: `config set ${key.name} VALUE` },
      });
    }
    await context.out.record(entry, settingView(entry));
  },
});

export const configPath = defineCommand({
  prints: ['path'],
  examples: [['cat "$(svcpay config path)"', 'prints the settings file, which has no secrets']],
  async run(_values, { config, out }) {
    await out.record({ path: config.path }, pathView(config.path));
  },
});

export const configSet = defineCommand({
  fields: [],
  arguments: { key: key.optional(), value: text('VALUE').optional().describe('new value') },
  examples: [
    ['svcpay config set', 'asks for the setting and its value'],
    ['svcpay config set sender.name "Jane Roe"', 'sets your name, for payouts'],
    ['svcpay config set network testnet --profile trial', 'changes the setting of another profile'],
  ],
  async run(given, context) {
    const { key, value } = await askSetting(given, context);
    await change(key, value, context);
  },
});

export const configUnset = defineCommand({
  fields: [],
  arguments: { key },
  examples: [
    [
      'svcpay config unset account',
      'removes the setting, so commands act on the account of the API key',
    ],
  ],
  run: ({ key }, context) => change(key, undefined, context),
});

interface Answers {
  readonly key: ConfigKey | undefined;
  readonly value: string | undefined;
}

/** Asks for the name or the value of a setting that the command line does not give. */
async function askSetting(
  start: Answers,
  context: Context,
): Promise<{ key: ConfigKey; value: string | undefined }> {
  const {
    ask: { pose, demand },
    settings,
  } = context;
  const missing = [
    ...(start.key === undefined ? ['KEY'] : []),
    ...(start.value === undefined ? ['VALUE'] : []),
  ];
  if (missing.length > 0) demand(missing, start.key && `Give ${start.key.name} a value.`);
  const step = stepFor<Answers>();
  const choices = start.key === undefined ? await keyChoices(context) : [];
  const asked = await walk<Answers>(pose, start, [
    step('key', () => ({ message: 'Which setting?', flag: 'KEY', choices, isSearch: true })),
    step('value', ({ key }) => {
      const question = {
        message: key?.name ?? '',
        flag: 'VALUE',
        default: key?.inProfile(settings.profile),
      };
      const parse = (text: string): string => {
        key?.change(settings.profile, text);
        return text;
      };
      return key?.choices === undefined
        ? { ...question, parse }
        : { ...question, choices: key.choices.map((value) => ({ value, name: value })) };
    }),
  ]);
  if (asked === back) throw leftAtOnce(context, 'Nothing was changed');
  if (asked.key === undefined) throw new Error('The wizard ended, but no setting was chosen.');
  return { key: asked.key, value: asked.value };
}

async function keyChoices(context: Context): Promise<Choice<ConfigKey>[]> {
  const { menuLines } = await import('../../terminal/rows/table.js');
  const columns: Column<ConfigKey>[] = [
    { name: 'name' },
    {
      name: 'value',
      value: (key) => readKey(key, context).value ?? '–',
      shrinks: true,
    },
  ];
  const lines = menuLines(columns, configKeys, context.terminal.stderrCanvas);
  return configKeys.map((value, i) => ({
    value,
    name: lines[i] ?? value.name,
    description: value.about,
  }));
}

async function change(
  key: ConfigKey,
  value: string | undefined,
  { config, settings, secrets, out, env }: Context,
): Promise<void> {
  const kept = value === undefined ? undefined : ((await key.keep?.(value, secrets)) ?? value);
  await changeProfile(config, settings.profileName, (before) => key.change(before, kept));
  out.say(
    `${key.name} is ${value === undefined ? 'no longer set' : 'set'} in profile ` +
      `${settings.profileName}.`,
  );
  out.did({ profile: settings.profileName, key: key.name, set: value !== undefined });
  if (key.variable !== undefined && (env[key.variable] ?? '') !== '')
    out.warn(`The environment variable ${key.variable} overrides this setting.`);
  const isIdle =
    key.name === 'base-url' && value !== undefined && settings.profile.sandbox === true;
  if (isIdle)
    out.warn(
      'This profile still uses the embedded sandbox. To use the service: ' +
        'svcpay config set sandbox false',
    );
}
