// The client of the library: the service client with a network, a clock and a token store.
import { setTimeout as delay } from 'node:timers/promises';
import packageJson from '../../package.json' with { type: 'json' };
import { requestIdOf } from '../api/answer.js';
import { ServiceClient } from '../api/client.js';
import { networkTransport, type NetworkTransport } from '../api/network/network.js';
import { hidden, withoutSecrets } from '../api/redact.js';
import {
  NetworkError,
  type HttpRequest,
  type HttpResponse,
  type Transport,
} from '../api/transport.js';
import type * as types from '../api/types.js';
import { timerMs } from '../formats/duration.js';
import { Failure } from '../formats/failure.js';
import type { CreateTransaction } from './creation.js';
import { checked } from './given.js';

/** What a {@link WalletClient} needs to know; the rest has a default. */
export interface WalletClientOptions {
  /** `https://…`, or `http://` to this machine. A path behind it, such as `/api/v2`, is ignored. */
  baseUrl: string;
  /** Issued at onboarding. */
  apiKey: string;
  /** Signs the request for a token, and is never sent itself. */
  apiSecret: string;
  /**
   * The brand on the wire: `acme` for `acmepay` and `acmepayFees`. As in the specification,
   * `service`.
   */
  maker?: string | undefined;
  /**
   * The (sub)account whose wallets and record are read; every other endpoint acts for the account
   * of the key.
   */
  accountId?: string | undefined;
  /** For one request with its retries, in ms; by default 30 000. */
  timeout?: number | undefined;
  /**
   * How often a read is repeated when the network or the service fails for a moment; by default 3
   * times.
   */
  maxNetworkRetries?: number | undefined;
  /**
   * Called before each request is sent, repeated ones too, without its secrets. If it throws, the
   * request is not sent.
   */
  onRequest?: ((request: HttpRequest) => void | Promise<void>) | undefined;
  /** Called with each answer before it is read, without its secrets. */
  onResponse?: ((response: HttpResponse, request: HttpRequest) => void | Promise<void>) | undefined;
  /**
   * Carries the requests; by default over the network, through the proxy that the environment
   * names.
   */
  transport?: Transport | undefined;
  /** Keeps the access token between clients; by default in the memory of this one. */
  tokens?: types.TokenStore | undefined;
  /** Precedes svcpay's own, as in `shop/1.0 svcpay/0.1.0`. */
  userAgent?: string | undefined;
  /** Stops requests and pauses: they reject with kind `interrupted`, or with a `NoAnswer`. */
  signal?: AbortSignal | undefined;
  /**
   * Receives a line per exchange: method, path, status and time; never a header, a query or a body.
   */
  log?: ((line: string) => void) | undefined;
}

/** Options of one call, before those of the client. */
export interface RequestOptions {
  /** Stops the request: it rejects with kind `interrupted`, or with a `NoAnswer`. */
  signal?: AbortSignal | undefined;
  /** For the request with its retries, in ms. */
  timeout?: number | undefined;
  /** How often a read is repeated. */
  maxNetworkRetries?: number | undefined;
}

/** The last response of a successful call. */
export interface LastResponse {
  /** The service's name for the request, which its makers can look up. */
  readonly requestId: string | undefined;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A result with its response, which JSON and loops leave out. */
export type Answered<T> = T & { readonly lastResponse: LastResponse };

/** Every transaction of a list, read page by page while it is looped over. */
export interface TransactionList extends AsyncGenerator<types.ListedTransaction, void, void> {
  /** The first `limit` transactions as an array. */
  autoPagingToArray(options: { limit: number }): Promise<types.ListedTransaction[]>;
}

/** A client, and what ends it. */
interface Opened {
  readonly service: ServiceClient;
  readonly close: () => Promise<void>;
}

let read: (client: WalletClient) => ServiceClient;

/** The client behind a {@link WalletClient}. Throws Failure `usage` for anything else. */
export const serviceOf = (client: WalletClient): ServiceClient => read(client);

/**
 * The service, one method per endpoint of the specification. Signs in automatically, and again
 * after its token expires, and repeats reads when the network or the service fails for a moment. A
 * request that changes something is sent once.
 *
 * Every method rejects with a {@link ServiceError} when the service refuses, with a {@link
 * NoAnswer} when the outcome of the request is unknown, and with another {@link Failure} when an
 * answer cannot be read. Amounts are in whole units of the currency, times in epoch ms.
 */
export class WalletClient {
  readonly #opened: Opened;

