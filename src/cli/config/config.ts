// Lists, changes and removes the settings of a profile, none of which is a secret.
import { Failure } from '../../formats/failure.js';
import { changeProfile, type KycCodes, type Profile } from '../../store/profile/profiles.js';
import { back, type Choice, stepFor, walk } from '../../terminal/ask/questions.js';
import { pathView, settingList, settingView } from '../../terminal/views/settings-views.js';
import type { Context } from '../context.js';
import { namesOf } from '../../terminal/rows/list.js';
import type { Column } from '../../terminal/rows/view.js';
import { defineCommand } from '../define.js';
import { leftAtOnce } from '../process.js';
import { text, word, type Globals, choice } from '../values.js';
import { didYouMean, clip } from '../../formats/text.js';
import { parseBaseUrl } from '../../api/check-options.js';
import { isFiat } from '../../formats/amount.js';
import { parseCountryCode, parsePhone } from '../../formats/country.js';
import { databaseIdVariable, databaseVariable } from '../../store/database/address.js';
import {
  checkHeader,
  checkServiceName,
  keepDatabase,
  readNetwork,
  type Settings,
  type SecretStore,
} from '../../store/profile/settings.js';
import { networks } from '../../formats/rails.js';
import { parseLine } from '../../wallet/payout/order.js';
import { partyTypes } from '../payout/payout-draft.js';

interface ConfigKey {
  readonly name: string;
  /** The description of the setting in a list. */
  readonly about: string;
  /** The choices for a setting that has only a few values. */
  readonly choices?: readonly string[];
  readonly inProfile: (profile: Profile) => string | undefined;
  /**
   * Returns the profile with the changed setting. An undefined `text` removes the setting from the
   * profile. Throws Failure `usage` for an invalid value of the setting.
   */
  readonly change: (profile: Profile, text: string | undefined) => Profile;
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
  readonly flag?: keyof Globals;
}

const unless = <T>(text: string | undefined, parse: (text: string) => T): T | undefined =>
  text === undefined ? undefined : parse(text);

function parseSwitch(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new Failure('usage', `"${clip(text)}" must be true or false.`);
}

function parseAccount(text: string): string {
  if (/^[\w.-]{1,100}$/.test(text) && !/^\.+$/.test(text)) return text;
  throw new Failure('usage', `"${clip(text)}" is not a valid account id.`);
}

function parseFiat(text: string): string {
  const ccy = text.trim().toUpperCase();
  if (isFiat(ccy)) return ccy;
  throw new Failure(
    'usage',
    `"${clip(text)}" is not a national currency. Write a currency such as USD.`,
  );
}

function parseId(text: string): string {
  const id = text.toLowerCase();
  if (/^[0-9a-f-]{36}$/.test(id)) return id;
  throw new Failure('usage', `"${clip(text)}" is not a database id.`, {
    hint: 'To see the id',
    next: { do: 'run', command: 'db status' },
  });
}

function parseExplorer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.href.replace(/\/$/, '');
  throw new Failure(
    'usage',
    `"${clip(text)}" is not the address of an explorer. ` +
      `Write an address such as https://mempool.space.`,
  );
}

type Sender = NonNullable<Profile['sender']>;

const senderKey = (
  name: string,
  field: keyof Sender,
  parse: (text: string) => Sender[typeof field],
  choices?: readonly string[],
): ConfigKey => ({
  name: `sender.${name}`,
  about: `your ${field === 'type' ? 'type, individual or business' : name}, for payouts`,
  ...(choices && { choices }),
  inProfile: ({ sender }) => sender?.[field],
  change: (profile, text) => ({
    ...profile,
    sender: { ...profile.sender, [field]: unless(text, parse) },
  }),
});

/**
 * Creates a setting with labels for the service's numeric codes, such as `1=Family support,
 * 2=Education`.
 */
const labelsKey = (name: keyof KycCodes): ConfigKey => ({
  name: `labels.${name}`,
  about: `names for the ${name} codes of payouts, e.g. 1=Family support, 2=Education`,
  inProfile: ({ codes }) => {
    const labels = Object.entries(codes?.[name]?.labels ?? {});
    return labels.length === 0
      ? undefined
      : labels.map(([code, label]) => `${code}=${label}`).join(', ');
  },
  change: (profile, text) => ({
    ...profile,
    codes: {
      ...profile.codes,
      [name]: { ...profile.codes?.[name], labels: unless(text, parseLabels) },
    },
  }),
});

