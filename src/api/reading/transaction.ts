// Reads transactions, single or paged, complete or abbreviated.
import { isFields, type Fields } from '../../formats/unknown.js';
import {
  misread,
  type ListedTransaction,
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
  name,
  required,
  rowsOf,
  text,
  textOrNumber,
  unwrapped,
  within,
  word,
  type OnUnrecognized,
  type Reader,
} from './readers.js';

type Table = readonly (readonly [string, Reader<unknown>])[];

/** Fields of a side, each with its reader; `--fields` takes their names. */
export const sideTable = [
  ['ccy', currency],
  ['method', text],
  ['amtRequested', decimal],
  ['amtSettled', decimal],
  ['reqDetails', fields],
  ['kyc', fields],
  ['servicepayFees', decimal],
  ['networkFees', decimal],
  ['reqStatus', textOrNumber],
  ['expiresAt', instant],
  ['createAt', instant],
  ['updatedAt', instant],
] as const satisfies readonly (readonly [keyof RequestSide, Reader<unknown>])[];

/** Flags that deduct fees from the destination. */
export const deductions = [
  'deductNetworkFeesFromDest',
  'deductServicepayFees',
  'deductNetworkFees',
] as const;

/** Fields of a transaction besides its id, state and sides. */
export const transactionTable = [
  ['accountId', text],
  ['accountDisplayName', text],
  ['extRefId', text],
  ['note', text],
  ['sourceOfFunds', fields],
  ['fxRate', decimal],
  ['createdAt', instant],
  ...deductions.map((field) => [field, flag] as const),
] as const satisfies readonly (readonly [keyof Transaction, Reader<unknown>])[];

const isText = (value: unknown): boolean =>
  typeof value === 'string' || value === null || value === undefined;
const isNumber = (value: unknown): boolean =>
  value === null || value === undefined || decimal.read(value) === value;
const isInstant = (value: unknown): boolean =>
  value === null || value === undefined || instant.read(value) === value;
const isCurrency = (value: unknown): boolean =>
  value === null || value === undefined || currency.read(value) === value;
const isObject = (value: unknown): boolean =>
  value === null || value === undefined || isFields(value);

const isSpecifiedSide = (side: unknown): boolean =>
  isFields(side) &&
  isCurrency(side['ccy']) &&
  isText(side['method']) &&
  isNumber(side['amtRequested']) &&
  isNumber(side['amtSettled']) &&
  isNumber(side['servicepayFees']) &&
  isNumber(side['networkFees']) &&
  isObject(side['reqDetails']) &&
  isObject(side['kyc']) &&
  isText(side['reqStatus']) &&
  isInstant(side['expiresAt']) &&
  isInstant(side['createAt']) &&
  isInstant(side['updatedAt']);

/** A fast check for the common case, because histories are long. */
const isSpecified = (row: Fields): row is Fields & Transaction =>
  isTransaction(row) &&
  isSpecifiedSide(row['sourceReq']) &&
  isSpecifiedSide(row['destReq']) &&
  isText(row['accountId']) &&
  isText(row['accountDisplayName']) &&
  isText(row['extRefId']) &&
  isText(row['note']) &&
  isObject(row['sourceOfFunds']) &&
  isNumber(row['fxRate']) &&
  isInstant(row['createdAt']) &&
  deductions.every((field) => row[field] === undefined || typeof row[field] === 'boolean');

const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Whether a row has ids and sides. */
const isTransaction = (row: Fields): row is Fields & Transaction =>
  isName(row['txnId']) &&
  isName(row['txnState']) &&
  word.read(row['txnState']) === row['txnState'] &&
  isFields(row['sourceReq']) &&
  isFields(row['destReq']);

/** Reads a transaction. Requires id and state, and reports other unrecognized fields. */
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

/** Reads a page. An unrecognized row keeps its place, with empty id and state. */
export function readTransactionPage(
  answer: unknown,
  unrecognized: OnUnrecognized,
): TransactionPage {
  const data = rowsOf(answer).map((row, index) => readRow(row, index, unrecognized));
  const around = isFields(answer) ? answer : {};
  const pagination = isFields(around['pagination']) ? around['pagination'] : undefined;
  if (pagination !== undefined)
    readInPlace(pagination, paginationTable, unrecognized, 'pagination.');
  return { ...around, data, pagination };
}

const paginationTable: Table = [
  ['page', count],
  ['limit', count],
  ['total', count],
];

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
  const unrecognizedFields: string[] = [];
  readInPlace(row, transactionTable, (words) => unrecognizedFields.push(words));
  const sourceReq = side(row, 'sourceReq', (words) => unrecognizedFields.push(words));
  const destReq = side(row, 'destReq', (words) => unrecognizedFields.push(words));
  const txn = Object.assign(row, { txnId, txnState, sourceReq, destReq });
  unrecognizedFields.forEach(unrecognized);
  return unrecognizedFields.length === 0
    ? txn
    : Object.assign(txn, { [misread]: unrecognizedFields });
}

function side(row: Fields, which: string, unrecognized: OnUnrecognized): RequestSide {
  const value = row[which];
  if (!isFields(value)) {
    if (value !== undefined && value !== null) unrecognized(misreading(which, value, 'an object'));
    return {};
  }
  readInPlace(value, sideTable, unrecognized, `${which}.`);
  return value;
}
