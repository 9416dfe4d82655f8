// Defines the settings of a profile that commands can read and change by name, none of which is a
// secret.
import { didYouMean, clip } from '../../formats/text.js';
import { parseBaseUrl } from '../../api/base-url.js';
import { isFiat } from '../../formats/amount.js';
import { parseCountryCode, parsePhone } from '../../formats/country.js';
import { Failure } from '../../formats/failure.js';
import { databaseIdVariable, databaseVariable } from '../../store/database/address.js';
import {
  checkHeader,
  checkServiceName,
  keepDatabase,
  readNetwork,
  type Settings,
} from '../../store/profile/settings.js';
import { networks } from '../../formats/rails.js';
import type { KycCodes, Profile } from '../../store/profile/profiles.js';
import type { SecretStore } from '../../store/profile/secrets.js';
import { parseLine } from '../../wallet/payout/order.js';
import type { Globals } from '../globals.js';
import { partyTypes } from '../payout/payout-draft.js';
import { choice } from '../values.js';

export interface ConfigKey {
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

export const configKeys: readonly ConfigKey[] = [
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

export const configNames: readonly string[] = configKeys.map(({ name }) => name);

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

export interface ConfigEntry {
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

export const readKeys = (sources: Sources): ConfigEntry[] =>
  configKeys.map((key) => readKey(key, sources));
