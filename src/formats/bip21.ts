// Reads and writes Bitcoin payment URIs (BIP21 and its successor BIP321). `detectDestination`, and
// not `parseBip21`, checks the addresses and the invoice in a URI.
import type { Big } from 'big.js';
import { fixed, parseAmount } from './amount.js';
import { Failure } from './failure.js';

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
  new Failure(
    'usage',
    `This bitcoin: URI cannot be used: ${what}. Ask for a new URI, or for the address.`,
  );
