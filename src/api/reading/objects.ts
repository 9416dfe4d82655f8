// Reads the responses of each endpoint, even if the service omits some of their fields.
import type { WireNumber } from '../../formats/amount.js';
import { isFields, jsonIn, type Fields } from '../../formats/text.js';
import type * as types from '../types.js';
import {
  misread,
  type Identity,
  type ListedTransaction,
  type Pagination,
  type Person,
  type RequestDetails,
  type RequestSide,
  type SourceOfFunds,
  type Transaction,
  type TransactionPage,
} from '../types.js';
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
  count,
  flag,
  textOrNumber,
  type Reader,
  type Readers,
} from './readers.js';

/** The fields within `reqDetails`, each with its reader. */
const detailFields = {
  paymentRequest: text,
  invoicePageUrl: text,
  address: text,
  amount: decimal,
  invoice: text,
  expiredAt: textOrNumber,
  lnurlAddress: text,
  lnurl: text,
  acctName: text,
  acctNum: text,
  bankAcctNum: text,
  accountNumber: text,
  institutionCode: text,
  institutionName: text,
  confirmations: count,
  requiredConfirmations: count,
} satisfies FieldsOf<RequestDetails>;

/** The fields within `kyc.details`, each with its reader. */
export const personFields = {
  legalFullName: text,
  countryCode: text,
  contactNumber: text,
  address1: text,
} satisfies FieldsOf<Person>;

/** The fields within `kyc`, each with its reader. */
const identityFields = {
  type: text,
  details: object(personFields),
} satisfies FieldsOf<Identity>;

/** The fields of each side of a transaction, each with its reader. */
const sideFields = {
  ccy: currency,
  method: text,
  amtRequested: decimal,
  amtSettled: decimal,
  reqDetails: object(detailFields),
  kyc: object(identityFields),
  servicepayFees: decimal,
  networkFees: decimal,
  reqStatus: textOrNumber,
  expiresAt: instant,
  createAt: instant,
  updatedAt: instant,
} satisfies FieldsOf<RequestSide>;

/** Reads the details of an order as the details of a transaction. */
export function detailsOf(details: object = {}): RequestDetails {
  const copy = { ...details };
  readInPlace(copy, detailFields);
  return copy;
}

export const deductions = [
  'deductNetworkFeesFromDest',
  'deductServicepayFees',
  'deductNetworkFees',
] as const;

/** The fields within `sourceOfFunds`, each with its reader. */
export const codeFields = {
  purpose: count,
  source: count,
  relationship: count,
} satisfies FieldsOf<SourceOfFunds>;

const names = { txnId: name, txnState: word };
const others = {
  accountId: text,
  accountDisplayName: text,
  extRefId: text,
  note: text,
  sourceOfFunds: object(codeFields),
  fxRate: decimal,
  createdAt: instant,
  deductNetworkFeesFromDest: flag,
  deductServicepayFees: flag,
  deductNetworkFees: flag,
  sourceReq: object(sideFields),
  destReq: object(sideFields),
};

/**
 * The fields of a transaction, each with its reader. The option `--fields` accepts the names of
 * these fields and of the fields within them.
 */
export const transactionFields = {
  ...names,
  ...others,
} satisfies FieldsOf<Transaction>;

interface FieldReader {
  readonly field: string;
  readonly read: Reader<unknown>['read'];
  readonly within: readonly FieldReader[];
}

const named = (readers: Readers): readonly FieldReader[] =>
  Object.entries(readers).map(([field, { read, fields = {} }]) => ({
    field,
    read,
    within: named(fields),
  }));

const ofTransaction = named(transactionFields);

/** Whether every value of an object is in the form from the specification. */
function isInForm(of: Fields, readers: readonly FieldReader[]): boolean {
  for (const { field, read, within } of readers) {
    const value = of[field];
    if (value === undefined || value === null) continue;
    if (read(value) !== value) return false;
    if (within.length > 0 && isFields(value) && !isInForm(value, within)) return false;
  }
  return true;
}

/**
 * Whether a row already has the form from the specification. For long histories, `isSpecified` is
 * faster than reading each field.
 */
const isSpecified = (row: Fields): row is Fields & Transaction =>
  typeof row['txnId'] === 'string' &&
  typeof row['txnState'] === 'string' &&
  isFields(row['sourceReq']) &&
  isFields(row['destReq']) &&
  isInForm(row, ofTransaction);

/**
 * Reads a transaction. The id and the state are required, and `unrecognized` reports every other
 * field that is unreadable.
 */
export function readTransaction(answer: unknown, unrecognized: OnUnrecognized): Transaction {
  const row = unwrapped(answer, 'txnId');
  return withSides(
    row,
    required(row, 'txnId', name),
    required(row, 'txnState', word),
    unrecognized,
  );
}

/** Reads the response to a confirmation or cancellation, which may not contain the transaction. */
export function readTransactionIfThere(
  answer: unknown,
  unrecognized: OnUnrecognized,
): Transaction | undefined {
  const inner = within(answer, 'txnId');
  if (isFields(answer) && !(isFields(inner) && 'txnId' in inner)) return undefined;
  return readTransaction(answer, unrecognized);
}

/**
 * Reads a page of transactions. An unrecognized row keeps its place in the page, with an empty id
 * and an empty state.
 */
export function readTransactionPage(
  answer: unknown,
  unrecognized: OnUnrecognized,
): TransactionPage {
  const data = rowsOf(answer).map((row, index) => readRow(row, index, unrecognized));
  const around = isFields(answer) ? answer : {};
  const pagination = isFields(around['pagination']) ? around['pagination'] : undefined;
  if (pagination !== undefined)
    readInPlace(pagination, paginationFields, 'pagination.').map(misreadText).forEach(unrecognized);
  return { ...around, data, pagination };
}

const paginationFields = { page: count, limit: count, total: count } satisfies FieldsOf<Pagination>;

function readRow(row: unknown, index: number, unrecognized: OnUnrecognized): ListedTransaction {
  if (isFields(row) && isSpecified(row)) return row;
  const it = isFields(row) ? row : {};
  const [txnId, txnState] = [name.read(it['txnId']), word.read(it['txnState'])];
  const where = (words: string): void =>
    unrecognized(`transaction ${txnId ?? index + 1} of the list: ${words}`);
  if (!isFields(row)) where(misreading('it', row, 'an object'));
  else if (txnId === undefined) where(misreading('txnId', row['txnId'], 'a text'));
  else if (txnState === undefined) where(misreading('txnState', row['txnState'], 'a text'));
  return withSides(it, txnId ?? '', txnState ?? '', where);
}

function withSides(
  row: Fields,
  txnId: string,
  txnState: string,
  unrecognized: OnUnrecognized,
): Transaction {
  if (isSpecified(row)) return row;
  const unread = readInPlace(row, others);
  unread.map(misreadText).forEach(unrecognized);
  const { sourceReq, destReq } = row;
  return Object.assign(row, {
    txnId,
    txnState,
    sourceReq: isFields(sourceReq) ? sourceReq : {},
    destReq: isFields(destReq) ? destReq : {},
    ...(unread.length > 0 && { [misread]: unread }),
  });
}

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

const institutionFields = {
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
