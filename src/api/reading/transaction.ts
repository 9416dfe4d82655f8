// Reads single transactions and pages of transactions, even if the service omits some of their
// fields.
import { isFields, type Fields } from '../../formats/text.js';
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
  count,
  currency,
  decimal,
  flag,
  instant,
  readInPlace,
  misreading,
  misreadText,
  name,
  object,
  required,
  rowsOf,
  text,
  textOrNumber,
  unwrapped,
  within,
  word,
  type FieldsOf,
  type OnUnrecognized,
  type Reader,
  type Readers,
} from './readers.js';

/** The fields within `reqDetails`, each with its reader. */
export const detailFields = {
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
export const identityFields = {
  type: text,
  details: object(personFields),
} satisfies FieldsOf<Identity>;

/** The fields of each side of a transaction, each with its reader. */
export const sideFields = {
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
