// Detects the destination in a pasted text: an invoice, an address, an LNURL (LUD-01), a Lightning
// Address (LUD-16), or a Bitcoin payment URI (BIP21 and BIP321) that contains one of these.
import { btcFromMsat, fixed, parseAmount } from './amount.js';
import {
  parseBitcoinAddress,
  type BitcoinAddress,
  type EvmAddress,
  parseEvmAddress,
  parseTronAddress,
  type TronAddress,
  changed,
  normaliseBech32,
} from './address.js';
import { decodeInvoice, type Invoice } from './bolt11/decode.js';
import { type Failure, invalid } from './failure.js';
import { clip } from './text.js';
import { bech32 } from '@scure/base';
import type Big from 'big.js';

/** The content of a `bitcoin:` URI. */
export interface Bip21 {
  readonly address?: string | undefined;
  /** The requested amount in BTC. */
  readonly amount?: Big | undefined;
  readonly label?: string | undefined;
  readonly message?: string | undefined;
  /** The BOLT11 invoice in the `lightning` parameter. */
  readonly lightning?: string | undefined;
  /** The segwit addresses in the parameters `bc`, `tb` and `bcrt`. */
  readonly segwitAddresses: readonly string[];
  /** The names of the other payment methods in the URI, such as `lno`, `sp` or `pay`. */
  readonly otherMethods: readonly string[];
}

interface Parameter {
  readonly key: string;
  readonly value: string;
  readonly required: boolean;
}

const singleKeys = ['amount', 'label', 'message', 'lightning'];
const segwitKeys = ['bc', 'tb', 'bcrt'];
const otherMethodKeys = ['lno', 'sp', 'pay'];
const knownKeys = [...singleKeys, ...segwitKeys, ...otherMethodKeys];

/**
 * Reads a `bitcoin:` URI. The scheme and the keys of the URI may have any letter case. Throws
 * Failure `usage` for an invalid URI.
 */
