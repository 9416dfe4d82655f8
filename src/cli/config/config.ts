// Lists, changes and removes the settings of a profile, none of which is a secret.
import { Failure, invalid } from '../../formats/failure.js';
import { changeProfile, type KycCodes, type Profile } from '../../store/profile/profiles.js';
import { back, type Choice, stepFor, walk } from '../../terminal/ask/questions.js';
import { pathView, settingList, settingView } from '../../terminal/views/settings-views.js';
import type { Context } from '../context.js';
import type { Column } from '../../terminal/rows/view.js';
import { defineCommand, done, list, record, type Deps } from '../define.js';
import { leftAtOnce } from '../process.js';
import { choice, flagName, text, word } from '../values.js';
import { didYouMean, clip } from '../../formats/text.js';
import { parseBaseUrl } from '../../api/check-options.js';
import { isFiat } from '../../formats/amount.js';
import { parseCountryCode, parsePhone } from '../../formats/country.js';
import {
  checkHeader,
  checkServiceName,
  keepDatabase,
  readNetwork,
  type Settings,
  type SecretStore,
} from '../../store/profile/settings.js';
import { networks } from '../../formats/rails.js';
import { parseLine, partyTypes } from '../../wallet/payout/methods.js';

interface ConfigKey {
  readonly name: string;
  /** The description of the setting in a list. */
  readonly about: string;
  readonly inProfile: (profile: Profile) => string | undefined;
  /**
   * Returns the profile with the changed setting. An undefined `text` removes the setting from the
   * profile. Throws Failure `usage` for an invalid value of the setting.
   */
  readonly change: (profile: Profile, text: string | undefined) => Profile;
  /** The choices for a setting that has only a few values. */
  readonly choices?: readonly string[];
  /**
   * Stores the secret part of the value in the secret store, and returns the value without the
   * secret part.
   */
  readonly keep?: (text: string, secrets: SecretStore) => Promise<string>;
  /** Returns the effective value of a setting that flags or the environment can override. */
  readonly effective?: (settings: Settings) => string | undefined;
  /** The environment variable that overrides the setting in the profile. */
  readonly variable?: string;
  /** The global option that overrides the environment variable and the setting in the profile. */
  readonly flag?: 'baseUrl' | 'account' | 'sandbox';
}

function parseSwitch(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid(`"${clip(text)}" must be true or false.`);
}

function parseAccount(text: string): string {
  if (/^[\w.-]{1,100}$/.test(text) && !/^\.+$/.test(text)) return text;
  throw invalid(`"${clip(text)}" is not a valid account id.`);
}

function parseFiat(text: string): string {
  const ccy = text.trim().toUpperCase();
  if (isFiat(ccy)) return ccy;
  throw invalid(`"${clip(text)}" is not a national currency. Write a currency such as USD.`);
}

function parseId(text: string): string {
  const id = text.toLowerCase();
  if (/^[0-9a-f-]{36}$/.test(id)) return id;
  throw invalid(`"${clip(text)}" is not a database id.`, {
    hint: 'To see the id',
    next: { do: 'run', command: 'db status' },
  });
}

function parseExplorer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.href.replace(/\/$/, '');
  throw invalid(
    `"${clip(text)}" is not the address of an explorer. ` +
      `Write an address such as https://mempool.space.`,
  );
}

/** @param parse reads a text, and `write` returns the profile with the value that was read */
const setting = <T>(
  name: string,
  about: string,
  parse: (text: string) => T,
  inProfile: ConfigKey['inProfile'],
  write: (profile: Profile, value: T | undefined) => Profile,
): ConfigKey => ({
  name,
  about,
  inProfile,
  change: (profile, text) => write(profile, text === undefined ? undefined : parse(text)),
});

type Stored = Omit<Profile, 'sender' | 'limits' | 'codes'>;

/** Creates a setting under the name of its field, such as `base-url` for `baseUrl`. */
const fieldKey = <K extends keyof Stored>(
  field: K,
  about: string,
  parse: (text: string) => Stored[K],
  others: Pick<ConfigKey, 'choices' | 'keep' | 'effective' | 'flag'> = {},
): ConfigKey => ({
  ...setting(
    flagName(field).slice(2),
    about,
    parse,
    (profile) => profile[field]?.toString(),
    (profile, value) => ({ ...profile, [field]: value }),
  ),
  ...others,
});

/** Creates a setting that an environment variable with its name overrides. */
function overridable<K extends keyof Stored & keyof Settings>(
  field: K,
  about: string,
  parse: (text: string) => Stored[K],
  others: Pick<ConfigKey, 'choices' | 'keep' | 'effective' | 'flag'> = {},
): ConfigKey {
  const key = fieldKey(field, about, parse, others);
  const variable = `SVCPAY_${key.name.toUpperCase().replaceAll('-', '_')}`;
  return { effective: (settings) => settings[field]?.toString(), ...key, variable };
}

