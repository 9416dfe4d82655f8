// Reads the responses other than transactions: token, wallets, addresses, webhooks, institutions
// and rates.
import type { WireNumber } from '../../formats/amount.js';
import { isFields, jsonIn, type Fields } from '../../formats/text.js';
import type * as types from '../types.js';
import {
  currency,
  decimal,
  instant,
  readInPlace,
  Misread,
  misreading,
  misreadText,
  name,
  object,
  readRows,
  required,
  rowsOf,
  text,
  unwrapped,
  within,
  word,
  type FieldsOf,
  type OnUnrecognized,
} from './readers.js';
import { identityFields } from './transaction.js';

const hourMs = 3_600_000;

/**
 * Whether a value is a text that an HTTP header can contain. Messages never show an invalid token,
 * because the token may be a secret.
 */
const isToken = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);

/**
 * Reads the token response. The token's expiry is `expiredAt`, `expiresAt`, or the expiry in the
 * token's claims. If the token's expiry is missing or in the past, the token is valid for the
 * lifetime in its claims, by default for an hour. An expiry in the past means that the clocks of
 * client and service differ.
 */
export const readToken =
  (now: number) =>
  (answer: unknown): types.Token => {
    const row = unwrapped(answer, 'accessToken');
    const { accessToken, expiredAt, expiresAt } = row;
    if (!isToken(accessToken))
      throw new Misread('accessToken is missing or cannot be sent in a header');
    const accountId = required(row, 'accountId', name);
    const { exp, iat } = claimsOf(accessToken);
    const expiry = instant.read(expiredAt) ?? instant.read(expiresAt) ?? instant.read(exp);
    const life =
      typeof exp === 'number' && typeof iat === 'number' && exp > iat ? (exp - iat) * 1000 : hourMs;
    return {
      accessToken,
      accountId,
      expiresAt: expiry !== undefined && expiry > now ? expiry : now + life,
    };
  };

