// A small client for the tests of the sandbox, written from the specification and independent of
// src/api.
import { createHmac, randomUUID } from 'node:crypto';
import { openSandbox, type EmbeddedSandbox, type Service } from '../../src/sandbox/service.js';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/server.js';
import type { ShapedOptions } from '../support/live-shapes/apply.js';
import { openSqlite } from '../../src/store/files/sqlite-file.js';
import { checkFor, startCheckedSandbox, type Check } from '../support/openapi.js';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // The type `any` lets a test read any field of any response. A missing field reads as undefined,
  // so the expectations of the test fail.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export type Send = (request: Request) => Promise<Response>;

export interface Credentials {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly accountId: string;
}

export interface Client extends Credentials {
  readonly url: string;
  /** The headers of an authenticated request with a body. */
  headers(): Record<string, string>;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answered>;
  /** Signs in again, because a token expires after an hour. */
  renew(): Promise<void>;
  control(method: string, path: string, body?: object): Promise<Answered>;
  /** Sends a GET request to any path, without a token. */
  root(path: string): Promise<Answered>;
  create(body: object): Promise<Answered>;
  confirm(txnId: string): Promise<Answered>;
  cancel(txnId: string): Promise<Answered>;
  get(txnId: string): Promise<Answered>;
  /** Creates and confirms a transaction; returns the confirmed transaction. */
  run(body: object): Promise<Answered['body']>;
  wallet(ccy: string): Promise<Answered['body']>;
}

const api = '/api/v2';

export function sign(apiKey: string, apiSecret: string, body: string): string {
  return createHmac('sha256', apiSecret).update(`${apiKey}&payload=${body}`).digest('hex');
}

/** Requests a token; `changes` replaces headers, and an undefined value removes a header. */
export async function authenticate(
  send: Send,
  url: string,
  { apiKey, apiSecret }: Credentials,
  body = JSON.stringify({ nonce: randomUUID() }),
  changes: Record<string, string | undefined> = {},
  own?: Check,
): Promise<Answered> {
  const headers = {
    'content-type': 'application/json',
    'x-api-key': apiKey,
    'x-api-signature': sign(apiKey, apiSecret, body),
    ...changes,
  };
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return exchange(
    send,
    own ?? (await checkFor(url, send)),
    `${url}${api}/authentication/token-signature`,
    {
      method: 'POST',
      headers: Object.fromEntries(given),
      body,
    },
  );
}

/**
 * Creates a client with a fresh token. By default, the client compares each answer of the sandbox
 * with the OpenAPI description.
 */
export async function connect(
  send: Send,
  url: string,
  credentials: Credentials,
  own?: Check,
): Promise<Client> {
  const login = async (): Promise<string> =>
    (await authenticate(send, url, credentials, undefined, {}, own)).body?.accessToken;
  let token = await login();
  const check = own ?? (await checkFor(url, send));
  const request = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
    exchange(send, check, url + path, {
      method,
      headers,
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const json = { 'content-type': 'application/json' };
  const client: Client = {
    ...credentials,
    url,
    headers: () => ({ authorization: `Bearer ${token}`, ...json }),
    call: (method, path, body, headers = {}) =>
      request(method, `${api}${path}`, body, {
        authorization: `Bearer ${token}`,
        ...(method === 'GET' ? {} : json),
        ...headers,
      }),
    async renew() {
      token = await login();
    },
    control: (method, path, body) => request(method, `/_sandbox/${path}`, body, json),
    root: (path) => request('GET', path, undefined, {}),
    create: (body) => client.call('POST', '/transaction', body),
    confirm: (txnId) => client.call('PUT', `/transaction/${txnId}/confirm`),
    cancel: (txnId) => client.call('PUT', `/transaction/${txnId}/cancel`),
    get: (txnId) => client.call('GET', `/transaction/${txnId}`),
    async run(body) {
      const quote = await client.create(body);
      if (quote.status !== 200) throw new Error(quote.text);
      return (await client.confirm(quote.body.txnId)).body;
    },
    async wallet(ccy) {
      const wallets = (await client.call('GET', `/account/${credentials.accountId}/wallet/`)).body
        .data;
      return wallets.find((wallet: { ccy: string }) => wallet.ccy === ccy);
    },
  };
  return client;
}

/** Sends requests to an embedded sandbox, which has no port. */
export const sendTo =
  ({ handle }: Pick<EmbeddedSandbox, 'handle'>): Send =>
  async (request) => {
    const { pathname, search } = new URL(request.url);
    const { status, headers, body } = await handle(
      {
        method: request.method,
        target: pathname + search,
        headers: Object.fromEntries(request.headers),
        body: new Uint8Array(await request.arrayBuffer()),
      },
      request.signal,
    );
    return new Response(body, { status, headers: { ...headers } });
  };

/** Creates a client of a sandbox service that has no port. */
export const clientOf = (service: Service): Promise<Client> =>
  connect(sendTo(service), 'http://sandbox.localhost', service.credentials);

export interface Fresh extends Client {
  readonly send: Send;
  /** Creates a client of another account. */
  login(credentials: Credentials): Promise<Client>;
  advance(by: string | number): Promise<number>;
  invoice(amount: string, terms?: object): Promise<string>;
  pay(target: string, amount?: string): Promise<Answered>;
  mine(n: number): Promise<Answered>;
  state(txnId: string): Promise<string>;
  /** The total and the available amount of a wallet. */
  balance(ccy: string): Promise<[number, number]>;
  close(): Promise<void>;
}

/** Opens a new sandbox in this process, with a client, a frozen clock and no automatic payer. */
export async function fresh(options: SandboxOptions = {}): Promise<Fresh> {
  const sandbox = openSandbox({ autoPay: 'off', openFile: openSqlite, ...options });
  const url = 'http://sandbox.localhost';
  const send = sendTo(sandbox);
  const check = await checkFor(url, send, options.maker);
  const client = await connect(send, url, sandbox, check);
  await client.control('POST', 'clock/freeze');
  return {
    ...client,
    send,
    login: (credentials) => connect(send, url, credentials, check),
    advance: async (by) => (await client.control('POST', 'clock/advance', { by })).body.now,
    invoice: async (amount, terms) =>
      (await client.control('POST', 'invoice', { amount, ...terms })).body.invoice,
    pay: (target, amount) => client.control('POST', 'pay', { target, amount }),
    mine: (n) => client.control('POST', 'mine', { n }),
    state: async (txnId) => (await client.get(txnId)).body.txnState,
    async balance(ccy) {
      const { amount, availableBalance } = await client.wallet(ccy);
      return [amount, availableBalance];
    },
    close: () => sandbox.close(),
  };
}

/** Starts a new sandbox server, with a client. */
export async function serve(
  options: ShapedOptions = {},
): Promise<{ sandbox: Sandbox; client: Client }> {
  const sandbox = await startCheckedSandbox({ autoPay: 'off', ...options });
  const check = await checkFor(sandbox.url, fetch, options.maker);
  return { sandbox, client: await connect(fetch, sandbox.url, sandbox, check) };
}

export function lightningReceive(amount: number, more: object = {}): object {
  return {
    sourceReq: { ccy: 'BTC', method: 'lightning', reqDetails: {} },
    destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: amount, reqDetails: {} },
    ...more,
  };
}

export function lightningSend(paymentRequest: string, more: object = {}, from = 'BTC'): object {
  return {
    sourceReq: { ccy: from, method: 'servicepay', reqDetails: {} },
    destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest } },
    ...more,
  };
}

