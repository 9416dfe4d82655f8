// Stores API secrets in the system keyring, or in a file that only its owner can read. Stores
// access tokens too, so that scripts need not sign in for every call.
import { platform } from 'node:process';
import * as v from 'valibot';
import { openDocument } from '../files/document.js';
import type { Home } from '../files/home.js';

export type SecretPlace = 'keyring' | 'file';

export type SecretStore = ReturnType<typeof openSecrets>;

/** The part of a system keyring that svcpay uses. */
export interface Keyring {
  get(name: string): string | null;
  set(name: string, secret: string): void;
  delete(name: string): void;
}

export type OpenKeyring = () => Promise<Keyring | undefined>;

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
export type KeptToken = v.InferOutput<typeof tokenSchema>;

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
