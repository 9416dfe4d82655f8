// The `--fields` of a transaction: all names of the specification.

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

const side = [
  'ccy',
  'method',
  'amtRequested',
  'amtSettled',
  'servicepayFees',
  'networkFees',
  'reqStatus',
  'expiresAt',
  'createAt',
  'updatedAt',
  'reqDetails',
  ...details.map((name) => `reqDetails.${name}`),
  'kyc',
  ...party.map((name) => `kyc.${name}`),
];

const within = (parent: string, names: readonly string[]): string[] => [
  parent,
  ...names.map((name) => `${parent}.${name}`),
];

export const transactionFields: readonly string[] = [
  'txnId',
  'txnState',
  'extRefId',
  'note',
  'createdAt',
  'fxRate',
  'accountId',
  'accountDisplayName',
  ...within('sourceReq', side),
  ...within('destReq', side),
  ...within('sourceOfFunds', ['purpose', 'source', 'relationship']),
];

/** Of a command that moves money, whose fields are checked before it starts. */
export const paymentFields: readonly string[] = [
  ...transactionFields,
  'time',
  'what',
  'sourceAmount',
  'destAmount',
];
