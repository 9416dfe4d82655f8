// A client of the service that an integrator could write from the specification alone, with plain
// fetch and without code of svcpay.
import { createHmac } from 'node:crypto';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/server.js';
import { startCheckedSandbox } from '../support/openapi.js';

/** Parsed JSON without a type, so that tests can read any field. */
type Said = ReturnType<typeof JSON.parse>;

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: Said;
}

export interface Integrator {
  readonly sandbox: Sandbox;
  readonly accountId: string;
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  readonly get: (path: string) => Promise<Answer>;
  /** Creates a transaction, and fails if the service returns no quote. */
  readonly quote: (body: object) => Promise<Said>;
  readonly confirm: (txnId: string) => Promise<Answer>;
  /** Creates and confirms a transaction, and returns the answer to the confirmation. */
  readonly run: (body: object) => Promise<Said>;
  readonly read: (txnId: string) => Promise<Said>;
  readonly wallet: (ccy: string) => Promise<{ amount: number; availableBalance: number }>;
  /** Requests a new token after the old token has expired. */
  readonly renew: () => Promise<void>;
}

export const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

export async function request(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Answer> {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined };
}

interface Keys {
  readonly apiKey: string;
  readonly apiSecret: string;
}

export const tokenPath = '/api/v2/authentication/token-signature';
let nonce = 0;

/** Requests a token with steps 1 to 3 of the specified authentication. */
export function authenticate(
  { url }: Sandbox,
  { apiKey, apiSecret }: Keys,
  body = JSON.stringify({ nonce: (nonce += 1) }),
  changes: Record<string, string> = {},
): Promise<Answer> {
  const signature = hmac(apiSecret, `${apiKey}&payload=${body}`);
  const headers = {
    'content-type': 'application/json',
    'x-api-key': apiKey,
    'x-api-signature': signature,
    ...changes,
  };
  return request(url + tokenPath, 'POST', headers, body);
}

export async function integrator(sandbox: Sandbox, keys: Keys = sandbox): Promise<Integrator> {
  let token = (await authenticate(sandbox, keys)).json;
  const call: Integrator['call'] = (method, path, body, headers = {}) => {
    const text =
      body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const typed =
      text !== undefined || method === 'PUT' ? { 'content-type': 'application/json' } : {};
    const all = { authorization: `Bearer ${token.accessToken}`, ...typed, ...headers };
    return request(`${sandbox.url}/api/v2${path}`, method, all, text);
  };
  const get: Integrator['get'] = (path) => call('GET', path);
  const quote: Integrator['quote'] = async (body) => {
    const answer = await call('POST', '/transaction', body);
    if (answer.status !== 200)
      throw new Error(`${answer.status} ${answer.text} for ${JSON.stringify(body)}`);
    return answer.json;
  };
  const confirm: Integrator['confirm'] = (txnId) => call('PUT', `/transaction/${txnId}/confirm`);
  return {
    sandbox,
    accountId: token.accountId,
    call,
    get,
    quote,
    confirm,
    run: async (body) => (await confirm((await quote(body)).txnId)).json,
    read: async (txnId) => (await get(`/transaction/${txnId}`)).json,
    wallet: async (ccy) => {
      const { json } = await get(`/account/${token.accountId}/wallet/`);
      return json.data.find((each: { ccy: string }) => each.ccy === ccy);
    },
    renew: async () => {
      token = (await authenticate(sandbox, keys)).json;
    },
  };
}

export async function withSandbox(
  options: SandboxOptions,
  use: (client: Integrator) => Promise<void>,
): Promise<void> {
  const sandbox = await startCheckedSandbox({ autoPay: 'off', ...options });
  try {
    await use(await integrator(sandbox));
  } finally {
    await sandbox.stop();
  }
}

const wallet = (ccy: string, more: object = {}): object => ({ ccy, method: 'servicepay', ...more });
const kyc = (countryCode: string): object => ({
  type: 'individual',
  details: { legalFullName: 'Ann Example', countryCode },
});
const tronAddress = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

/** Valid create requests of every kind, by the rules of endpoint 6. */
export const bodies = {
  receiveLightning: (amtRequested = 0.0001) => ({
    sourceReq: { ccy: 'BTC', method: 'lightning', reqDetails: {} },
    destReq: wallet('BTC', { amtRequested }),
  }),
  receiveOnchain: (amtRequested = 0.001) => ({
    sourceReq: { ccy: 'BTC', method: 'on-chain', reqDetails: {} },
    destReq: wallet('BTC', { amtRequested }),
  }),
  sendLightning: (paymentRequest: string) => ({
    sourceReq: wallet('BTC'),
    destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest } },
  }),
  sendLnurl: (address = 'ann@example.com', amtRequested = 0.00001) => ({
    sourceReq: wallet('BTC', { amtRequested }),
    destReq: { ccy: 'BTC', method: 'lnurl', reqDetails: { address } },
  }),
  sendOnchain: (
    address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    amtRequested = 0.00001,
  ) => ({
    sourceReq: wallet('BTC'),
    destReq: { ccy: 'BTC', method: 'on-chain', amtRequested, reqDetails: { address } },
  }),
  sendUsdt: (from = 'USDT', amtRequested = 25) => ({
    sourceReq: wallet(from),
    destReq: { ccy: 'USDT', method: 'tron', amtRequested, reqDetails: { address: tronAddress } },
  }),
  swap: (amtRequested = 25) => ({
    sourceReq: wallet('USDT', { amtRequested }),
    destReq: wallet('BTC'),
  }),
  swapInto: (amtRequested = 0.0001) => ({
    sourceReq: wallet('USDT'),
    destReq: wallet('BTC', { amtRequested }),
  }),
  payout: (
    institutionCode: string,
    reqDetails: object = { bankAcctNum: '0123456789', institutionCode },
  ) => ({
    sourceReq: wallet('BTC', { kyc: kyc('US') }),
    destReq: {
      ccy: 'VND',
      method: 'vnd-instant',
      amtRequested: 500000,
      reqDetails,
      kyc: kyc('VN'),
    },
    sourceOfFunds: { purpose: 1, source: 1, relationship: 1 },
  }),
};