type Sender = NonNullable<Profile['sender']>;

const senderKey = (
  name: string,
  field: keyof Sender,
  parse: (text: string) => Sender[typeof field],
  about = `your ${name}, for payouts`,
): ConfigKey =>
  setting(
    `sender.${name}`,
    about,
    parse,
    ({ sender }) => sender?.[field],
    (profile, value) => ({ ...profile, sender: { ...profile.sender, [field]: value } }),
  );

/**
 * Creates a setting with labels for the service's numeric codes, such as `1=Family support,
 * 2=Education`.
 */
const labelsKey = (name: keyof KycCodes): ConfigKey =>
  setting(
    `labels.${name}`,
    `names for the ${name} codes of payouts, e.g. 1=Family support, 2=Education`,
    parseLabels,
    ({ codes }) => {
      const labels = Object.entries(codes?.[name]?.labels ?? {});
      return labels.map(([code, label]) => `${code}=${label}`).join(', ') || undefined;
    },
    (profile, labels) => ({
      ...profile,
      codes: { ...profile.codes, [name]: { ...profile.codes?.[name], labels } },
    }),
  );

function parseLabels(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => /^\s*(\d{1,9})\s*=\s*(.+?)\s*$/.exec(pair) ?? []);
  if (pairs.every(([, code, label]) => code !== undefined && label !== undefined))
    return Object.fromEntries(pairs.map(([, code = '', label = '']) => [code, label]));
  throw invalid(
    `"${clip(text)}" is not a list of numbers and labels. Write a list such as ` +
      '"1=Family support, 2=Education".',
  );
}

const configKeys: readonly ConfigKey[] = [
  overridable('baseUrl', 'address of the service', parseBaseUrl, {
    // Hides a password in the base URL. A command that uses the base URL refuses a base URL with a
    // password.
    effective: ({ baseUrl }) => baseUrl?.replace(/\/\/[^/]*@/, '//'),
    flag: 'baseUrl',
  }),
  {
    ...fieldKey('account', 'the subaccount that commands act on', parseAccount, {
      effective: ({ accountId }) => accountId,
      flag: 'account',
    }),
    variable: 'SVCPAY_ACCOUNT',
  },
  overridable('network', 'Bitcoin network of the service', readNetwork, { choices: networks }),
  overridable(
    'maker',
    'service name on the wire without its ending "pay": acme for acmepay',
    checkServiceName,
  ),
  overridable(
    'signatureHeader',
    'header that carries the webhook signature, if not the default header',
    checkHeader,
  ),
  fieldKey(
    'refuseOwnProposals',
    'true refuses proposals that the paying user of the machine wrote',
    parseSwitch,
  ),
  fieldKey('sandbox', 'use the embedded sandbox instead of the service', parseSwitch, {
    choices: ['true', 'false'],
    effective: ({ embedded }) => String(embedded),
    flag: 'sandbox',
  }),
  overridable('databaseUrl', 'PostgreSQL database for journal, limits and inbox', (text) => text, {
    keep: keepDatabase,
  }),
  fieldKey('fiat', 'currency in which svcpay stores rates for the books, such as USD', parseFiat),
  fieldKey(
    'explorer',
    'Bitcoin explorer that addresses link to, e.g. https://mempool.space',
    parseExplorer,
  ),
  overridable('databaseId', 'id of the database that this profile expects', parseId),
  {
    ...senderKey(
      'type',
      'type',
      choice(partyTypes).read,
      'your type, individual or business, for payouts',
    ),
    choices: partyTypes,
  },
  senderKey('name', 'legalFullName', parseLine),
  senderKey('country', 'countryCode', parseCountryCode),
  senderKey('phone', 'contactNumber', parsePhone),
  senderKey('address', 'address1', parseLine),
  labelsKey('purpose'),
  labelsKey('source'),
  labelsKey('relationship'),
];

const configNames: readonly string[] = configKeys.map(({ name }) => name);

/** Finds a setting by name. Throws Failure `usage` for an unknown setting. */
export function findKey(text: string): ConfigKey {
  const found = configKeys.find(({ name }) => name === text.toLowerCase());
  if (found !== undefined) return found;
  throw invalid(
    `There is no setting "${clip(text)}".` +
      (didYouMean(text, configNames) || ` The settings are ${configNames.join(', ')}.`),
  );
}

/**
 * Returns the effective value of a setting, and the source of the value, or null for both if no
 * source has a value.
 */
export function readKey(
  { name: key, effective, flag, variable, inProfile }: ConfigKey,
  { settings, globals, env }: Deps<'settings' | 'globals' | 'env'>,
) {
  const stored = inProfile(settings.profile);
  const value = (effective === undefined ? stored : effective(settings)) ?? null;
  if (value === null) return { key, value, from: null };
  const isGiven = flag !== undefined && (globals[flag] ?? false) !== false;
  const isSet = variable !== undefined && (env[variable] ?? '') !== '';
  if (isGiven || isSet) return { key, value, from: isGiven ? 'flag' : 'environment' };
  return { key, value, from: stored === undefined ? 'default' : 'profile' };
}

