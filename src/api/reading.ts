// Reads values such as numbers, instants and lists in every form that live services have sent so
// far. The readers convert values in place to the form from the specification, and report
// unrecognized values.
import type Big from 'big.js';
import { readDecimal, type WireNumber } from '../formats/amount.js';
import type * as types from './types.js';
import {
  type MisreadField,
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
} from './types.js';
import { clip, isFields, type Fields, jsonIn } from '../formats/text.js';

/** Called with a description of an unrecognized optional field. */
export type OnUnrecognized = (words: string) => void;

/** Reads a whole response. Throws {@link Misread} if a required value is missing. */
export type AnswerReader<T> = (answer: unknown, unrecognized: OnUnrecognized) => T;

/** The error for a response in which a required value is missing or invalid. */
export class Misread extends Error {
  override readonly name = 'Misread';
}

/**
 * Reads one value. A reader returns undefined for an unrecognized value, and returns a value in the
 * specified form unchanged.
 */
export interface Reader<T> {
  readonly expected: string;
  readonly read: (value: unknown) => T | undefined;
  /** The readers of the fields, if the value is an object. */
  readonly fields?: Readers;
}

/**
 * The fields of a response, each with the reader of its value. The option `--fields` accepts the
 * field names of a response.
 */
export type FieldsOf<T> = { readonly [Name in keyof T & string]-?: Reader<ReadAs<T[Name]>> };

type ReadAs<T> = unknown extends T ? unknown : Known<NonNullable<T>>;

type Known<T> = T extends Big
  ? WireNumber
  : T extends string
    ? string
    : T extends object
      ? object
      : T;

export type Readers = Readonly<Record<string, Reader<unknown>>>;

/** Reads a text, and converts an exact number to text. */
export const text: Reader<string> = {
  expected: 'a text',
  read: (value) =>
    typeof value === 'string'
      ? value
      : typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
        ? String(value)
        : undefined,
};

/** Reads a text that is not empty. */
export const name: Reader<string> = {
  expected: 'a text',
  read: (value) => text.read(value) || undefined,
};

/** Reads a word such as a state, and returns it in lower case. */
export const word: Reader<string> = {
  expected: 'a text',
  read: (value) => name.read(value)?.trim().toLowerCase() || undefined,
};

/** Reads a currency code, and returns it in upper case. */
export const currency: Reader<string> = {
  expected: 'a text',
  read: (value) => name.read(value)?.trim().toUpperCase() || undefined,
};

const flags: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['false', false],
]);

export const flag: Reader<boolean> = {
  expected: 'true or false',
  read: (value) => flags.get(typeof value === 'string' ? value.toLowerCase() : value),
};

export const decimal: Reader<WireNumber> = {
  expected: 'a number',
  read: (value) =>
    typeof value === 'number'
      ? Number.isFinite(value)
        ? value
        : undefined
      : typeof value === 'string'
        ? readDecimal(value.trim())
        : undefined,
};

export const count: Reader<number> = {
  expected: 'a whole number',
  read(value) {
    const number = decimal.read(value);
    return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
      ? number
      : undefined;
  },
};

/** Reads a status, which services send as a number or a text. */
const textOrNumber: Reader<string | number> = {
  expected: 'a text',
  read: (value) =>
    typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))
      ? value
      : undefined,
};

export const fields: Reader<Fields> = {
  expected: 'an object',
  read: (value) => (isFields(value) ? value : undefined),
};

/** Reads an object whose fields are known. */
export const object = (within: Readers): Reader<Fields> => ({ ...fields, fields: within });

/**
 * The names of the fields and of the fields within them, such as `sourceReq` and `sourceReq.ccy`.
 */
export const namesWithin = (readers: Readers, parent = ''): string[] =>
  Object.entries(readers).flatMap(([field, { fields: inner = {} }]) => [
    parent + field,
    ...namesWithin(inner, `${parent}${field}.`),
  ]);

/**
 * A number from `earliestSeconds` up to `earliestMs` is an instant in seconds, and every other
 * number is an instant in milliseconds.
 */
const earliestSeconds = 1e8;
const earliestMs = 1e11;
/** The end of the year 9999, in epoch ms. */
const latestMs = 253_402_300_799_999;

/**
 * Reads an instant as epoch ms, from epoch ms or epoch seconds as number or text, or from ISO 8601.
 * A time in ISO 8601 without a zone is in UTC.
 */
