// Reads LNURLs (LUD-01) and Lightning Addresses (LUD-16). An LNURL or Lightning Address leads to a
// URL that returns invoices.
import { bech32 } from '@scure/base';
import { changed, normaliseBech32 } from './address/encodings.js';
import { Failure } from './failure.js';

/** A Lightning Address `user@domain`, split at the `@`. */
export interface LightningAddress {
  readonly user: string;
  readonly domain: string;
  /** The complete address `user@domain` in lower case. */
  readonly address: string;
}

const noun = 'LNURL';
const maxLength = 4096;

/**
 * Decodes a bech32 LNURL to its URL. The URL must begin with `https://`, or with `http://` if the
 * host is an onion host or this machine. Throws Failure `usage`.
 */
export function decodeLnurl(text: string): string {
  if (text.length > maxLength)
    throw new Failure('usage', 'This is too long for an LNURL. Copy only the LNURL.');
  if (!/^lnurl/i.test(text))
    throw new Failure('usage', 'This is not an LNURL. LNURLs begin with LNURL1.');
  const decoded = bech32.decodeUnsafe(normaliseBech32(text, noun), false);
  if (!decoded || decoded.prefix !== 'lnurl') throw changed(noun, 'the checksum is wrong');
  const bytes = bech32.fromWordsUnsafe(decoded.words);
  const url = bytes && new TextDecoder().decode(bytes);
  if (!url || !isServiceUrl(url)) {
    throw new Failure(
      'usage',
      'This LNURL does not lead to an https address. Ask for a new LNURL.',
    );
  }
  return url;
}

/** Encodes a URL as an LNURL, in upper case for QR codes. */
export const encodeLnurl = (url: string): string =>
  bech32.encode('lnurl', bech32.toWords(new TextEncoder().encode(url)), false).toUpperCase();

/** Reads a Lightning Address (`user@domain`) in any letter case. Throws Failure `usage`. */
export function parseLightningAddress(text: string): LightningAddress {
  const address = text.toLowerCase();
  const [user = '', domain = '', ...rest] = address.split('@');
  const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
  const isUser = /^[a-z0-9][a-z0-9._+-]{0,63}$/.test(user);
  const domainPattern = new RegExp(`^(?:${label}(?:\\.${label})+|localhost)(?::\\d{1,5})?$`);
  const isDomain = domain.length <= 253 && domainPattern.test(domain);
  const isAscii = /^[!-~]*$/.test(text);
  if (!isAscii || !isUser || !isDomain || rest.length > 0) {
    throw new Failure(
      'usage',
      `"${text.slice(0, 90)}" is not a Lightning Address. A Lightning Address looks like ` +
        'name@example.com.',
    );
  }
  return { user, domain, address };
}

/** The URL of a Lightning Address (LUD-16). */
export const payUrl = ({ user, domain }: LightningAddress): string =>
  `https://${domain}/.well-known/lnurlp/${user}`;

/**
 * Returns the URL of a Lightning Address or an LNURL, which is the same for every spelling of a
 * destination. Returns a text that is neither a Lightning Address nor an LNURL unchanged.
 */
export function lnurlTarget(text: string): string {
  const name = text.replace(/^lightning:/i, '');
  try {
    if (/^lnurl1/i.test(name)) return new URL(decodeLnurl(name)).href;
    return name.includes('@') ? payUrl(parseLightningAddress(name)) : name;
  } catch {
    return name;
  }
}

function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  const needsNoCertificate = /(^|\.)(onion|localhost)$|^127(\.\d+){3}$|^\[::1\]$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && needsNoCertificate);
}