const key = word('KEY', findKey, configNames).describe(configNames.join(', '));

export const configList = defineCommand({
  examples: [['svcpay config list --profile acme', 'lists the settings of another profile']],
  run: async (_inputs, deps: Deps<'settings' | 'globals' | 'env'>) =>
    configKeys.map((each) => readKey(each, deps)),
  view: list(settingList),
  adapt: (_rows, _inputs, { settings }) => ({ footer: `profile ${settings.profileName}` }),
});

export const configGet = defineCommand({
  arguments: { key },
  examples: [['svcpay config get base-url', 'prints the address of the service']],
  async run({ key }, deps: Deps<'settings' | 'globals' | 'env'>) {
    const entry = readKey(key, deps);
    if (entry.value !== null) return entry;
    throw new Failure('not-found', `${key.name} is not set.`, {
      next: { do: 'run', command: `config set ${key.name} VALUE` },
    });
  },
  view: record(settingView),
});

export const configPath = defineCommand({
  examples: [['cat "$(svcpay config path)"', 'prints the settings file, which has no secrets']],
  run: async (_inputs, { config: { path } }: Deps<'config'>) => ({ path }),
  view: record(pathView),
});

export const configSet = defineCommand({
  arguments: { key: key.optional(), value: text('VALUE').optional().describe('new value') },
  examples: [
    ['svcpay config set', 'asks for the setting and its value'],
    ['svcpay config set sender.name "Jane Roe"', 'sets your name, for payouts'],
    ['svcpay config set network testnet --profile trial', 'changes the setting of another profile'],
  ],
  changes: true,
  async run(given, context) {
    const { key, value } = await askSetting(given, context);
    return change(key, value, context);
  },
  view: done,
});

export const configUnset = defineCommand({
  arguments: { key },
  examples: [
    [
      'svcpay config unset account',
      'removes the setting, so commands act on the account of the API key',
    ],
  ],
  changes: true,
  run: ({ key }, context) => change(key, undefined, context),
  view: done,
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
  const { ask, settings } = context;
  const missing = [
    ...(start.key === undefined ? ['KEY'] : []),
    ...(start.value === undefined ? ['VALUE'] : []),
  ];
  if (missing.length > 0) ask.demand(missing, start.key && `Give ${start.key.name} a value.`);
  const step = stepFor<Answers>();
  const choices = start.key === undefined ? await keyChoices(context) : [];
  const asked = await walk<Answers>(ask.pose, start, [
    step('key', () => ({ message: 'Which setting?', flag: 'KEY', choices, isSearch: true })),
    step('value', ({ key }) => {
      const question = {
        message: key?.name ?? '',
        flag: 'VALUE',
        default: key?.inProfile(settings.profile),
      };
      if (key?.choices !== undefined)
        return { ...question, choices: key.choices.map((value) => ({ value, name: value })) };
      const parse = (text: string): string => {
        key?.change(settings.profile, text);
        return text;
      };
      return { ...question, parse };
    }),
  ]);
  if (asked === back) throw leftAtOnce(context, 'Nothing was changed');
  if (asked.key === undefined) throw new Error('The wizard ended, but no setting was chosen.');
  return { key: asked.key, value: asked.value };
}

async function keyChoices(context: Context): Promise<Choice<ConfigKey>[]> {
  const { menuChoices } = await import('../../terminal/rows/table.js');
  const columns: Column<ConfigKey>[] = [
    { name: 'name' },
    { name: 'value', value: (key) => readKey(key, context).value ?? '–', shrinks: true },
  ];
  return menuChoices(columns, configKeys, context.terminal.stderrCanvas, (value) => ({
    value,
    description: value.about,
  }));
}

async function change(
  key: ConfigKey,
  value: string | undefined,
  { config, settings, secrets, out, env }: Context,
) {
  const kept = value === undefined ? undefined : ((await key.keep?.(value, secrets)) ?? value);
  await changeProfile(config, settings.profileName, (before) => key.change(before, kept));
  out.say(
    `${key.name} is ${value === undefined ? 'no longer set' : 'set'} in profile ` +
      `${settings.profileName}.`,
  );
  if (key.variable !== undefined && (env[key.variable] ?? '') !== '')
    out.warn(`The environment variable ${key.variable} overrides this setting.`);
  const isIdle =
    key.name === 'base-url' && value !== undefined && settings.profile.sandbox === true;
  if (isIdle)
    out.warn(
      'This profile still uses the embedded sandbox. To use the service: ' +
        'svcpay config set sandbox false',
    );
  return { profile: settings.profileName, key: key.name, set: value !== undefined };
}
