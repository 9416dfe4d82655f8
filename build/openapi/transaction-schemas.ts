// The OpenAPI schemas of the transaction and its two sides. The schemas of a transaction depend on
// its methods and its state.
import { payoutMethodNames } from '../../src/sandbox/payout.js';
import { type WireNames, states } from '../../src/sandbox/wire.js';
import {
  confirmationFields,
  networkFeeDeduction,
  unitsPerDollar,
} from '../../src/sandbox/unspecified.js';
import {
  amount,
  described,
  epochMs,
  flag,
  holds,
  implies,
  isoTime,
  list,
  nullable,
  oneOf,
  record,
  ref,
  sent,
  text,
  type Schema,
} from './shape.js';

const currency = oneOf(...Object.keys(unitsPerDollar));
const bolt11: Schema = { type: 'string', pattern: '^(?:ln|LN)', description: 'BOLT11 invoice.' };
const nothing = record({});
const pageUrl = described(
  nullable({ type: 'string', format: 'uri' }),
  'Hosted payment page with a QR code.',
);

export function transactionSchemas(wireNames: WireNames): Record<string, Schema> {
  const sides = sideFields(wireNames);
  const methodsOfSource = oneOf(wireNames.method, 'lightning', 'on-chain');
  const methodsOfDest = oneOf(
    wireNames.method,
    'lightning',
    'lnurl',
    'on-chain',
    'tron',
    'eth',
    ...payoutMethodNames,
  );
  return {
    Transaction: transaction(ref('SourceReq'), ref('DestReq'), {
      allOf: settled.concat(unconfirmed),
    }),
    ListedTransaction: transaction(ref('ListedSourceReq'), ref('ListedDestReq'), {
      allOf: settled,
    }),
    TransactionPage: record({
      data: list(ref('ListedTransaction')),
      pagination: record({
        page: positive,
        limit: positive,
        total: { type: 'integer', minimum: 0 },
      }),
    }),
    TxnState: oneOf(...states),
    ReqStatus: described(oneOf('0', '2'), '0 is pending, 2 is completed.'),
    SourceReq: record(
      {
        ...sides.listed,
        method: methodsOfSource,
        ...sides.fees,
        reqDetails: ref('SourceDetails'),
        ...sides.full,
        expiresAt: epochMs('Expiry.'),
      },
      { allOf: detailsOfSource(wireNames) },
    ),
    DestReq: record(
      { ...sides.listed, method: methodsOfDest, reqDetails: ref('DestDetails'), ...sides.full },
      { allOf: detailsOfDest(wireNames) },
    ),
    SourceDetails: sourceDetails,
    DestDetails: destDetails,
    ListedSourceReq: record({ ...sides.listed, method: methodsOfSource, ...sides.fees }),
    ListedDestReq: record({ ...sides.listed, method: methodsOfDest }),
    Kyc: sent({
      type: oneOf('individual', 'business'),
      details: sent({
        legalFullName: text,
        countryCode: { type: 'string', pattern: '^[A-Z]{2}$' },
        'contactNumber?': text,
        'address1?': text,
      }),
    }),
    SourceOfFunds: sent({
      purpose: { type: 'integer' },
      source: { type: 'integer' },
      relationship: { type: 'integer' },
    }),
    CreateTransaction: createTransactionSchema(wireNames, methodsOfSource, methodsOfDest),
  };
}

const positive: Schema = { type: 'integer', minimum: 1 };

const transaction = (sourceReq: Schema, destReq: Schema, more: Schema): Schema =>
  record(
    {
      txnId: text,
      accountId: text,
      accountDisplayName: text,
      'extRefId?': described(
        text,
        "The caller's reference, if the create request had a reference.",
      ),
      'note?': described(text, 'Internal note, not sent to the recipient.'),
      txnState: ref('TxnState'),
      sourceReq,
      destReq,
      'sourceOfFunds?': ref('SourceOfFunds'),
      fxRate: described(
        { type: 'number', exclusiveMinimum: 0 },
        'Units of the destination currency for one unit of the source currency.',
      ),
      createdAt: epochMs('The time of creation.'),
    },
    more,
  );

function sideFields({ feeField }: WireNames) {
  return {
    listed: {
      ccy: currency,
      method: text,
      amtRequested: amount,
      amtSettled: described(nullable(amount), 'Null until completed.'),
      reqStatus: ref('ReqStatus'),
    },
    fees: {
      [feeField]: described(amount, 'The fee of the service, in the source currency.'),
      networkFees: described(amount, 'The network or mining fee, in the source currency.'),
    },
    full: {
      'kyc?': ref('Kyc'),
      createAt: epochMs('The time of creation.'),
      updatedAt: epochMs('The time of the last update.'),
    },
  };
}