export function parseBip21(uri: string): Bip21 {
  const [, address, query = ''] = /^bitcoin:([0-9a-z]*)(?:\?([^#]*))?(?:#.*)?$/i.exec(uri) ?? [];
  if (address === undefined)
    throw broken('the URI does not have the form bitcoin:ADDRESS?amount=…');
  const parameters = query
    .split('&')
    .filter((part) => part !== '')
    .map(readParameter);
  const unknown = parameters.find(({ key, required }) => required && !knownKeys.includes(key));
  if (unknown) throw broken(`the URI requires "req-${unknown.key}", which svcpay does not support`);

  const valuesOf = (...keys: string[]): string[] =>
    parameters.filter(({ key }) => keys.includes(key)).map(({ value }) => value);
  const twice = [...singleKeys, 'pop'].find((key) => valuesOf(key).length > 1);
  if (twice !== undefined) throw broken(`"${twice}" occurs twice`);
  const single = (key: string): string | undefined => valuesOf(key)[0];
  const amount = single('amount');
  const result = {
    address: address === '' ? undefined : address,
    amount: amount === undefined ? undefined : readAmount(amount),
    label: single('label'),
    message: single('message'),
    lightning: single('lightning'),
    segwitAddresses: segwitKeys.flatMap((key) =>
      valuesOf(key).map((value) => checkPrefix(key, value)),
    ),
    otherMethods: otherMethodKeys.filter((key) => single(key) !== undefined),
  };
  const ways =
    result.address ?? result.lightning ?? result.segwitAddresses[0] ?? result.otherMethods[0];
  if (ways === undefined) throw broken('the URI has no address and no invoice');
  return result;
}

/** Writes a `bitcoin:` URI with the amount in BTC. */
export const formatBip21 = (address: string, amount?: Big): string =>
  `bitcoin:${address}${amount === undefined ? '' : `?amount=${fixed(amount)}`}`;

function readParameter(part: string): Parameter {
  const equals = part.indexOf('=');
  const [name, value] = equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
  const [, required, key = ''] = /^(req-)?(.*)$/s.exec(decode(name).toLowerCase()) ?? [];
  return { key, value: decode(value), required: required !== undefined };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw broken(`the part "${text}" is not percent-encoded UTF-8`);
  }
}

/** Reads an amount in BTC. BIP21 allows `.5` and `5.`, unlike svcpay's own grammar for amounts. */
function readAmount(text: string): Big {
  const [, integer = '', fraction = ''] = /^(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  if (integer + fraction === '') throw broken(`the amount "${text}" is not an amount in BTC`);
  return parseAmount(`${integer || '0'}${fraction && `.${fraction}`}btc`).value;
}

function checkPrefix(key: string, value: string): string {
  if (!value.toLowerCase().startsWith(`${key}1`))
    throw broken(`the parameter "${key}" requires an address that begins with ${key}1`);
  return value;
}

const broken = (what: string): Failure =>
  invalid(`This bitcoin: URI cannot be used: ${what}. Ask for a new URI, or for the address.`);

/** A Lightning Address `user@domain`, split at the `@`. */
export interface LightningAddress {
  readonly user: string;
  readonly domain: string;
  /** The complete address `user@domain` in lower case. */
  readonly address: string;
}

const lnurlNoun = 'LNURL';
const longestLnurl = 4096;

/**
 * Decodes a bech32 LNURL to its URL. The URL must begin with `https://`, or with `http://` if the
 * host is an onion host or this machine. Throws Failure `usage`.
 */
export function decodeLnurl(text: string): string {
  if (text.length > longestLnurl)
    throw invalid('This is too long for an LNURL. Copy only the LNURL.');
  if (!/^lnurl/i.test(text)) throw invalid('This is not an LNURL. LNURLs begin with LNURL1.');
  const decoded = bech32.decodeUnsafe(normaliseBech32(text, lnurlNoun), false);
  if (!decoded || decoded.prefix !== 'lnurl') throw changed(lnurlNoun, 'the checksum is wrong');
  const bytes = bech32.fromWordsUnsafe(decoded.words);
  const url = bytes && new TextDecoder().decode(bytes);
  if (!url || !isServiceUrl(url)) {
    throw invalid('This LNURL does not lead to an https address. Ask for a new LNURL.');
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
    throw invalid(
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

/**
 * A `bitcoin:` URI with a valid address, a valid invoice, or both. The address and the invoice of a
 * URI are for the same network, and the URI and its invoice request the same amount.
 */
export interface Bip21Destination extends Bip21 {
  readonly bitcoin: BitcoinAddress | null;
  readonly invoice: Invoice | null;
}

/**
 * A detected destination. `text` is the destination as svcpay sends it, and `value` is its parsed
 * content.
 */
export type Destination =
  | { readonly kind: 'bolt11'; readonly text: string; readonly value: Invoice }
  | { readonly kind: 'bitcoin-address'; readonly text: string; readonly value: BitcoinAddress }
  | { readonly kind: 'tron-address'; readonly text: string; readonly value: TronAddress }
  | { readonly kind: 'evm-address'; readonly text: string; readonly value: EvmAddress }
  | { readonly kind: 'lnurl'; readonly text: string; readonly value: { readonly url: string } }
  | { readonly kind: 'lightning-address'; readonly text: string; readonly value: LightningAddress }
  | { readonly kind: 'bip21'; readonly text: string; readonly value: Bip21Destination };

const maxLength = 8192;
/** The maximum length of a pasted text, including the indents that an e-mail adds to each line. */
const longestPaste = 8 * maxLength;

/**
 * Reads any destination, with or without a `lightning:` or `bitcoin:` prefix. Ignores line breaks,
 * indentation and spaces that come from copying. Throws Failure `usage` with the reason, such as a
 * wrong checksum.
 */
export function detectDestination(
  input: string,
  readInvoice: (text: string) => Invoice = decodeInvoice,
): Destination {
  const text = input.length > longestPaste ? input : unbroken(input);
  if (text.length > maxLength) {
    throw invalid('This is too long for a destination. Copy only the destination.');
  }
  if (/^bitcoin:/i.test(text)) return { kind: 'bip21', text, value: checkBip21(parseBip21(text)) };
  // Some wallets append a query to an invoice. svcpay ignores the query, because only the invoice
  // is signed.
  const [, inUri] = /^lightning:(?:\/\/)?([^?#]*?)\/?(?:[?#].*)?$/is.exec(text) ?? [];
  const given = inUri ?? lnurlInWeb(text) ?? text;
  const kinds = inUri === undefined ? anywhere : lightning;
  const read = kinds.find(([beginning]) => beginning.test(given))?.[1];
  if (read === undefined) throw notDestination(text);
  return read(given, readInvoice);
}

/** Matches white space and invisible characters. */
const blanks = /[\s\u200B-\u200D\u2060\uFEFF]+/g;

/**
 * Removes white space from a pasted text, except within the label and the message of a URI. In a
 * text with an `@`, removes white space only around each line.
 */
function unbroken(input: string): string {
  const joined = input
    .split('\n')
    .map((line) => line.trim())
    .join('');
  if (joined.includes('@')) return joined;
  if (!/^bitcoin:/i.test(joined)) return joined.replace(blanks, '');
  const parts = joined.split(/(?=[?&])/);
  return parts
    .map((part) => (/^[?&](?:label|message)=/i.test(part) ? part : part.replace(blanks, '')))
    .join('');
}

/**
 * Reads an LNURL in the form of a web address, as in `lnurlp://domain/path` (LUD-17), or the
 * fallback `https://...?lightning=LNURL1...` (LUD-01).
 */
function lnurlInWeb(text: string): string | undefined {
  const [, rest] = /^lnurlp:\/\/(.+)$/is.exec(text) ?? [];
  if (rest !== undefined)
    return encodeLnurl(`${/^[^/?#]*\.onion(?:[:/?#]|$)/i.test(rest) ? 'http' : 'https'}://${rest}`);
  return /^https?:\/\/[^?#]*\?(?:[^#]*&)?lightning=(lnurl1[a-z0-9]+)/i.exec(text)?.[1];
}

/** The beginning of each kind of text, and the function that reads it. */
type Recognisers = readonly (readonly [
  RegExp,
  (text: string, readInvoice: (text: string) => Invoice) => Destination,
])[];

const addressed = <K extends Destination['kind'], V extends { readonly address: string }>(
  kind: K,
  value: V,
) => ({ kind, text: value.address, value });

const lightning: Recognisers = [
  [/@/, (text) => addressed('lightning-address', parseLightningAddress(text))],
  [
    /^lnurl1/i,
    (text) => ({ kind: 'lnurl', text: text.toUpperCase(), value: { url: decodeLnurl(text) } }),
  ],
  [
    /^ln[a-z]{2,5}\d/i,
    (text, readInvoice) => {
      const value = readInvoice(text);
      return { kind: 'bolt11', text: value.invoice, value };
    },
  ],
];

const bitcoin = (text: string) => addressed('bitcoin-address', parseBitcoinAddress(text));

const anywhere: Recognisers = [
  ...lightning,
  [/^0x/i, (text) => addressed('evm-address', parseEvmAddress(text))],
  // The pattern of a TRON address excludes upper-case Bitcoin testnet addresses, which also start
  // with T and occur in QR codes.
  [/^T(?!B1[0-9A-Z]+$)\w{24,}$/, (text) => addressed('tron-address', parseTronAddress(text))],
  [/^(?:bc|tb|bcrt)1/i, bitcoin],
  [/^[123mn]\w{24,}$/, bitcoin],
];

function checkBip21(uri: Bip21): Bip21Destination {
  const inPath = uri.address === undefined ? [] : [uri.address];
  const addresses = [...inPath, ...uri.segwitAddresses].map(parseBitcoinAddress);
  const invoice = uri.lightning === undefined ? null : decodeInvoice(uri.lightning);
  const [bitcoin = null] = addresses;
  if (bitcoin === null && invoice === null) {
    throw invalid(
      'This bitcoin: URI has no address and no Lightning invoice. ' +
        'Ask for an address or an invoice.',
    );
  }
  const nets = [
    ...addresses.map(({ network }) => network),
    ...(invoice ? [addressNetwork(invoice)] : []),
  ];
  if (new Set(nets).size > 1) {
    throw invalid(
      'The addresses and the invoice of this bitcoin: URI are for different networks. ' +
        'Ask for a new URI.',
    );
  }
  const invoiced = invoice?.amountMsat == null ? undefined : btcFromMsat(invoice.amountMsat);
  if (invoiced && uri.amount && !uri.amount.eq(invoiced)) {
    const [one, other] = [fixed(uri.amount), fixed(invoiced)];
    throw invalid(
      `This bitcoin: URI asks for ${one} BTC, but its invoice asks for ${other} BTC. ` +
        'Ask for a new URI.',
    );
  }
  return { ...uri, bitcoin, invoice };
}

/**
 * Returns the network of the addresses that belong to an invoice. Addresses of a signet invoice
 * count as testnet addresses, because signet and testnet addresses look the same.
 */
const addressNetwork = ({ network }: Invoice): BitcoinAddress['network'] =>
  network === 'signet' ? 'testnet' : network;

const recognised: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\d[\d. ]{0,20}(?:[a-z]{3,4})?$/i, 'an amount. Write the destination first, then the amount'],
  [/^lno1/i, 'a BOLT12 offer, which svcpay cannot pay. Ask for a Lightning invoice'],
  [/^t?sp1/i, 'a silent payment address, which svcpay cannot pay. Ask for a Bitcoin address'],
  [
    /^(?:https?|lnurlp|keyauth):/i,
    'a web address. Copy the invoice, the LNURL or the address from its page',
  ],
  [/^[0-9a-f]{40}$/i, 'not a destination. If it is an Ethereum address, write 0x before it'],
  [/^$/, 'empty. Give an invoice, an address, an LNURL or a Lightning Address'],
];

function notDestination(text: string): Failure {
  const what = recognised.find(([pattern]) => pattern.test(text))?.[1];
  const shown = `"${clip(text)}"`;
  return invalid(
    what === undefined
      ? `${shown} is not an invoice, address, LNURL or Lightning Address.`
      : `${text === '' ? 'The destination' : shown} is ${what}.`,
  );
}
