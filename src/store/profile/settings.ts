// Determines the service, account, network and database of a command, from the flag, the
// environment, the profile or the default, in this order.
import { Failure } from '../../formats/failure.js';
import {
  checkAddress,
  databaseIdVariable,
  databaseVariable,
  withoutPassword,
  withPassword,
  withRootCertificate,
} from '../database/address.js';
import { networks, type Network } from '../../formats/rails.js';
import { defaultProfile, type Config, type Profile } from './profiles.js';
import type { SecretStore } from './secrets.js';

export interface SettingFlags {
  readonly profile?: string | undefined;
  readonly account?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly sandbox: boolean;
  readonly budget?: string | undefined;
}

export type Settings = Readonly<ReturnType<typeof resolveSettings>>;

/** The trimmed value of a variable, or undefined if the value is empty. */
export const fromEnvironment = (env: NodeJS.ProcessEnv, name: string): string | undefined =>
  env[name]?.trim() || undefined;

/** The address of the embedded sandbox. svcpay never resolves this address in DNS. */
export const embeddedUrl = 'http://sandbox.localhost';

/**
 * Reads the settings of a command. Throws Failure `usage` for an unknown profile, because the
 * limits of the profile would be missing.
 * @param mayBeNew whether the command may create the profile
 */
export function resolveSettings(
  flags: SettingFlags,
  env: NodeJS.ProcessEnv,
  config: Config,
  mayBeNew = false,
) {
  const given = (name: string): string | undefined => fromEnvironment(env, name);
  const profileName = flags.profile ?? given('SVCPAY_PROFILE') ?? config.current ?? defaultProfile;
  const found = Object.hasOwn(config.profiles, profileName)
    ? config.profiles[profileName]
    : undefined;
  if (found === undefined && !mayBeNew && profileName !== defaultProfile)
    throw unknownProfile(profileName, config);
  const profile: Profile = found ?? {};
  const address = flags.baseUrl ?? given('SVCPAY_BASE_URL');
  const embedded = flags.sandbox || (address === undefined && profile.sandbox === true);
  const baseUrl = embedded ? embeddedUrl : (address ?? profile.baseUrl);
  const apiKey = given('SVCPAY_API_KEY') ?? profile.apiKey;
  const database = given(databaseVariable) ?? profile.databaseUrl;
  const network =
    readNetwork(given('SVCPAY_NETWORK')) ?? profile.network ?? defaultNetwork(baseUrl);
  return {
    profileName,
    profile,
    /** Whether to use the embedded sandbox, which requires neither address nor credentials. */
    embedded,
    baseUrl,
    apiKey,
    /**
     * The API secret from the environment. If SVCPAY_API_SECRET is not set, svcpay reads the API
     * secret from the secret store.
     */
    apiSecret: given('SVCPAY_API_SECRET'),
    accountId: flags.account ?? given('SVCPAY_ACCOUNT') ?? profile.account,
    /** The budget that payments charge, or undefined for the owner of the wallet. */
    budget: flags.budget ?? given('SVCPAY_BUDGET'),
    maker: checkServiceName(given('SVCPAY_MAKER') ?? profile.maker ?? 'service'),
    /**
     * The name of the webhook signature header, if it differs from the default name. The default
     * name contains the service name, as in `X-Acmepay-Signature`.
     */
    signatureHeader: checkHeader(given('SVCPAY_SIGNATURE_HEADER') ?? profile.signatureHeader),
    network,
    /** Whether the service moves real money, unlike a sandbox or a service on a test network. */
    isReal: !embedded && network === 'mainnet',
    /**
     * The address of the database for the journal, the limits and the inbox, without the password,
     * or undefined if this home uses files.
     */
    databaseUrl: (database && withoutPassword(database).url) || undefined,
    /**
     * The id of the database from which payments are made, or undefined before the first payment.
     */
    databaseId: given(databaseIdVariable)?.toLowerCase() ?? profile.databaseId,
  };
}

function unknownProfile(name: string, { profiles }: Config): Failure {
  const names = Object.keys(profiles).join(', ');
  return new Failure(
    'usage',
    `Profile "${name}" does not exist.${names === '' ? '' : ` Profiles: ${names}.`}`,
    {
      next: { do: 'see-profiles' },
    },
  );
}

/** Checks the service name, which is part of field and header names on the wire. */
export function checkServiceName(name: string): string {
  if (/^[a-z][a-z0-9]{0,31}$/.test(name)) return name;
  throw new Failure(
    'usage',
    `"${name}" cannot be a service name: use lower-case letters and digits.`,
  );
}

export function checkHeader(name: string): string;
export function checkHeader(name: string | undefined): string | undefined;
export function checkHeader(name: string | undefined): string | undefined {
  if (name === undefined || /^[A-Za-z0-9-]{1,64}$/.test(name)) return name;
  throw new Failure(
    'usage',
    `"${name.slice(0, 64)}" cannot be the name of a header: use letters, digits and dashes.`,
  );
}

export function readNetwork(text: string | undefined): Network | undefined {
  if (text === undefined) return undefined;
  const network = networks.find((each) => each === text);
  if (network === undefined)
    throw new Failure('usage', `"${text}" is not a network: use ${networks.join(', ')}.`);
  return network;
}

/**
 * The default network: mainnet for a remote service. A service on this machine is for tests and
 * accepts every network.
 */
function defaultNetwork(baseUrl: string | undefined): Network {
  return baseUrl?.startsWith('https:') === true ? 'mainnet' : 'any';
}

export interface FoundDatabase {
  /** The address of the database, including its password. */
  readonly url: string;
  /** The setting that contains the address of the database, for use in messages. */
  readonly source: string;
}

const secretName = (url: string): string => `database ${url}`;

/**
 * Returns the database, or undefined if the data is in files of this home. Throws Failure `usage`
 * for an invalid database address.
 */
export async function findDatabase(
  profile: Profile,
  env: NodeJS.ProcessEnv,
  secrets: () => SecretStore,
): Promise<FoundDatabase | undefined> {
  const given = env[databaseVariable];
  if (given !== undefined && given !== '') {
    return {
      url: withRootCertificate(checkAddress(given, databaseVariable), env),
      source: databaseVariable,
    };
  }
  const { databaseUrl } = profile;
  if (databaseUrl === undefined) return undefined;
  return databaseAt(databaseUrl, 'the setting database-url', env, secrets);
}

/**
 * Adds the stored password to the address of the database. Throws Failure `usage` for an invalid
 * database address.
 */
async function databaseAt(
  address: string,
  source: string,
  env: NodeJS.ProcessEnv,
  secrets: () => SecretStore,
): Promise<FoundDatabase> {
  const checked = checkAddress(address, source);
  const kept = await secrets().load(secretName(address));
  return { url: withRootCertificate(withPassword(checked, kept?.secret), env), source };
}

/** Stores the password with the secrets, and returns the address without its password. */
export async function keepDatabase(text: string, secrets: SecretStore): Promise<string> {
  const { url, password } = withoutPassword(checkAddress(text, 'This'));
  if (password === undefined) await secrets.remove(secretName(url));
  else await secrets.save(secretName(url), decodeURIComponent(password));
  return url;
}
