// Reads single transactions and pages of transactions, even if the service omits some of their
// fields.
import { isFields, type Fields } from '../../formats/unknown.js';
import {
  misread,
  type MisreadField,
  type ListedTransaction,
  type Pagination,
  type RequestDetails,
  type RequestSide,
  type Transaction,
  type TransactionPage,
} from '../types.js';
import {
  count,
  currency,
  decimal,
  fields,
  flag,
  instant,
  readInPlace,
  misreading,
  misreadText,
  name,
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

/**
 * The fields of a transaction's side, each with its reader. The option `--fields` accepts the field
 * names of both sides of a transaction, the source and the destination.
 */
export const sideFields = {
  ccy: currency,
  method: text,
  amtRequested: decimal,
  amtSettled: decimal,
  reqDetails: fields,
  kyc: fields,
  servicepayFees: decimal,
  networkFees: decimal,
  reqStatus: textOrNumber,
  expiresAt: instant,
  createAt: instant,
  updatedAt: instant,
} satisfies FieldsOf<RequestSide>;

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

const names = { txnId: name, txnState: word };
const optional = {
  accountId: text,
  accountDisplayName: text,
  extRefId: text,
  note: text,
  sourceOfFunds: fields,
  fxRate: decimal,
  createdAt: instant,
  deductNetworkFeesFromDest: flag,
  deductServicepayFees: flag,
  deductNetworkFees: flag,
};

export const transactionFields = {
  ...names,
  ...optional,
  sourceReq: fields,
  destReq: fields,
} satisfies FieldsOf<Transaction>;

type FieldReaders = readonly { readonly field: string; readonly read: Reader<unknown>['read'] }[];

const named = (readers: Readers): FieldReaders =>
  Object.entries(readers).map(([field, { read }]) => ({ field, read }));

const ofNames = named(names);
const ofOptional = named(optional);
const ofSide = named(sideFields);
const ofDetails = named(detailFields);

/** Whether every value of an object is in the form from the specification. */
function isInForm(of: Fields, named: FieldReaders): boolean {
  for (const { field, read } of named) {
    const value = of[field];
    if (value !== undefined && value !== null && read(value) !== value) return false;
  }
  return true;
}

const isSide = (side: unknown): boolean =>
  isFields(side) &&
  isInForm(side, ofSide) &&
  (!isFields(side['reqDetails']) || isInForm(side['reqDetails'], ofDetails));

/**
 * Whether a row already has the form from the specification. For long histories, `isSpecified` is
 * faster than reading each field.
 */
const isSpecified = (row: Fields): row is Fields & Transaction =>
  typeof row['txnId'] === 'string' &&
  typeof row['txnState'] === 'string' &&
  isInForm(row, ofNames) &&
  isSide(row['sourceReq']) &&
  isSide(row['destReq']) &&
  isInForm(row, ofOptional);

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
  const fields = readInPlace(row, optional);
  const sourceReq = side(row, 'sourceReq', fields);
  const destReq = side(row, 'destReq', fields);
  const txn = Object.assign(row, { txnId, txnState, sourceReq, destReq });
  fields.map(misreadText).forEach(unrecognized);
  return fields.length === 0 ? txn : Object.assign(txn, { [misread]: fields });
}

function side(row: Fields, path: string, unrecognized: MisreadField[]): RequestSide {
  const value = row[path];
  if (isFields(value)) {
    unrecognized.push(...readInPlace(value, sideFields, `${path}.`));
    const details = value['reqDetails'];
    if (isFields(details))
      unrecognized.push(...readInPlace(details, detailFields, `${path}.reqDetails.`));
    return value;
  }
  if (value !== undefined && value !== null)
    unrecognized.push({ path, value, expected: 'an object' });
  return {};
}
