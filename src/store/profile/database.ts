// The configured database of journal, limits and inbox; its password is stored with the secrets.
import {
  checkAddress,
  withoutPassword,
  withPassword,
  withRootCertificate,
} from '../database/address.js';
import type { SecretStore } from './secrets.js';
import type { Profile } from './profiles.js';

export interface FoundDatabase {
  /** The address with its password. */
  readonly url: string;
  /** The setting with the address, for messages. */
  readonly source: string;
}

export const databaseVariable = 'SVCPAY_DATABASE_URL';

const secretName = (url: string): string => `database ${url}`;

/**
 * The database, or undefined if the data is in files of this home. Throws Failure `usage` for an
 * invalid address.
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

/** Adds the password that was kept for the address. Throws Failure `usage` for an invalid address. */
export async function databaseAt(
  address: string,
  source: string,
  env: NodeJS.ProcessEnv,
  secrets: () => SecretStore,
): Promise<FoundDatabase> {
  const checked = checkAddress(address, source);
  const kept = await secrets().load(secretName(address));
  return { url: withRootCertificate(withPassword(checked, kept?.secret), env), source };
}

/** Stores the password with the secrets, and returns the address without it. */
export async function keepDatabase(text: string, secrets: SecretStore): Promise<string> {
  const { url, password } = withoutPassword(checkAddress(text, 'This'));
  if (password === undefined) await secrets.remove(secretName(url));
  else await secrets.save(secretName(url), decodeURIComponent(password));
  return url;
}
