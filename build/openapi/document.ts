// Writes the OpenAPI 3.1 description of the service (src/sandbox/openapi.json). The sandbox replaces
// the default service name when it serves the description.
import { base } from '../../src/sandbox/endpoints.js';
import { wireNamesOf, type WireNames } from '../../src/sandbox/wire.js';
import { schemas } from './schemas.js';
import { ref, text, list, oneOf, sent, type Schema } from './shape.js';
import { cancelSuffix } from '../../src/sandbox/unspecified.js';

export function openApiDocument(): Schema {
  const wireNames = wireNamesOf('service');
  return {
    openapi: '3.1.1',
    info: {
      title: 'Wallet payments',
      version: '2',
      description:
        'Wallets, Lightning, on-chain Bitcoin and USDT, swaps and fiat payouts. ' +
        'The sandbox serves this API.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths: paths(base),
    webhooks: { transactionState: { post: event(wireNames) } },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: schemas(wireNames),
    },
  };
}

function event({ signatureHeader }: WireNames): Schema {
  return {
    operationId: 'transactionState',
    summary: 'The state of a transaction has changed',
    security: [],
    parameters: [
      {
        name: signatureHeader,
        in: 'header',
        required: true,
        description:
          'Lower-case hex HMAC-SHA256 of the raw body, keyed with the secret of the webhook.',
        schema: text,
      },
    ],
    requestBody: { required: true, content: { 'application/json': { schema: ref('Event') } } },
    responses: { 200: { description: 'Taken.' } },
  };
}

interface More {
  readonly body?: Schema;
  readonly parameters?: readonly Schema[];
  /** Whether the responses of the operation include 403 and 404. */
  readonly ofOne?: true;
  /** Whether the operation works without an access token. */
  readonly open?: true;
}

type Method = 'get' | 'post' | 'put' | 'delete';
type Row = readonly [
  method: Method,
  path: string,
  id: string,
  summary: string,
  answer: Schema,
  more?: More,
];

const query = (name: string, schema: Schema, required = false): Schema => ({
  name,
  in: 'query',
  required,
  schema,
});
const header = (name: string): Schema => ({ name, in: 'header', required: true, schema: text });

const values: Schema = { type: 'string', description: 'Separate several values with commas.' };
const count: Schema = { type: 'integer', minimum: 1 };

const createSummary = 'Create a transaction in the quoted state';
const institutions = 'List the institutions for payouts to a country';
const ofOne = { ofOne: true } as const;

