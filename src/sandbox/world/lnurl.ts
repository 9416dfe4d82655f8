// Resolves Lightning Addresses and LNURLs. Each user of the service has a Lightning Address and an
// LNURL. The sandbox simulates all users of other services.
import { decodeLnurl, parseLightningAddress } from '../../formats/lnurl.js';
import { findAccount } from './accounts.js';
import type { Context } from './context.js';
import { badRequest, orRefuse } from '../wire/refusal.js';
import { unknownLnurlUser } from '../unspecified.js';

/** The path prefix of a user's LNURL-pay endpoint (LUD-16). */
export const payPath = '/.well-known/lnurlp/';

/**
 * Resolves a Lightning Address or LNURL. In the result, `account` is set if the recipient is a user
 * of this service. Throws a `Refusal` for an invalid text and for an unknown recipient.
 */
export function resolveLnurl(ctx: Context, text: string) {
  const { lnurlAddress, host, user } = text.includes('@')
    ? placeOfAddress(text)
    : placeOfLnurl(text);
  const isOwn = host === new URL(ctx.baseUrl).host;
  const account = isOwn ? findAccount(ctx.store, user) : undefined;
  if (user === unknownLnurlUser || (isOwn && account === undefined))
    throw badRequest('there is no such Lightning Address');
  return { lnurlAddress, user, account };
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