function parseLabels(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => /^\s*(\d{1,9})\s*=\s*(.+?)\s*$/.exec(pair) ?? []);
  if (pairs.every(([, code, label]) => code !== undefined && label !== undefined))
    return Object.fromEntries(pairs.map(([, code = '', label = '']) => [code, label]));
  throw new Failure(
    'usage',
    `"${clip(text)}" is not a list of numbers and labels. Write a list such as ` +
      '"1=Family support, 2=Education".',
  );
}

type Stored = Omit<Profile, 'sender' | 'limits' | 'codes'>;

const profileKey = <K extends keyof Stored>(
  name: string,
  field: K,
  parse: (text: string) => Stored[K],
  others: Pick<ConfigKey, 'about' | 'choices' | 'keep' | 'effective' | 'variable' | 'flag'>,
): ConfigKey => ({
  name,
  inProfile: (profile) => profile[field]?.toString(),
  change: (profile, text) => ({ ...profile, [field]: unless(text, parse) }),
  ...others,
});

const configKeys: readonly ConfigKey[] = [
  profileKey('base-url', 'baseUrl', parseBaseUrl, {
    about: 'address of the service',
    // Hides a password in the base URL. A command that uses the base URL refuses a base URL with a
    // password.
    effective: ({ baseUrl }) => baseUrl?.replace(/\/\/[^/]*@/, '//'),
    variable: 'SVCPAY_BASE_URL',
    flag: 'baseUrl',
  }),
  profileKey('account', 'account', parseAccount, {
    about: 'the subaccount that commands act on',
    effective: ({ accountId }) => accountId,
    variable: 'SVCPAY_ACCOUNT',
    flag: 'account',
  }),
  profileKey('network', 'network', readNetwork, {
    about: 'Bitcoin network of the service',
    choices: networks,
    effective: ({ network }) => network,
    variable: 'SVCPAY_NETWORK',
  }),
  profileKey('maker', 'maker', checkServiceName, {
    about: 'service name on the wire without its ending "pay": acme for acmepay',
    effective: ({ maker }) => maker,
    variable: 'SVCPAY_MAKER',
  }),
  profileKey('signature-header', 'signatureHeader', checkHeader, {
    about: 'header that carries the webhook signature, if not the default header',
    effective: ({ signatureHeader }) => signatureHeader,
    variable: 'SVCPAY_SIGNATURE_HEADER',
  }),
  profileKey('refuse-own-proposals', 'refuseOwnProposals', parseSwitch, {
    about: 'true refuses proposals that the paying user of the machine wrote',
  }),
  profileKey('sandbox', 'sandbox', parseSwitch, {
    about: 'use the embedded sandbox instead of the service',
    choices: ['true', 'false'],
    effective: ({ embedded }) => String(embedded),
    flag: 'sandbox',
  }),
  profileKey('database-url', 'databaseUrl', (text) => text, {
    about: 'PostgreSQL database for journal, limits and inbox',
    keep: keepDatabase,
    effective: ({ databaseUrl }) => databaseUrl,
    variable: databaseVariable,
  }),
  profileKey('fiat', 'fiat', parseFiat, {
    about: 'currency in which svcpay stores rates for the books, such as USD',
  }),
  profileKey('explorer', 'explorer', parseExplorer, {
    about: 'Bitcoin explorer that addresses link to, e.g. https://mempool.space',
  }),
  profileKey('database-id', 'databaseId', parseId, {
    about: 'id of the database that this profile expects',
    effective: ({ databaseId }) => databaseId,
    variable: databaseIdVariable,
  }),
  senderKey('type', 'type', choice(partyTypes).read, partyTypes),
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
  throw new Failure(
    'usage',
    `There is no setting "${clip(text)}".` +
      (didYouMean(text, configNames) || ` The settings are ${configNames.join(', ')}.`),
  );
}

interface ConfigEntry {
  readonly key: string;
  readonly value: string | null;
  /** The source of the value, or null if no source has a value. */
  readonly from: 'flag' | 'environment' | 'profile' | 'default' | null;
}

interface Sources {
  readonly settings: Settings;
  readonly globals: Globals;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the effective value of a setting, and the source of the value. */
export function readKey(key: ConfigKey, { settings, globals, env }: Sources): ConfigEntry {
  const stored = key.inProfile(settings.profile);
  const value = (key.effective === undefined ? stored : key.effective(settings)) ?? null;
  const isGiven =
    key.flag !== undefined && globals[key.flag] !== undefined && globals[key.flag] !== false;
  const isSet = key.variable !== undefined && (env[key.variable] ?? '') !== '';
  const from = isGiven
    ? 'flag'
    : isSet
      ? 'environment'
      : stored !== undefined
        ? 'profile'
        : 'default';
  return { key: key.name, value, from: value === null ? null : from };
}

const readKeys = (sources: Sources): ConfigEntry[] =>
  configKeys.map((key) => readKey(key, sources));

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