  static {
    read = (client) => {
      if (#opened in client) return client.#opened.service;
      throw new Failure('usage', 'The client is not a WalletClient.');
    };
  }

  /**
   * Throws `Failure` usage for options that cannot be: a missing key or secret, a misspelt name, a
   * base URL of plain http to another machine.
   */
  constructor(options: WalletClientOptions);
  /** @internal */
  constructor(opened: { readonly opened: Opened });
  constructor(given: WalletClientOptions | { readonly opened: Opened }) {
    // Programs in JavaScript pass anything.
    this.#opened = isOpened(given) ? given.opened : open(checked('WalletClient', given));
  }

  get baseUrl(): string {
    return this.#opened.service.baseUrl;
  }

  /** The maker's name on the wire. */
  get maker(): string {
    return this.#opened.service.maker;
  }

  /** The same client and token; its requests also stop at this signal, with kind `interrupted`. */
  until(signal: AbortSignal): WalletClient {
    const { service, close } = this.#opened;
    return new WalletClient({ opened: { service: service.until(signal), close } });
  }

  /** Signs in again and stores the token (endpoint 1). */
  authenticate(options?: RequestOptions): Promise<types.Token> {
    return this.#within(options).authenticate();
  }

  /** Endpoint 2, for the account of the options, or the key's own. */
  wallets(options?: RequestOptions): Promise<Answered<types.Wallet[]>> {
    return this.#answered(options, (service) => service.wallets());
  }

  /** Endpoint 3, for the same account as {@link wallets}. */
  account(options?: RequestOptions): Promise<Answered<types.Account>> {
    return this.#answered(options, (service) => service.account());
  }

  /** The permanent Bitcoin deposit address of the key's account (endpoint 4). */
  bitcoinAddress(options?: RequestOptions): Promise<Answered<types.BitcoinAddress>> {
    return this.#answered(options, (service) => service.bitcoinAddress());
  }

  /** The permanent USDT deposit address of the key's account on one chain (endpoint 5). */
  usdtAddress(
    chainId: types.UsdtChain,
    options?: RequestOptions,
  ): Promise<Answered<types.UsdtAddress>> {
    return this.#answered(options, (service) => service.usdtAddress(chainId));
  }

  /**
   * Creates a quote, which moves nothing (endpoint 6). After a `NoAnswer`, look for the `extRefId`
   * in the list.
   */
  createTransaction(
    transaction: CreateTransaction,
    options?: RequestOptions,
  ): Promise<Answered<types.Transaction>> {
    return this.#answered(options, (service) => service.createTransaction(transaction));
  }

  /**
   * Confirms a quote, which pays it (endpoint 7). After a `NoAnswer`, read the transaction first.
   */
  confirmTransaction(
    txnId: string,
    options?: RequestOptions,
  ): Promise<Answered<types.Transaction>> {
    return this.#answered(options, (service) => service.confirmTransaction(txnId));
  }

  /**
   * Cancels a quote (endpoint 8, response not specified). Rejects with `CancelNotOffered` if the
   * service has no such operation.
   */
  cancelTransaction(txnId: string, options?: RequestOptions): Promise<Answered<types.Transaction>> {
    return this.#answered(options, (service) => service.cancelTransaction(txnId));
  }

  /** Endpoint 9. */
  transaction(txnId: string, options?: RequestOptions): Promise<Answered<types.Transaction>> {
    return this.#answered(options, (service) => service.transaction(txnId));
  }

  /**
   * One page of the list (endpoint 10). A page after the last is empty, even if the service answers
   * 404.
   */
  transactions(
    filter: types.TransactionFilter = {},
    options?: RequestOptions,
  ): Promise<Answered<types.TransactionPage>> {
    return this.#answered(options, (service) => service.transactions(filter));
  }

  /**
   * Every transaction of the list from `filter.page` on, without repetition. Leaving the loop stops
   * requests in flight.
   */
  eachTransaction(filter: types.TransactionFilter = {}, options?: RequestOptions): TransactionList {
    const rows = this.#within(options).eachTransaction(filter);
    return Object.assign(rows, {
      async autoPagingToArray(paging: { limit: number }) {
        const { limit } = checked('autoPagingToArray', paging);
        const all: types.ListedTransaction[] = [];
        if (limit > 0) for await (const row of rows) if (all.push(row) >= limit) break;
        return all;
      },
    });
  }

  /** Same as {@link eachTransaction} in pages, which is faster. */
  eachTransactionPage(
    filter: types.TransactionFilter = {},
    options?: RequestOptions,
  ): AsyncGenerator<readonly types.ListedTransaction[], void, void> {
    return this.#within(options).eachTransactionPage(filter);
  }

  /**
   * Endpoint 11; replaces the account's webhook. The callback must be https. If the response does
   * not show it, it is read from the list.
   */
  createWebhook(
    webhook: { callback: string; secret: string },
    options?: RequestOptions,
  ): Promise<Answered<types.Webhook>> {
    return this.#answered(options, (service) => service.createWebhook(webhook));
  }

  /** Endpoint 12: at most one. */
  webhooks(options?: RequestOptions): Promise<Answered<types.Webhook[]>> {
    return this.#answered(options, (service) => service.webhooks());
  }

  /** Endpoint 13. Its response is not specified; read {@link webhooks} for the result. */
  updateWebhook(
    webhookId: string,
    change: { callback?: string; secret?: string },
    options?: RequestOptions,
  ): Promise<void> {
    return this.#within(options).updateWebhook(webhookId, change);
  }

  /** Endpoint 14. */
  removeWebhook(webhookId: string, options?: RequestOptions): Promise<void> {
    return this.#within(options).removeWebhook(webhookId);
  }

  /**
   * Banks, then mobile wallets of a country (ISO alpha-2); empty without payout rails (endpoint
   * 15).
   */
  institutions(
    countryCode: string,
    options?: RequestOptions,
  ): Promise<Answered<types.Institution[]>> {
    return this.#answered(options, (service) => service.institutions(countryCode));
  }

  /** Endpoint 16, as far as it is known. */
  rates(options?: RequestOptions): Promise<Answered<types.Rates>> {
    return this.#answered(options, (service) => service.rates());
  }

  /**
   * Ends kept-alive connections at once. Not needed for the process to end; does nothing for a
   * given `transport`.
   */
  close(): Promise<void> {
    return this.#opened.close();
  }

  #within(options: RequestOptions = {}, observe?: (response: HttpResponse) => void): ServiceClient {
    const { signal, timeout: timeoutMs, maxNetworkRetries: retries } = checked('request', options);
    return this.#opened.service.within({ signal, timeoutMs, retries, observe });
  }

