// Whether an invoice or an address belongs to the Bitcoin network that the profile is on.
import { Failure } from '../../formats/failure.js';
import type { BitcoinNetwork } from '../../formats/address/network.js';
import type { Network } from '../../store/profile/profiles.js';

export const isOnNetwork = (actual: BitcoinNetwork, wanted: Network): boolean => wanted === 'any' || actual === wanted;

/**
 * Throws Failure `usage` when a destination is of another network: the money would be lost.
 *
 * @param noun what it is, as in `invoice`
 */
export function checkNetwork(noun: string, actual: BitcoinNetwork, wanted: Network): void {
  if (isOnNetwork(actual, wanted)) return;
  throw new Failure('usage', `Not sent: this is a ${actual} ${noun}, and your profile is on ${wanted}.`, {
    hint: `Ask for one on ${wanted}, or choose another profile.`,
  });
}