/** The confirmation fields of a broadcast transfer, which the specification does not contain. */
const confirmations: Readonly<Record<string, Schema>> = {
  [`${confirmationFields.seen}?`]: {
    type: 'integer',
    minimum: 0,
    description: 'The number of confirmations so far.',
  },
  [`${confirmationFields.needed}?`]: {
    type: 'integer',
    minimum: 1,
    description: 'The number of confirmations that the transfer requires.',
  },
};

/**
 * The source fields of all methods, for generated clients. Separate rules limit the source fields
 * of each method.
 */
const sourceDetails = sent({
  'paymentRequest?': nullable(text),
  'address?': nullable(text),
  'amount?': nullable(amount),
  'invoice?': nullable(text),
  'invoicePageUrl?': nullable(text),
  'expiredAt?': nullable(text),
});
const destDetails = sent({
  'paymentRequest?': text,
  'address?': text,
  'lnurlAddress?': text,
  'acctName?': text,
  'acctNum?': text,
  'bankAcctNum?': text,
  'institutionCode?': text,
  'institutionName?': text,
});

const detailsAre = (reqDetails: Schema): Schema => ({ properties: { reqDetails } });

const detailsOfSource = (wireNames: WireNames): Schema[] => [
  implies(holds({ method: wireNames.method }), detailsAre(nothing)),
  implies(
    holds({ method: 'lightning' }),
    detailsAre(record({ paymentRequest: nullable(bolt11), invoicePageUrl: pageUrl })),
  ),
  implies(
    holds({ method: 'on-chain' }),
    detailsAre(
      record({
        address: nullable(text),
        'amount?': described(nullable(amount), 'BTC.'),
        'invoice?': { type: ['string', 'null'], pattern: '^bitcoin:', description: 'BIP21 URI.' },
        invoicePageUrl: pageUrl,
        'expiredAt?': nullable(isoTime),
        ...confirmations,
      }),
    ),
  ),
];

const detailsOfDest = (wireNames: WireNames): Schema[] => [
  implies(holds({ method: wireNames.method }), detailsAre(nothing)),
  implies(holds({ method: 'lightning' }), detailsAre(record({ paymentRequest: bolt11 }))),
  implies(holds({ method: 'lnurl' }), detailsAre(record({ address: text, lnurlAddress: text }))),
  implies(holds({ method: 'on-chain' }), detailsAre(record({ address: text, ...confirmations }))),
  implies(
    holds({ method: 'tron' }),
    detailsAre(record({ address: { type: 'string', pattern: '^T' }, ...confirmations })),
  ),
  implies(
    { properties: { method: { enum: payoutMethodNames } }, required: ['method'] },
    { required: ['kyc'], ...detailsAre(ref('PayoutDetails')) },
  ),
];

/** The rules for settled amounts, which depend on whether the transaction is completed. */
const bothSides = (side: Schema): Schema => ({ properties: { sourceReq: side, destReq: side } });
const settled: readonly Schema[] = [
  implies(
    holds({ txnState: 'completed' }),
    bothSides({ properties: { amtSettled: { type: 'number' }, reqStatus: { const: '2' } } }),
    bothSides({ properties: { amtSettled: { type: 'null' }, reqStatus: { const: '0' } } }),
  ),
];

/**
 * The rule that the invoice, the URL of its web page and the address are null before the
 * confirmation.
 */
const isNull: Schema = { type: 'null' };
const noneYet: Schema = {
  properties: { paymentRequest: isNull, invoicePageUrl: isNull, address: isNull },
};
const unconfirmed: readonly Schema[] = [
  implies(holds({ txnState: 'quoted' }), {
    properties: { sourceReq: { properties: { reqDetails: noneYet } } },
  }),
];

function createTransactionSchema(
  wireNames: WireNames,
  sourceMethods: Schema,
  destMethods: Schema,
): Schema {
  const side = (method: Schema, reqDetails: Schema): Schema =>
    sent({
      ccy: currency,
      method,
      'amtRequested?': { type: 'number', exclusiveMinimum: 0 },
      'reqDetails?': reqDetails,
      'kyc?': ref('Kyc'),
    });
  const amountOn = (name: string): Schema => ({
    required: [name],
    properties: { [name]: { required: ['amtRequested'] } },
  });
  return sent(
    {
      sourceReq: side(sourceMethods, sent({})),
      destReq: side(destMethods, ref('DestDetails')),
      'extRefId?': described(text, 'Unique per transaction.'),
      'note?': text,
      'deductNetworkFeesFromDest?': flag,
      [`${wireNames.feeDeduction}?`]: flag,
      [`${networkFeeDeduction}?`]: flag,
      'sourceOfFunds?': ref('SourceOfFunds'),
    },
    {
      description:
        'The source and the destination cannot both have an amount. ' +
        'With a BOLT11 invoice, neither the source nor the destination has an amount.',
      not: { allOf: [amountOn('sourceReq'), amountOn('destReq')] },
    },
  );
}