const rows: readonly Row[] = [
  [
    'post',
    '/authentication/token-signature',
    'createToken',
    'Create an access token',
    ref('Token'),
    { open: true, body: {}, parameters: [header('X-Api-Key'), header('X-Api-Signature')] },
  ],
  [
    'get',
    '/account/{accountId}/wallet/',
    'getWallets',
    'Get the wallets of an account',
    ref('Wallets'),
  ],
  ['get', '/account/{accountId}', 'getAccount', 'Get an account', ref('Account'), ofOne],
  [
    'get',
    '/account/onchain-address',
    'getOnchainAddress',
    'Get the permanent Bitcoin deposit address',
    ref('OnchainAddress'),
  ],
  [
    'get',
    '/account/stablecoin-onchain-address',
    'getStablecoinAddress',
    'Get the permanent USDT deposit address',
    ref('StablecoinAddress'),
    {
      parameters: [
        query('walletCcy', oneOf('USDT'), true),
        query('chainId', oneOf('TRON', 'ETH'), true),
      ],
    },
  ],
  [
    'post',
    '/transaction',
    'createTransaction',
    createSummary,
    ref('Transaction'),
    { body: ref('CreateTransaction') },
  ],
  [
    'post',
    '/transaction/',
    'createTransactionWithSlash',
    createSummary,
    ref('Transaction'),
    { body: ref('CreateTransaction') },
  ],
  [
    'put',
    '/transaction/{txnId}/confirm',
    'confirmTransaction',
    'Confirm a transaction',
    ref('Transaction'),
    ofOne,
  ],
  [
    'put',
    `/transaction/{txnId}/${cancelSuffix}`,
    'cancelTransaction',
    'Cancel a quoted transaction',
    ref('Transaction'),
    ofOne,
  ],
  ['get', '/transaction/{txnId}', 'getTransaction', 'Get a transaction', ref('Transaction'), ofOne],
  [
    'get',
    '/transaction',
    'listTransactions',
    'List transactions, newest first',
    ref('TransactionPage'),
    {
      parameters: [
        query('time', { ...oneOf('1d', '7d', '30d', '3m', '6m', '1y', 'other'), default: '7d' }),
        query('startTime', {
          type: 'string',
          format: 'date-time',
          description: 'Inclusive; with time=other.',
        }),
        query('endTime', {
          type: 'string',
          format: 'date-time',
          description: 'Inclusive; with time=other.',
        }),
        { ...query('txnStatuses', list(ref('TxnState'))), style: 'form', explode: false },
        ...['srcMethods', 'destMethods', 'excludedSrcMethods', 'excludedDestMethods'].map((name) =>
          query(name, values),
        ),
        query('limit', { ...count, default: 20 }),
        query('page', { ...count, default: 1 }),
      ],
    },
  ],
  [
    'post',
    '/webhook',
    'createWebhook',
    'Set the webhook, replacing an earlier webhook',
    ref('Webhook'),
    { body: ref('CreateWebhook') },
  ],
  ['get', '/webhook', 'listWebhooks', 'List the webhook', ref('Webhooks')],
  [
    'put',
    '/webhook/{webhookId}',
    'updateWebhook',
    'Change the webhook',
    ref('Webhook'),
    { ...ofOne, body: ref('UpdateWebhook') },
  ],
  ['delete', '/webhook/{webhookId}', 'removeWebhook', 'Remove the webhook', sent({}), ofOne],
  [
    'get',
    '/reference/fiat-institution/by-country/{countryCode}',
    'listInstitutions',
    institutions,
    ref('Institutions'),
  ],
  ['get', '/rate', 'getRates', 'Get exchange rates', ref('Rates')],
];

const json = (description: string, schema: Schema): Schema => ({
  description,
  content: { 'application/json': { schema } },
});

function describe([method, path, id, summary, answer, more = {}]: Row): Schema {
  const { body, parameters = [], ofOne: isOfOne, open } = more;
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
  }));
  return {
    operationId: id,
    summary,
    ...(open && { security: [] }),
    ...(places.length + parameters.length > 0 && { parameters: [...places, ...parameters] }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      200: json('Success.', answer),
      400: json(
        method === 'put'
          ? 'The service refused the request, or the transaction is already in a final state.'
          : 'Refused.',
        ref('BadRequest'),
      ),
      401: json(
        'The request is not authenticated, or concerns another account.',
        ref('Unauthorized'),
      ),
      ...(isOfOne && {
        403: json('Permission denied.', ref('Forbidden')),
        404: json('Not found.', ref('NotFound')),
      }),
      429: json('Rate limited.', ref('Error')),
      500: json('The service failed. Try again later.', ref('Error')),
    },
  };
}

/** The paths of the LNURL-pay endpoints (LUD-06, LUD-16), which do not contain the API version. */
function lnurlOperation(
  id: string,
  summary: string,
  answer: string,
  parameters: readonly Schema[],
): Schema {
  const user = { name: 'user', in: 'path', required: true, schema: text };
  return {
    get: {
      operationId: id,
      summary,
      security: [],
      parameters: [user, ...parameters],
      responses: {
        200: json('Success.', ref(answer)),
        400: json('Refused.', ref('LnurlError')),
        404: json('No such user.', ref('LnurlError')),
      },
    },
  };
}

function paths(base: string): Record<string, Schema> {
  const described: Record<string, Record<string, Schema>> = {};
  for (const row of rows) (described[base + row[1]] ??= {})[row[0]] = describe(row);
  return {
    ...described,
    '/.well-known/lnurlp/{user}': lnurlOperation(
      'lnurlPay',
      'Get the terms of a payment to a user (LUD-16)',
      'PayRequest',
      [],
    ),
    '/.well-known/lnurlp/{user}/callback': lnurlOperation(
      'lnurlCallback',
      'Request an invoice (LUD-06)',
      'PayInvoice',
      [query('amount', count, true)],
    ),
  };
}