export const instant: Reader<number> = {
  expected: 'a time',
  read(value) {
    if (typeof value === 'string' && !/^\s*-?[\d.]+\s*$/.test(value)) return isoInstant(value);
    const number = decimal.read(value);
    if (typeof number !== 'number' || number < 0 || number > latestMs) return undefined;
    return Math.round(number >= earliestSeconds && number < earliestMs ? number * 1000 : number);
  },
};

const iso =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?) ?(Z|UTC|[+-]\d\d(?::?\d\d)?)?)?$/i;

function isoInstant(value: string): number | undefined {
  const [, day, time = '00:00', zone = 'Z'] = iso.exec(value.trim()) ?? [];
  if (day === undefined) return undefined;
  const offset = /^[+-]/.test(zone)
    ? `${zone.slice(0, 3)}:${zone.replace(':', '').slice(3) || '00'}`
    : 'Z';
  const at = Date.parse(`${day}T${time.replace(',', '.')}${offset}`);
  return at >= 0 && at <= latestMs ? at : undefined;
}

/**
 * Converts the fields of an object in place, with the objects in it. An unrecognized value becomes
 * null, and is in the result.
 */
export function readInPlace(of: Fields, readers: Readers, where = ''): MisreadField[] {
  const misread: MisreadField[] = [];
  for (const field in readers) {
    const value = of[field];
    const reader = readers[field];
    if (reader === undefined || value === undefined || value === null) continue;
    const read = reader.read(value);
    if (reader.fields !== undefined && isFields(read))
      misread.push(...readInPlace(read, reader.fields, `${where}${field}.`));
    if (read === value) continue;
    of[field] = read ?? null;
    if (read === undefined) misread.push({ path: where + field, value, expected: reader.expected });
  }
  return misread;
}

/** Describes a field that {@link readInPlace} could not read. */
export const misreadText = ({ path, value, expected }: MisreadField): string =>
  misreading(path, value, expected);

/** Converts the fields of an object in place, and reports the unrecognized values. */
function readObject<T extends Fields>(
  of: T,
  readers: Readers,
  unrecognized: OnUnrecognized,
  where = '',
): T {
  readInPlace(of, readers, where).map(misreadText).forEach(unrecognized);
  return of;
}

function required<T>(of: Fields, field: string, reader: Reader<T>): T {
  const value = of[field];
  const read = value === undefined || value === null ? undefined : reader.read(value);
  if (read === undefined) throw new Misread(misreading(field, value, reader.expected));
  return read;
}

/**
 * Describes an unreadable field with a text such as `amount is missing` or
 * `amount is "abc", a number was expected`.
 */
export function misreading(field: string, value: unknown, expected: string): string {
  if (value === undefined || value === null || value === '') return `${field} is missing`;
  return `${field} is ${shown(value)}, ${expected} was expected`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return clip(typeof value === 'string' ? JSON.stringify(value) : String(value));
}

/**
 * Unwraps a response from nested `data` objects: returns the outermost object that has one of the
 * fields in `anyOf`, or the innermost value if no object has any of these fields.
 */
export function within(answer: unknown, ...anyOf: readonly string[]): unknown {
  let inner = answer;
  while (isFields(inner) && 'data' in inner && !hasAny(inner, anyOf)) inner = inner['data'];
  return inner;
}

const hasAny = (of: Fields, anyOf: readonly string[]): boolean =>
  anyOf.some((field) => of[field] !== undefined && of[field] !== null);

/**
 * Returns the object that {@link within} finds in a response, or throws {@link Misread} if the
 * object has none of the fields in `anyOf`.
 */
function unwrapped(answer: unknown, ...anyOf: readonly string[]): Fields {
  const found = within(answer, ...anyOf);
  if (isFields(found) && hasAny(found, anyOf)) return found;
  throw new Misread(
    isFields(answer) ? `${anyOf[0]} is missing` : misreading('the answer', answer, 'an object'),
  );
}

/**
 * Returns the rows of a list, whether the list is bare or wrapped in `data`. A list that is null
 * counts as empty.
 */
export function rowsOf(answer: unknown): unknown[] {
  const list = within(answer);
  if (list === null) return [];
  if (Array.isArray(list)) return list;
  throw new Misread(
    list === answer && isFields(answer)
      ? 'data is missing'
      : misreading('the list', list, 'a list'),
  );
}

