// Lightning Addresses and LNURLs: whose they are. The service's own users have one each; all others are simulated.
import { decodeLnurl, parseLightningAddress } from '../../formats/lnurl.js';
import { findAccount, type Account } from './accounts.js';
import type { Context } from './context.js';
import { badRequest, orRefuse } from '../wire/refusal.js';
import { unknownLnurlUser } from '../unspecified.js';

export interface LnurlTarget {
  /** The Lightning Address in lower case, or the LNURL in upper case. */
  readonly lnurlAddress: string;
  readonly user: string;
  /** The account, when it is a user of this service. */
  readonly account: Account | undefined;
}

/** Path of the LNURL-pay endpoint of a user (LUD-16), the user's name behind it. */
export const payPath = '/.well-known/lnurlp/';

/** Resolves a Lightning Address or an LNURL. Refuses one that is broken or whose user does not exist. */
export function resolveLnurl(ctx: Context, text: string): LnurlTarget {
  const place = text.includes('@') ? placeOfAddress(text) : placeOfLnurl(text);
  const isOwn = place.host === new URL(ctx.baseUrl).host;
  const account = isOwn ? findAccount(ctx.store, place.user) : undefined;
  if (place.user === unknownLnurlUser || (isOwn && account === undefined)) {
    throw badRequest('there is no such Lightning Address');
  }
  return { lnurlAddress: place.lnurlAddress, user: place.user, account };
}

function placeOfAddress(text: string) {
  const { user, domain, address } = orRefuse(() => parseLightningAddress(text));
  return { lnurlAddress: address, host: domain, user };
}

function placeOfLnurl(text: string) {
  const url = new URL(orRefuse(() => decodeLnurl(text)));
  const user = url.pathname.replace(payPath, '').split('/').at(-1) ?? '';
  return { lnurlAddress: text.toUpperCase(), host: url.host, user };
}
