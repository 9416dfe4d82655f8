// The `--fields` of a transaction: all names of the specification.
import {
  detailFields,
  sideFields,
  transactionFields as wireFields,
} from '../../api/reading/transaction.js';
import type { SourceOfFunds } from '../../api/types.js';

const party = [
  'type',
  'details',
  'details.legalFullName',
  'details.countryCode',
  'details.contactNumber',
  'details.address1',
];

const codes = ['purpose', 'source', 'relationship'] satisfies (keyof SourceOfFunds)[];

const within = (parent: string, names: readonly string[]): string[] => [
  parent,
  ...names.map((name) => `${parent}.${name}`),
];

/** The inner fields of an object that is not specified further. */
const inner: Readonly<Record<string, readonly string[]>> = {
  reqDetails: Object.keys(detailFields),
  kyc: party,
  sourceOfFunds: codes,
};

const namesOf = (fields: object): string[] =>
  Object.keys(fields).flatMap((name) => within(name, inner[name] ?? []));

const side = namesOf(sideFields);

export const transactionFields: readonly string[] = namesOf(wireFields).flatMap((name) =>
  name === 'sourceReq' || name === 'destReq' ? within(name, side) : name,
);

/** The fields of a row that shows a whole transaction as one field. */
export const nestedTransactionFields: readonly string[] = within('transaction', transactionFields);

/** The fields of a command that moves money. They are checked before the command starts. */
export const paymentFields: readonly string[] = [
  ...transactionFields,
  'time',
  'what',
  'sourceAmount',
  'destAmount',
];
