// Detects the destination in a pasted text: an invoice, an address, an LNURL, a Lightning Address,
// or a URI that contains one of these.
import { btcFromMsat, fixed } from './amount.js';
import { parseBip21, type Bip21 } from './bip21.js';
import { parseBitcoinAddress, type BitcoinAddress } from './address/bitcoin-address.js';
import { decodeInvoice, type Invoice } from './bolt11/decode.js';
import { type EvmAddress, parseEvmAddress } from './address/evm-address.js';
import { parseTronAddress, type TronAddress } from './address/tron-address.js';
import { Failure } from './failure.js';
import { decodeLnurl, encodeLnurl, parseLightningAddress, type LightningAddress } from './lnurl.js';
import { clip } from './text.js';

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
    throw new Failure('usage', 'This is too long for a destination. Copy only the destination.');
  }
  if (/^bitcoin:/i.test(text)) return { kind: 'bip21', text, value: checkBip21(parseBip21(text)) };
  // Some wallets append a query to an invoice. svcpay ignores the query, because only the invoice
  // is signed.
  const [, inUri] = /^lightning:(?:\/\/)?([^?#]*?)\/?(?:[?#].*)?$/is.exec(text) ?? [];
  const found =
    detectLightning(inUri ?? lnurlInWeb(text) ?? text, readInvoice) ??
    (inUri === undefined ? detectAddress(text) : undefined);
  if (found === undefined) throw notDestination(text);
  return found;
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

function detectLightning(
  text: string,
  readInvoice: (text: string) => Invoice,
): Destination | undefined {
  if (text.includes('@')) {
    const value = parseLightningAddress(text);
    return { kind: 'lightning-address', text: value.address, value };
  }
  if (/^lnurl1/i.test(text))
    return { kind: 'lnurl', text: text.toUpperCase(), value: { url: decodeLnurl(text) } };
  if (/^ln[a-z]{2,5}\d/i.test(text)) {
    const value = readInvoice(text);
    return { kind: 'bolt11', text: value.invoice, value };
  }
  return undefined;
}

function detectAddress(text: string): Destination | undefined {
  if (/^0x/i.test(text)) {
    const value = parseEvmAddress(text);
    return { kind: 'evm-address', text: value.address, value };
  }
  // The pattern of a TRON address excludes upper-case Bitcoin testnet addresses, which also start
  // with T and occur in QR codes.
  if (/^T(?!B1[0-9A-Z]+$)\w{24,}$/.test(text)) {
    const value = parseTronAddress(text);
    return { kind: 'tron-address', text: value.address, value };
  }
  if (/^(?:bc|tb|bcrt)1/i.test(text) || /^[123mn]\w{24,}$/.test(text)) {
    const value = parseBitcoinAddress(text);
    return { kind: 'bitcoin-address', text: value.address, value };
  }
  return undefined;
}

function checkBip21(uri: Bip21): Bip21Destination {
  const inPath = uri.address === undefined ? [] : [uri.address];
  const addresses = [...inPath, ...uri.segwitAddresses].map(parseBitcoinAddress);
  const invoice = uri.lightning === undefined ? null : decodeInvoice(uri.lightning);
  const [bitcoin = null] = addresses;
  if (bitcoin === null && invoice === null) {
    throw new Failure(
      'usage',
      'This bitcoin: URI has no address and no Lightning invoice. ' +
        'Ask for an address or an invoice.',
    );
  }
  const nets = [
    ...addresses.map(({ network }) => network),
    ...(invoice ? [addressNetwork(invoice)] : []),
  ];
  if (new Set(nets).size > 1) {
    throw new Failure(
      'usage',
      'The addresses and the invoice of this bitcoin: URI are for different networks. ' +
        'Ask for a new URI.',
    );
  }
  const invoiced = invoice?.amountMsat == null ? undefined : btcFromMsat(invoice.amountMsat);
  if (invoiced && uri.amount && !uri.amount.eq(invoiced)) {
    const [one, other] = [fixed(uri.amount), fixed(invoiced)];
    throw new Failure(
      'usage',
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
  return new Failure(
    'usage',
    what === undefined
      ? `${shown} is not an invoice, address, LNURL or Lightning Address.`
      : `${text === '' ? 'The destination' : shown} is ${what}.`,
  );
}
