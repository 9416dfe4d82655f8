// The OpenAPI schemas of accounts, addresses, webhooks, errors and LNURL.
import type { WireNames } from '../../src/sandbox/wire.js';
import {
  amount,
  described,
  epochMs,
  isoTime,
  list,
  oneOf,
  record,
  ref,
  sent,
  text,
  type Schema,
} from './shape.js';
import { transactionSchemas } from './transaction-schemas.js';

export function schemas(wireNames: WireNames): Record<string, Schema> {
  const others = [accountSchemas, payoutSchemas, webhookSchemas, errorSchemas, lnurlSchemas];
  return Object.assign(transactionSchemas(wireNames), ...others);
}

const accountSchemas: Record<string, Schema> = {
  Token: record({
    accessToken: described({ type: 'string', pattern: '^[\\w-]+\\.[\\w-]+\\.[\\w-]+$' }, 'JWT.'),
    expiredAt: epochMs('The time at which the token expires.'),
    accountId: text,
  }),
  Wallet: record({
    id: text,
    ccy: text,
    amount: described(
      amount,
      'The total amount, including amounts that pending transactions have reserved.',
    ),
    availableBalance: described(amount, 'The amount that can be spent now.'),
    accountId: text,
    createdAt: isoTime,
    updatedAt: isoTime,
  }),
  Wallets: record({ data: list(ref('Wallet')) }),
  Account: described(
    record({
      accountId: text,
      accountDisplayName: text,
      displayName: text,
      status: oneOf('ACTIVE'),
      country: { type: 'string', pattern: '^[A-Z]{2}$' },
      extId: text,
      parentAccountId: { type: ['string', 'null'] },
      createdAt: isoTime,
    }),
    'The fields of an account record are not in the specification.',
  ),
  OnchainAddress: record({ staticOnchainAddress: text }),
  StablecoinAddress: record({
    resultStatus: oneOf('success'),
    data: record({
      staticOnchainAddress: { type: 'string', pattern: '^(T|0x)' },
      walletCcy: oneOf('USDT'),
      chainId: oneOf('TRON', 'ETH'),
      accountId: text,
    }),
  }),
  Rates: record({
    data: {
      type: 'object',
      additionalProperties: { type: 'number', exclusiveMinimum: 0 },
      minProperties: 1,
    },
  }),
};

const payoutSchemas: Record<string, Schema> = {
  PayoutDetails: {
    type: 'object',
    properties: {
      acctName: text,
      acctNum: text,
      bankAcctNum: text,
      institutionCode: text,
      institutionName: text,
    },
    required: ['institutionCode'],
    anyOf: [{ required: ['acctNum'] }, { required: ['bankAcctNum'] }],
    additionalProperties: false,
  },
  Institutions: described(
    record({ 'banks?': list(institution('bank')), 'mobiles?': list(institution('mobile')) }),
    'An empty object for a country without payout methods.',
  ),
};

function institution(type: 'bank' | 'mobile'): Schema {
  return record({ institutionCode: text, institutionType: oneOf(type), institutionName: text });
}

const callback = described(
  { type: 'string', pattern: '^https?://' },
  'An HTTPS URL. The sandbox can also allow http URLs on this machine.',
);
const webhookSchemas: Record<string, Schema> = {
  Webhook: record({ id: text, callback, createdAt: epochMs('The time of creation.') }),
  Webhooks: record({ data: { type: 'array', items: ref('Webhook'), maxItems: 1 } }),
  CreateWebhook: sent({ callback, secret: text }),
  UpdateWebhook: sent({ 'callback?': callback, 'secret?': text }),
  Event: record({
    txnId: text,
    'extRefId?': text,
    txnState: ref('TxnState'),
    msg: described(text, 'May be empty.'),
    updatedAt: epochMs('The time of the state change.'),
  }),
};

const plainError = (error: Schema): Schema => record({ error, 'message?': text });
const errorSchemas: Record<string, Schema> = {
  Error: plainError(text),
  BadRequest: {
    oneOf: [
      plainError(oneOf('bad request', 'failed to get account', 'insufficient balance')),
      ref('AlreadyFinal'),
    ],
  },
  AlreadyFinal: record({
    resultStatus: oneOf('error'),
    code: oneOf('2005'),
    error: { type: 'string', pattern: '^transaction .+ already in final state .+' },
    errorMetadata: record({
      params: described(text, 'JSON text with the state and the transaction id.'),
    }),
  }),
  Unauthorized: plainError(
    oneOf(
      'invalid API key or signature',
      'invalid api signature',
      'invalid token or token expired',
      'unauthorized',
      'you are not authorized to view this account',
    ),
  ),
  Forbidden: plainError(oneOf('Permission denied')),
  NotFound: plainError(oneOf('not found')),
};

const millisats: Schema = { type: 'integer', minimum: 1, description: 'Millisatoshis.' };
const lnurlSchemas: Record<string, Schema> = {
  PayRequest: record({
    tag: oneOf('payRequest'),
    callback: { type: 'string', format: 'uri' },
    minSendable: millisats,
    maxSendable: millisats,
    metadata: described(
      text,
      'JSON text. The description hash of the invoice is the SHA-256 of this text.',
    ),
  }),
  PayInvoice: record({
    pr: described({ type: 'string', pattern: '^ln' }, 'BOLT11 invoice.'),
    routes: { type: 'array', maxItems: 0 },
  }),
  LnurlError: record({ status: oneOf('ERROR'), reason: text }),
};