export function onchainReceive(amount: number, more: object = {}): object {
  return {
    sourceReq: { ccy: 'BTC', method: 'on-chain', reqDetails: {} },
    destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: amount, reqDetails: {} },
    ...more,
  };
}

export function lnurlSend(
  address: string,
  amount: number,
  more: object = {},
  from = 'BTC',
): object {
  return {
    sourceReq: { ccy: from, method: 'servicepay', amtRequested: amount, reqDetails: {} },
    destReq: { ccy: 'BTC', method: 'lnurl', reqDetails: { address } },
    ...more,
  };
}

export function onchainSend(
  address: string,
  amount: number,
  more: object = {},
  from = 'BTC',
): object {
  return {
    sourceReq: { ccy: from, method: 'servicepay', reqDetails: {} },
    destReq: { ccy: 'BTC', method: 'on-chain', amtRequested: amount, reqDetails: { address } },
    ...more,
  };
}

export function usdtSend(
  address: string,
  amount: number,
  more: object = {},
  from = 'USDT',
  method = 'tron',
): object {
  return {
    sourceReq: { ccy: from, method: 'servicepay', reqDetails: {} },
    destReq: { ccy: 'USDT', method, amtRequested: amount, reqDetails: { address } },
    ...more,
  };
}

/**
 * The create request for a payout to Vietnam, in which arguments replace fields of both sides and
 * of the body.
 */
export function payout(
  amount: number,
  dest: object = {},
  source: object = {},
  more: object = {},
): object {
  const party = (legalFullName: string): object => ({
    type: 'individual',
    details: { legalFullName, countryCode: 'VN' },
  });
  return {
    sourceReq: {
      ccy: 'BTC',
      method: 'servicepay',
      reqDetails: {},
      kyc: party('Tran Thi B'),
      ...source,
    },
    destReq: {
      ccy: 'VND',
      method: 'vnd-instant',
      amtRequested: amount,
      reqDetails: {
        acctName: 'Le Van A',
        acctNum: '0123456789',
        institutionCode: '970436',
        institutionName: 'Vietcombank',
      },
      kyc: party('Le Van A'),
      ...dest,
    },
    ...more,
  };
}

export function swap(amount: number, from: string, to: string, more: object = {}): object {
  return {
    sourceReq: { ccy: from, method: 'servicepay', amtRequested: amount },
    destReq: { ccy: to, method: 'servicepay' },
    ...more,
  };
}

/**
 * Sends a request, and compares the answer with the OpenAPI description that the service serves.
 */
async function exchange(
  send: Send,
  check: Check,
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string },
): Promise<Answered> {
  const response = await send(new Request(url, init));
  const { status, headers } = response;
  const text = await response.text();
  const { pathname, search } = new URL(url);
  check({
    method: init.method,
    target: pathname + search,
    requestBody: init.body,
    status,
    body: text,
  });
  return { status, headers, text, body: text === '' ? undefined : JSON.parse(text) };
}
