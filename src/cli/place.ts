// Whose wallets these are: the profile, the service and the account that a command acts on.
import type { Place } from '../terminal/wallet-view.js';
import type { Context } from './context.js';

export async function placeOf({ settings, client }: Pick<Context, 'settings' | 'client'>): Promise<Place> {
  const { profileName, embedded, baseUrl } = settings;
  return {
    profile: profileName,
    service: embedded ? 'embedded sandbox' : new URL(baseUrl ?? '').host,
    accountId: await (await client()).accountId(),
  };
}