  async #answered<T extends object>(
    options: RequestOptions | undefined,
    call: (service: ServiceClient) => Promise<T>,
  ): Promise<Answered<T>> {
    let last: HttpResponse = { status: 0, headers: {}, body: '' };
    const value = await call(this.#within(options, (response) => (last = response)));
    const { status, headers } = last;
    const lastResponse: LastResponse = { requestId: requestIdOf(last), status, headers };
    const hiddenField = { value: lastResponse, enumerable: false, configurable: true };
    return Object.defineProperty(value, 'lastResponse', hiddenField) as Answered<T>;
  }
}

const isOpened = (given: object): given is { readonly opened: Opened } =>
  typeof given === 'object' && given !== null && 'opened' in given;

function open(options: WalletClientOptions): Opened {
  const {
    baseUrl,
    apiKey,
    apiSecret,
    accountId,
    signal,
    log,
    timeout: timeoutMs = 30_000,
  } = options;
  // The caller closes a transport that the caller made.
  const { transport, close } =
    options.transport === undefined
      ? opening(networkTransport({ env: process.env, timeoutMs }))
      : { transport: options.transport, close: async () => undefined };
  const service = new ServiceClient({
    baseUrl,
    credentials: { apiKey, apiSecret },
    transport: hooked(transport, options),
    retries: options.maxNetworkRetries,
    tokens: options.tokens ?? tokensInMemory(),
    maker: options.maker ?? 'service',
    accountId,
    clock: () => Date.now(),
    sleep: (ms, until) =>
      delay(timerMs(ms), undefined, until === undefined ? {} : { signal: until }),
    random: () => Math.random(),
    signal,
    log,
    timeoutMs,
    userAgent: [options.userAgent, `svcpay/${packageJson.version}`].filter(Boolean).join(' '),
  });
  return { service, close };
}

const opening = (transport: NetworkTransport) => ({ transport, close: transport.close });

function hooked(transport: Transport, { onRequest, onResponse }: WalletClientOptions): Transport {
  return async (request) => {
    try {
      await onRequest?.(withoutSecrets(request));
    } catch (cause) {
      throw new NetworkError(`it was held back: ${String(cause)}`, { requestSent: false, cause });
    }
    const response = await transport(request);
    await onResponse?.({ ...response, body: hidden(response.body) }, withoutSecrets(request));
    return response;
  };
}

function tokensInMemory(): types.TokenStore {
  let kept: types.Token | undefined;
  return { load: async () => kept, save: async (token) => void (kept = token) };
}
