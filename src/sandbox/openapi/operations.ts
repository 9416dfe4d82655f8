// The operations in the description of the service, one row each, in the order of the specification.
import { cancelSuffix } from '../unspecified.js';
import { list, oneOf, ref, sent, text, type Schema } from './shape.js';

interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** Schema of the 200 answer. */
  readonly answer: Schema;
  readonly body?: Schema;
  readonly parameters?: readonly Schema[];
  /** Refusals besides 400, 401, 429 and 500. */
  readonly refusals?: readonly ('403' | '404')[];
  /** Without an access token. */
  readonly open?: true;
}

const query = (name: string, schema: Schema, required = false): Schema => ({ name, in: 'query', required, schema });
const header = (name: string): Schema => ({ name, in: 'header', required: true, schema: text });

const values: Schema = { type: 'string', description: 'Several values are separated by commas.' };
const count: Schema = { type: 'integer', minimum: 1 };

const creation = {
  method: 'post', summary: 'Create a transaction in the quoted state', body: ref('CreateTransaction'),
  answer: ref('Transaction'),
} as const;

const rows: readonly Operation[] = [
  {
    method: 'post', path: '/authentication/token-signature', id: 'createToken', summary: 'Create an access token',
    open: true, body: {}, answer: ref('Token'), parameters: [header('X-Api-Key'), header('X-Api-Signature')],
  },
  {
    method: 'get', path: '/account/{accountId}/wallet/', id: 'getWallets', summary: 'Get the wallets of an account',
    answer: ref('Wallets'),
  },
  {
    method: 'get', path: '/account/{accountId}', id: 'getAccount', summary: 'Get an account',
    answer: ref('Account'), refusals: ['403', '404'],
  },
  {
    method: 'get', path: '/account/onchain-address', id: 'getOnchainAddress',
    summary: 'Get the permanent Bitcoin deposit address', answer: ref('OnchainAddress'),
  },
  {
    method: 'get', path: '/account/stablecoin-onchain-address', id: 'getStablecoinAddress',
    summary: 'Get the permanent USDT deposit address', answer: ref('StablecoinAddress'),
    parameters: [query('walletCcy', oneOf('USDT'), true), query('chainId', oneOf('TRON', 'ETH'), true)],
  },
  { ...creation, path: '/transaction', id: 'createTransaction' },
  { ...creation, path: '/transaction/', id: 'createTransactionWithSlash' },
  {
    method: 'put', path: '/transaction/{txnId}/confirm', id: 'confirmTransaction', summary: 'Confirm a transaction',
    answer: ref('Transaction'), refusals: ['403', '404'],
  },
  {
    method: 'put', path: `/transaction/{txnId}/${cancelSuffix}`, id: 'cancelTransaction',
    summary: 'Cancel a quoted transaction', answer: ref('Transaction'), refusals: ['403', '404'],
  },
  {
    method: 'get', path: '/transaction/{txnId}', id: 'getTransaction', summary: 'Get a transaction',
    answer: ref('Transaction'), refusals: ['403', '404'],
  },
  {
    method: 'get', path: '/transaction', id: 'listTransactions', summary: 'List transactions, newest first',
    answer: ref('TransactionPage'),
    parameters: [
      query('time', { ...oneOf('1d', '7d', '30d', '3m', '6m', '1y', 'other'), default: '7d' }),
      query('startTime', { type: 'string', format: 'date-time', description: 'Inclusive; with time=other.' }),
      query('endTime', { type: 'string', format: 'date-time', description: 'Inclusive; with time=other.' }),
      { ...query('txnStatuses', list(ref('TxnState'))), style: 'form', explode: false },
      ...['srcMethods', 'destMethods', 'excludedSrcMethods', 'excludedDestMethods']
        .map((name) => query(name, values)),
      query('limit', { ...count, default: 20 }),
      query('page', { ...count, default: 1 }),
    ],
  },
  {
    method: 'post', path: '/webhook', id: 'createWebhook', summary: 'Set the webhook, in place of any before',
    body: ref('CreateWebhook'), answer: ref('Webhook'),
  },
  { method: 'get', path: '/webhook', id: 'listWebhooks', summary: 'List the webhook', answer: ref('Webhooks') },
  {
    method: 'put', path: '/webhook/{webhookId}', id: 'updateWebhook', summary: 'Change the webhook',
    body: ref('UpdateWebhook'), answer: ref('Webhook'), refusals: ['403', '404'],
  },
  {
    method: 'delete', path: '/webhook/{webhookId}', id: 'removeWebhook', summary: 'Remove the webhook',
    answer: sent({}), refusals: ['403', '404'],
  },
  {
    method: 'get', path: '/reference/fiat-institution/by-country/{countryCode}', id: 'listInstitutions',
    summary: 'List the institutions that a country\'s payouts can go to', answer: ref('Institutions'),
  },
  { method: 'get', path: '/rate', id: 'getRates', summary: 'Get exchange rates', answer: ref('Rates') },
];

const json = (description: string, schema: Schema): Schema =>
  ({ description, content: { 'application/json': { schema } } });

const refusalSchemas = { '403': ['Forbidden', 'Permission denied.'], '404': ['NotFound', 'Not found.'] } as const;

function describe(operation: Operation): Schema {
  const { method, path, id, summary, answer, body, parameters = [], refusals = [], open } = operation;
  const places = [...path.matchAll(/\{(\w+)\}/g)]
    .map(([, name]) => ({ name, in: 'path', required: true, schema: text }));
  return {
    operationId: id,
    summary,
    ...(open && { security: [] }),
    ...(places.length + parameters.length > 0 && { parameters: [...places, ...parameters] }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      200: json('Success.', answer),
      400: json(method === 'put' ? 'Refused, or already in a final state.' : 'Refused.', ref('BadRequest')),
      401: json('Not authenticated, or another account\'s.', ref('Unauthorized')),
      ...Object.fromEntries(refusals.map((status) => {
        const [name, description] = refusalSchemas[status];
        return [status, json(description, ref(name))];
      })),
      429: json('Rate limited.', ref('Error')),
      500: json('Failure of the service; try again later.', ref('Error')),
    },
  };
}

/** The LNURL-pay endpoints (LUD-06, LUD-16) lie outside the interface's version. */
function lnurlOperation(id: string, summary: string, answer: string, parameters: readonly Schema[]): Schema {
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

/** The `paths` of the description; `base` is the prefix of the interface. */
export function paths(base: string): Record<string, Schema> {
  const described: Record<string, Record<string, Schema>> = {};
  for (const row of rows) (described[base + row.path] ??= {})[row.method] = describe(row);
  return {
    ...described,
    '/.well-known/lnurlp/{user}': lnurlOperation('lnurlPay', 'Ask how to pay a user (LUD-16)', 'PayRequest', []),
    '/.well-known/lnurlp/{user}/callback': lnurlOperation(
      'lnurlCallback', 'Ask for an invoice (LUD-06)', 'PayInvoice', [query('amount', count, true)],
    ),
  };
}
