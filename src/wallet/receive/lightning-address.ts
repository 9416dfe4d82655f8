// The Lightning Address of an account. The specification does not define the fields of account
// records, so it is found by field name and value.
import { Failure } from '../../formats/failure.js';
import { parseLightningAddress, type LightningAddress } from '../../formats/lnurl.js';
import type { Fields } from '../../formats/unknown.js';

const names = /^(ln|lightning|lnurl)_?(pay)?_?(address|identifier)$/i;

/** Throws Failure `not-found` if the record has no Lightning Address. */
export function lightningAddressOf(account: Fields): LightningAddress {
  const found = Object.entries(account).find(
    ([name, value]) => names.test(name) && typeof value === 'string' && value !== '',
  );
  if (typeof found?.[1] === 'string') return parseLightningAddress(found[1]);
  throw new Failure('not-found', 'The account record has no Lightning Address.', {
    hint: 'Ask the service for one.',
  });
}
