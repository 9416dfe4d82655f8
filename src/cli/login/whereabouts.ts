// Describes the profile, service and account of a command, and where svcpay stores the secret and
// the token.
import { ifAvailable } from '../../formats/failure.js';
import { credentialName, type KeptTokens } from '../../store/profile/secrets.js';
import type { Whereabouts } from '../../terminal/views/wallet-view.js';
import type { Context } from '../context.js';

export async function whereaboutsOf({ settings, client }: Context): Promise<Whereabouts> {
  const { profileName, embedded, baseUrl } = settings;
  return {
    profile: profileName,
    service: embedded ? 'embedded sandbox' : new URL(baseUrl ?? '').host,
    accountId: (await ifAvailable((await client()).accountId())) ?? 'not signed in',
  };
}

/**
 * Describes where svcpay stores the API secret, or returns undefined if no API secret is stored.
 */
export async function secretPlace({ settings, secrets }: Context): Promise<string | undefined> {
  const { embedded, apiSecret, baseUrl, apiKey } = settings;
  if (embedded) return 'the sandbox itself';
  if (apiSecret !== undefined) return 'the environment';
  const kept = await secrets.load(credentialName(baseUrl ?? '', apiKey ?? ''));
  return kept === undefined ? undefined : secrets.where(kept.place);
}

/**
 * Returns the token store of the chosen service and API key, or undefined if the service or the key
 * is unknown.
 */
export const tokenStore = async ({
  settings,
  embedded,
  tokens,
}: Context): Promise<KeptTokens | undefined> =>
  settings.embedded ? (await embedded()).tokens : tokens();
