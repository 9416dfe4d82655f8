// Whose wallets these are: the profile, the service and the account that a command acts on; and where the secret is.
import { ifTold } from '../../formats/failure.js';
import { credentialName, type KeptTokens } from '../../store/profile/tokens.js';
import type { Place } from '../../terminal/views/wallet-view.js';
import type { Context } from '../context.js';

export async function placeOf({ settings, client }: Context): Promise<Place> {
  const { profileName, embedded, baseUrl } = settings;
  return {
    profile: profileName,
    service: embedded ? 'embedded sandbox' : new URL(baseUrl ?? '').host,
    accountId: (await ifTold((await client()).accountId())) ?? 'not signed in',
  };
}

/** Where the API secret is, in words; undefined when it is nowhere. */
export async function secretPlace({ settings, secrets }: Context): Promise<string | undefined> {
  const { embedded, apiSecret, baseUrl, apiKey } = settings;
  if (embedded) return 'the sandbox itself';
  if (apiSecret !== undefined) return 'the environment';
  const kept = await secrets.load(credentialName(baseUrl ?? '', apiKey ?? ''));
  return kept === undefined ? undefined : secrets.where(kept.place);
}

/** Where the token of the chosen service and key is kept; undefined where nothing says which. */
export const tokenStore = async ({ settings, embedded, tokens }: Context): Promise<KeptTokens | undefined> =>
  settings.embedded ? (await embedded()).tokens : tokens();