/** Returns the claims of a JWT, in which `exp` and `iat` are epoch seconds. */
function claimsOf(token: string): Fields {
  const claims = jsonIn(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  return isFields(claims) ? claims : {};
}

export const walletFields = {
  ccy: currency,
  id: text,
  amount: decimal,
  availableBalance: decimal,
  accountId: text,
  createdAt: text,
  updatedAt: text,
} satisfies FieldsOf<types.Wallet>;

export const readWallets = (answer: unknown, unrecognized: OnUnrecognized): types.Wallet[] =>
  readRows(
    rowsOf(answer),
    'wallet',
    (row) => {
      const ccy = required(row, 'ccy', currency);
      readInPlace(row, walletFields, `${ccy} wallet: `).map(misreadText).forEach(unrecognized);
      return Object.assign(row, { ccy });
    },
    unrecognized,
  );

/** The fields that live services use in an account record. */
export const accountFields = {
  id: text,
  accountId: text,
  displayName: text,
  accountDisplayName: text,
  status: text,
  accountStatus: text,
  country: text,
  countryCode: text,
  timezone: text,
  extId: text,
  parentAccountId: text,
  lightningAddress: text,
  kyc: object(identityFields),
  createdAt: text,
} satisfies FieldsOf<types.Account>;

/** Returns the account record without its wrapper. */
export function readAccount(answer: unknown, unrecognized: OnUnrecognized): types.Account {
  if (!isFields(answer)) throw new Misread(misreading('the answer', answer, 'an object'));
  const inner = answer['data'];
  const isWrapped = isFields(inner) && Object.keys(answer).every((field) => around.has(field));
  const account = isWrapped ? inner : answer;
  readInPlace(account, accountFields).map(misreadText).forEach(unrecognized);
  return account;
}

const around: ReadonlySet<string> = new Set(['data', 'resultStatus', 'message', 'code']);

const addressFields = ['staticOnchainAddress', 'staticStablecoinOnchainAddress'] as const;

function readAddress(answer: unknown): Fields & types.BitcoinAddress {
  const row = unwrapped(answer, ...addressFields);
  const [usual, other] = addressFields;
  const staticOnchainAddress = required(
    row,
    row[usual] === undefined || row[usual] === null ? other : usual,
    name,
  );
  return Object.assign(row, { staticOnchainAddress });
}

export const readBitcoinAddress = (answer: unknown): types.BitcoinAddress => readAddress(answer);

export const usdtAddressFields = {
  staticOnchainAddress: name,
  walletCcy: text,
  chainId: text,
  accountId: text,
} satisfies FieldsOf<types.UsdtAddress>;

export function readUsdtAddress(answer: unknown, unrecognized: OnUnrecognized): types.UsdtAddress {
  const row = readAddress(answer);
  readInPlace(row, usdtAddressFields).map(misreadText).forEach(unrecognized);
  return row;
}

export const webhookFields = {
  id: name,
  callback: name,
  createdAt: instant,
} satisfies FieldsOf<types.Webhook>;

function webhookOf(row: Fields, unrecognized: OnUnrecognized): types.Webhook {
  const [id, callback] = [required(row, 'id', name), required(row, 'callback', name)];
  readInPlace(row, webhookFields).map(misreadText).forEach(unrecognized);
  return Object.assign(row, { id, callback });
}

export const readWebhook = (answer: unknown, unrecognized: OnUnrecognized): types.Webhook =>
  webhookOf(unwrapped(answer, 'id', 'callback'), unrecognized);

export const readWebhooks = (answer: unknown, unrecognized: OnUnrecognized): types.Webhook[] =>
  readRows(rowsOf(answer), 'webhook', (row) => webhookOf(row, unrecognized), unrecognized);

/**
 * Reads the banks, followed by the mobile wallets. The response may have a list of banks and a list
 * of mobile wallets, or a single list of both. A missing list counts as empty.
 */
export function readInstitutions(
  answer: unknown,
  unrecognized: OnUnrecognized,
): types.Institution[] {
  const outer = within(answer, 'banks', 'mobiles');
  if (
    outer === undefined ||
    (isFields(outer) && Object.keys(outer).every((field) => around.has(field)))
  )
    return [];
  if (!isFields(outer)) return institutionRows(outer, undefined, unrecognized);
  const { banks, mobiles } = outer;
  if (banks === undefined && mobiles === undefined)
    throw new Misread('banks and mobiles are missing');
  return [
    ...institutionRows(banks ?? null, 'bank', unrecognized),
    ...institutionRows(mobiles ?? null, 'mobile', unrecognized),
  ];
}

export const institutionFields = {
  institutionCode: name,
  institutionType: word,
  institutionName: text,
} satisfies FieldsOf<types.Institution>;

const institutionRows = (
  list: unknown,
  type: string | undefined,
  unrecognized: OnUnrecognized,
): types.Institution[] =>
  readRows(
    rowsOf(list),
    'institution',
    (row) => {
      const institutionCode = required(row, 'institutionCode', name);
      readInPlace(row, institutionFields).map(misreadText).forEach(unrecognized);
      return Object.assign(row, {
        institutionCode,
        institutionType: word.read(row['institutionType']) ?? type,
      });
    },
    unrecognized,
  );

/**
 * Returns the rates by pair, from a bare or wrapped response. The result omits pairs without a
 * rate.
 */
export function readRates(answer: unknown, unrecognized: OnUnrecognized): types.Rates {
  const inner = within(answer);
  if (!isFields(inner)) throw new Misread(misreading('the list of rates', inner, 'an object'));
  const pairs = Object.entries(inner).filter(([pair]) => /^[A-Z]{6,10}$/.test(pair));
  const rates: Record<string, WireNumber> = {};
  for (const [pair, value] of pairs) {
    const read = decimal.read(value);
    if (read !== undefined) rates[pair] = read;
    else if (value !== null) unrecognized(misreading(pair, value, decimal.expected));
  }
  if (pairs.length === 0 && Object.keys(inner).length > 0)
    throw new Misread('the response has no currency pair such as BTCUSD');
  return rates;
}