/**
 * Returns a reader that returns the readable rows of a list, and reports the unreadable rows.
 * The reader throws {@link Misread} if every row is unreadable.
 */
function readEach<T>(
  what: string,
  read: (row: Fields, unrecognized: OnUnrecognized) => T,
): AnswerReader<T[]> {
  return (answer, unrecognized) => {
    const understood: T[] = [];
    const others: string[] = [];
    rowsOf(answer).forEach((row, index) => {
      try {
        if (!isFields(row)) throw new Misread(misreading('it', row, 'an object'));
        understood.push(read(row, unrecognized));
      } catch (error) {
        if (!(error instanceof Misread)) throw error;
        others.push(`${what} ${index + 1} of the list: ${error.message}`);
      }
    });
    const [first] = others;
    if (understood.length === 0 && first !== undefined) throw new Misread(first);
    others.forEach(unrecognized);
    return understood;
  };
}

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
    readObject(pagination, paginationFields, unrecognized, 'pagination.');
  return { ...around, data, pagination };
}

const paginationFields = { page: count, limit: count, total: count } satisfies FieldsOf<Pagination>;

function readRow(row: unknown, index: number, unrecognized: OnUnrecognized): ListedTransaction {
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

export const readWallets = readEach('wallet', (row, unrecognized): types.Wallet => {
  const ccy = required(row, 'ccy', currency);
  return Object.assign(readObject(row, walletFields, unrecognized, `${ccy} wallet: `), { ccy });
});

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
  return readObject(isWrapped ? inner : answer, accountFields, unrecognized);
}

const around: ReadonlySet<string> = new Set(['data', 'resultStatus', 'message', 'code']);

const addressFields = ['staticOnchainAddress', 'staticStablecoinOnchainAddress'] as const;

export function readBitcoinAddress(answer: unknown): Fields & types.BitcoinAddress {
  const row = unwrapped(answer, ...addressFields);
  const [usual, other] = addressFields;
  const staticOnchainAddress = required(row, row[usual] == null ? other : usual, name);
  return Object.assign(row, { staticOnchainAddress });
}

export const usdtAddressFields = {
  staticOnchainAddress: name,
  walletCcy: text,
  chainId: text,
  accountId: text,
} satisfies FieldsOf<types.UsdtAddress>;

export const readUsdtAddress: AnswerReader<types.UsdtAddress> = (answer, unrecognized) =>
  readObject(readBitcoinAddress(answer), usdtAddressFields, unrecognized);

export const webhookFields = {
  id: name,
  callback: name,
  createdAt: instant,
} satisfies FieldsOf<types.Webhook>;

function webhookOf(row: Fields, unrecognized: OnUnrecognized): types.Webhook {
  const [id, callback] = [required(row, 'id', name), required(row, 'callback', name)];
  return Object.assign(readObject(row, webhookFields, unrecognized), { id, callback });
}

export const readWebhook: AnswerReader<types.Webhook> = (answer, unrecognized) =>
  webhookOf(unwrapped(answer, 'id', 'callback'), unrecognized);

export const readWebhooks = readEach('webhook', webhookOf);

/**
 * Reads the banks, followed by the mobile wallets. The response may have a list of banks and a list
 * of mobile wallets, or a single list of both. A missing list counts as empty.
 */
export const readInstitutions: AnswerReader<types.Institution[]> = (answer, unrecognized) => {
  const outer = within(answer, 'banks', 'mobiles');
  const isEmpty = isFields(outer) && Object.keys(outer).every((field) => around.has(field));
  if (outer === undefined || isEmpty) return [];
  if (!isFields(outer)) return institutionRows(undefined)(outer, unrecognized);
  const { banks, mobiles } = outer;
  if (banks === undefined && mobiles === undefined)
    throw new Misread('banks and mobiles are missing');
  return [
    ...institutionRows('bank')(banks ?? null, unrecognized),
    ...institutionRows('mobile')(mobiles ?? null, unrecognized),
  ];
};

const institutionFields = {
  institutionCode: name,
  institutionType: word,
  institutionName: text,
} satisfies FieldsOf<types.Institution>;

const institutionRows = (type: string | undefined) =>
  readEach('institution', (row, unrecognized): types.Institution => {
    const institutionCode = required(row, 'institutionCode', name);
    const { institutionType = type } = readObject(row, institutionFields, unrecognized);
    return Object.assign(row, {
      institutionCode,
      institutionType: word.read(institutionType) ?? type,
    });
  });

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
