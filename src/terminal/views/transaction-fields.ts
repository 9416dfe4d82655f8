// The `--fields` of a transaction: all names of the specification.
import { sideTable, transactionTable } from '../../api/reading/transaction.js';

const party = [
  'type',
  'details',
  'details.legalFullName',
  'details.countryCode',
  'details.contactNumber',
  'details.address1',
];

const details = [
  'paymentRequest',
  'invoicePageUrl',
  'address',
  'amount',
  'invoice',
  'expiredAt',
  'lnurlAddress',
  'acctName',
  'acctNum',
  'bankAcctNum',
  'institutionCode',
  'institutionName',
  'confirmations',
  'requiredConfirmations',
];

const within = (parent: string, names: readonly string[]): string[] => [
  parent,
  ...names.map((name) => `${parent}.${name}`),
];

const side = sideTable.flatMap(([name]) => {
  if (name === 'reqDetails') return within(name, details);
  return name === 'kyc' ? within(name, party) : [name];
});

export const transactionFields: readonly string[] = [
  'txnId',
  'txnState',
  ...transactionTable.map(([name]) => name).filter((name) => name !== 'sourceOfFunds'),
  ...within('sourceReq', side),
  ...within('destReq', side),
  ...within('sourceOfFunds', ['purpose', 'source', 'relationship']),
];

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
