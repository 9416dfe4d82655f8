// Determines the service, account, network and database of a command, from the flag, the
// environment, the profile or the default, in this order. Stores the secrets and the tokens.
import { type Failure, invalid } from '../../formats/failure.js';
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
import { platform } from 'node:process';
import * as v from 'valibot';
import { openDocument } from '../files/document.js';
import type { Home } from '../files/home.js';

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
  const header = given('SVCPAY_SIGNATURE_HEADER') ?? profile.signatureHeader;
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
    signatureHeader: header === undefined ? undefined : checkHeader(header),
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
  return invalid(`Profile "${name}" does not exist.${names === '' ? '' : ` Profiles: ${names}.`}`, {
    next: { do: 'see-profiles' },
  });
}

/** Checks the service name, which is part of field and header names on the wire. */
export function checkServiceName(name: string): string {
  if (/^[a-z][a-z0-9]{0,31}$/.test(name)) return name;
  throw invalid(`"${name}" cannot be a service name: use lower-case letters and digits.`);
}

export function checkHeader(name: string): string {
  if (/^[A-Za-z0-9-]{1,64}$/.test(name)) return name;
  throw invalid(
    `"${name.slice(0, 64)}" cannot be the name of a header: use letters, digits and dashes.`,
  );
}

export function readNetwork(text: string | undefined): Network | undefined {
  if (text === undefined) return undefined;
  const network = networks.find((each) => each === text);
  if (network === undefined)
    throw invalid(`"${text}" is not a network: use ${networks.join(', ')}.`);
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
  { databaseUrl }: Profile,
  env: NodeJS.ProcessEnv,
  secrets: () => SecretStore,
): Promise<FoundDatabase | undefined> {
  const given = env[databaseVariable] || undefined;
  const address = given ?? databaseUrl;
  if (address === undefined) return undefined;
  const source = given === undefined ? 'the setting database-url' : databaseVariable;
  const checked = checkAddress(address, source);
  const kept = given === undefined ? await secrets().load(secretName(address)) : undefined;
  return { url: withRootCertificate(withPassword(checked, kept?.secret), env), source };
}

/** Stores the password with the secrets, and returns the address without its password. */
export async function keepDatabase(text: string, secrets: SecretStore): Promise<string> {
  const { url, password } = withoutPassword(checkAddress(text, 'This'));
  if (password === undefined) await secrets.remove(secretName(url));
  else await secrets.save(secretName(url), decodeURIComponent(password));
  return url;
}

type SecretPlace = 'keyring' | 'file';

export type SecretStore = ReturnType<typeof openSecrets>;

/** The part of a system keyring that svcpay uses. */
export interface Keyring {
  get(name: string): string | null;
  set(name: string, secret: string): void;
  delete(name: string): void;
}

type OpenKeyring = () => Promise<Keyring | undefined>;

const secretsSchema = v.record(v.string(), v.string());

/**
 * @param openKeyring called to save or remove a secret, or if the file does not contain the secret
 */
export function openSecrets(home: Home, openKeyring: OpenKeyring) {
  const file = openDocument(home.config, 'secrets', secretsSchema);
  const keyring = async (): Promise<Keyring | undefined> =>
    home.isolated ? undefined : openKeyring();
  const drop = async (name: string): Promise<void> => {
    if (Object.hasOwn(file.read(), name))
      await file.update(({ [name]: _gone, ...others }) => others);
  };
  return {
    /** Describes where a secret is stored, for use in a message. */
    where: (place: SecretPlace): string =>
      place === 'keyring' ? 'the system keyring' : `${file.path} (readable only by you)`,
    async save(name: string, secret: string): Promise<SecretPlace> {
      const ring = await keyring();
      if (ring !== undefined && keeps(ring, name, secret)) {
        await drop(name);
        return 'keyring';
      }
      await file.update((before) => ({ ...before, [name]: secret }));
      return 'file';
    },
    async load(name: string): Promise<{ secret: string; place: SecretPlace } | undefined> {
      const kept = file.read()[name];
      if (kept !== undefined) return { secret: kept, place: 'file' };
      const ring = await keyring();
      const secret = ring === undefined ? undefined : tryKeyring(() => ring.get(name));
      return typeof secret === 'string' ? { secret, place: 'keyring' } : undefined;
    },
    async remove(name: string): Promise<void> {
      await drop(name);
      const ring = await keyring();
      if (ring !== undefined) tryKeyring(() => ring.delete(name));
    },
  };
}

/**
 * Stores a secret and reads it back, because without a desktop session, some keyrings accept a
 * secret but do not store it.
 */
const keeps = (ring: Keyring, name: string, secret: string): boolean =>
  tryKeyring(() => {
    ring.set(name, secret);
    return ring.get(name);
  }) === secret;

/**
 * Returns the result of the action, or undefined if the keyring refuses, for example because the
 * keyring is locked.
 */
function tryKeyring<T>(action: () => T): T | true | undefined {
  try {
    return action() ?? true;
  } catch {
    return undefined;
  }
}

/**
 * Opens the system keyring. Without a desktop session, Linux has only the keyring of the kernel,
 * which forgets a secret when the session ends.
 */
export const systemKeyring =
  (env: Readonly<Record<string, string | undefined>>): OpenKeyring =>
  async () => {
    if (platform === 'linux' && !env['DBUS_SESSION_BUS_ADDRESS']) return undefined;
    try {
      const { Entry } = await import('@napi-rs/keyring');
      const entry = (name: string): InstanceType<typeof Entry> => new Entry('svcpay', name);
      return {
        get: (name) => entry(name).getPassword(),
        set: (name, secret) => entry(name).setPassword(secret),
        delete: (name) => void entry(name).deletePassword(),
      };
    } catch {
      return undefined;
    }
  };

/**
 * The schema of a stored access token. `accessToken` is empty after svcpay has deleted the token.
 */
const tokenSchema = v.object({
  accessToken: v.pipe(v.string(), v.regex(/^[!-~]*$/)),
  expiresAt: v.number(),
  accountId: v.pipe(v.string(), v.minLength(1)),
});
type KeptToken = v.InferOutput<typeof tokenSchema>;

const isKeptToken = (entry: [string, unknown]): entry is [string, KeptToken] =>
  v.is(tokenSchema, entry[1]);
/** Skips invalid entries. */
const tokensSchema = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((entries): Record<string, KeptToken> =>
    Object.fromEntries(Object.entries(entries).filter(isKeptToken)),
  ),
);

export interface KeptTokens {
  readonly path: string;
  load(): Promise<KeptToken | undefined>;
  save(token: KeptToken): Promise<void>;
  clear(): Promise<void>;
}

/** The name under which svcpay stores the secret and the access token of an API key. */
export const credentialName = (baseUrl: string, apiKey: string): string => `${baseUrl} ${apiKey}`;

/** @param log reports an unreadable token file, after which the client signs in again */
export function openTokens(
  folder: string,
  name: string,
  log: (words: string) => void = () => undefined,
): KeptTokens {
  const file = openDocument(folder, 'tokens', tokensSchema, { onUnreadable: log });
  return {
    path: file.path,
    load: () => Promise.resolve(file.read()[name]),
    save: async (token) => void (await file.update((before) => ({ ...before, [name]: token }))),
    clear: async () => void (await file.update(({ [name]: _gone, ...others }) => others)),
  };
}
