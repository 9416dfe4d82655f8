// The Lightning Address of an account. The specification does not show the fields of an account record, so it is looked
// for by what its name says and its value is.
import { Failure } from '../../formats/failure.js';
import { parseLightningAddress, type LightningAddress } from '../../formats/lnurl.js';
import type { Fields } from '../../formats/unknown.js';

const names = /^(ln|lightning|lnurl)_?(pay)?_?(address|identifier)$/i;

/** Throws Failure `not-found` where the record names none. */
export function lightningAddressOf(account: Fields): LightningAddress {
  const found = Object.entries(account).find(([name, value]) => names.test(name) && typeof value === 'string' && value !== '');
  if (typeof found?.[1] === 'string') return parseLightningAddress(found[1]);
  throw new Failure('not-found', 'The account record has no Lightning Address.', {
    hint: 'Ask the service for one.',
  });
}
