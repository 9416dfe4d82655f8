// Defines the library's client, which gives the service client a network, a clock and a token
// store.
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
import type { CreateTransaction } from './create-transaction.js';
import { checked } from './given.js';

/** The settings of a {@link WalletClient}. All optional settings have a default. */
export interface WalletClientOptions {
  /**
   * The base URL, which is `https://…`, or `http://` to this machine. The client ignores a path
   * after the host, such as `/api/v2`.
   */
  baseUrl: string;
  /** The API key, which the operator issues at onboarding. */
  apiKey: string;
  /** The API secret, which signs the request for a token. The client never sends the secret. */
  apiSecret: string;
  /**
   * The service name without the ending `pay`, such as `acme` for `acmepay`. The default is
   * `service`, because the service name in the specification is `servicepay`.
   */
  maker?: string | undefined;
  /**
   * The account or subaccount that `wallets` and `account` read. Methods other than `wallets` and
   * `account` act for the account of the API key.
   */
  accountId?: string | undefined;
  /**
   * The time limit of one request with its retries, in ms (default 30 000). If the service refuses
   * the token, the request that follows the new sign-in has the full time limit again.
   */
  timeout?: number | undefined;
  /**
   * The number of retries of a read if the network or the service fails temporarily (default 3).
   */
  maxNetworkRetries?: number | undefined;
  /**
   * Called before the client sends a request or repeats a request, with a copy of the request
   * without secrets. If `onRequest` throws, the client does not send the request.
   */
  onRequest?: ((request: HttpRequest) => void | Promise<void>) | undefined;
  /** Called before the client reads a response, with a copy of the response without secrets. */
  onResponse?: ((response: HttpResponse, request: HttpRequest) => void | Promise<void>) | undefined;
  /**
   * The transport of the requests. The default transport is the network, through the proxy that the
   * environment names.
   */
  transport?: Transport | undefined;
  /**
   * The store of the access token, which several clients may share. By default, the client keeps
   * the token in memory.
   */
  tokens?: types.TokenStore | undefined;
  /** A text that precedes svcpay's own name in the user agent, as in `shop/1.0 svcpay/0.1.0`. */
  userAgent?: string | undefined;
  /**
   * A signal that stops all requests and pauses of the client. If the signal stops a request, the
   * request rejects with a Failure of kind `interrupted`, or of kind `pending` if a confirmation
   * may have reached the service.
   */
  signal?: AbortSignal | undefined;
  /**
   * Receives a line for each exchange with the service: method, path, status and time, but no
   * headers, query or body.
   */
  log?: ((line: string) => void) | undefined;
}

/** The options of one call, which replace the options of the client. */
export interface RequestOptions {
  /**
   * A signal that stops the request. If the signal stops a request, the request rejects with a
   * Failure of kind `interrupted`, or of kind `pending` if a confirmation may have reached the
   * service.
   */
  signal?: AbortSignal | undefined;
  /** The time limit of the request with its retries, in ms. */
  timeout?: number | undefined;
  /**
   * The number of retries if the request is a read and the network or the service fails
   * temporarily.
   */
  maxNetworkRetries?: number | undefined;
}

/** The last response of a successful call. */
export interface LastResponse {
  /** The service's id of the request, which the operator of the service can look up. */
  readonly requestId: string | undefined;
  readonly status: number;
  /** The headers of the response, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A result with the hidden field `lastResponse`, which JSON and loops omit. */
export type Answered<T> = T & { readonly lastResponse: LastResponse };

/** The transactions of a list, which the client reads page by page while a loop runs. */
export interface TransactionList extends AsyncGenerator<types.ListedTransaction, void, void> {
  /** Resolves with the first `limit` transactions as an array. */
  autoPagingToArray(options: { limit: number }): Promise<types.ListedTransaction[]>;
}

/** A client, with the function that closes its connections. */
interface Opened {
  readonly service: ServiceClient;
  readonly close: () => Promise<void>;
}

let read: (client: WalletClient) => ServiceClient;

/**
 * Returns the service client behind a {@link WalletClient}. Throws Failure `usage` for a value that
 * is not a {@link WalletClient}.
 */
export const serviceOf = (client: WalletClient): ServiceClient => read(client);

/**
 * The service, with one method per endpoint from the specification. The client signs in
 * automatically, and again after its token expires. If the network or the service fails
 * temporarily, the client repeats a read, but not a create request or a confirmation. Every method
 * rejects with a {@link ServiceError} if the service refuses, with a {@link NoAnswer} if the
 * outcome of the request is unknown, and with another {@link Failure} if a response cannot be read.
 * Amounts are in the main unit of the currency, and times are in epoch ms.
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
   * Throws Failure `usage` for invalid options, such as a missing key or secret, a misspelt name,
   * or a base URL with plain http for a remote machine.
   */
  constructor(options: WalletClientOptions);
  /** @internal */
  constructor(opened: { readonly opened: Opened });
  constructor(given: WalletClientOptions | { readonly opened: Opened }) {
    // Checks the options at run time, because a program in JavaScript may pass any value.
    this.#opened = isOpened(given) ? given.opened : open(checked('WalletClient', given));
  }

  get baseUrl(): string {
    return this.#opened.service.baseUrl;
  }

  /** The service name on the wire. */
  get maker(): string {
    return this.#opened.service.maker;
  }

  /**
   * Returns a client with the same token whose requests also stop when `signal` fires.
   */
  until(signal: AbortSignal): WalletClient {
    const { service, close } = this.#opened;
    return new WalletClient({ opened: { service: service.until(signal), close } });
  }

  /** Signs in again and stores the token (endpoint 1). */
  authenticate(options?: RequestOptions): Promise<types.Token> {
    return this.#within(options).authenticate();
  }

  /**
   * Reads the wallets of the account with the client's `accountId`, by default the API key's
   * account (endpoint 2).
   */
  wallets(options?: RequestOptions): Promise<Answered<types.Wallet[]>> {
    return this.#answered(options, (service) => service.wallets());
  }

  /**
   * Reads the record of the account with the client's `accountId`, by default the API key's account
   * (endpoint 3).
   */
  account(options?: RequestOptions): Promise<Answered<types.Account>> {
    return this.#answered(options, (service) => service.account());
  }

  /** Reads the permanent Bitcoin deposit address of the key's account (endpoint 4). */
  bitcoinAddress(options?: RequestOptions): Promise<Answered<types.BitcoinAddress>> {
    return this.#answered(options, (service) => service.bitcoinAddress());
  }

  /** Reads the permanent USDT deposit address of the key's account on one chain (endpoint 5). */
  usdtAddress(
    chainId: types.UsdtChain,
    options?: RequestOptions,
  ): Promise<Answered<types.UsdtAddress>> {
    return this.#answered(options, (service) => service.usdtAddress(chainId));
  }

  /**
   * Creates a quote, which moves no money (endpoint 6). After a `NoAnswer`, search the list of
   * transactions for the `extRefId` before you repeat the call.
   */
  createTransaction(
    transaction: CreateTransaction,
    options?: RequestOptions,
  ): Promise<Answered<types.Transaction>> {
    return this.#answered(options, (service) => service.createTransaction(transaction));
  }

  /**
   * Confirms a quote, so that the service executes the transaction (endpoint 7). After a
   * `NoAnswer`, read the transaction before you repeat the call.
   */
  confirmTransaction(
    txnId: string,
    options?: RequestOptions,
  ): Promise<Answered<types.Transaction>> {
    return this.#answered(options, (service) => service.confirmTransaction(txnId));
  }

  /**
   * Cancels a quote (endpoint 8, response not specified). Rejects with `CancelNotOffered` if the
   * service does not offer cancellation.
   */
  cancelTransaction(txnId: string, options?: RequestOptions): Promise<Answered<types.Transaction>> {
    return this.#answered(options, (service) => service.cancelTransaction(txnId));
  }

  /** Reads one transaction by its id (endpoint 9). */
  transaction(txnId: string, options?: RequestOptions): Promise<Answered<types.Transaction>> {
    return this.#answered(options, (service) => service.transaction(txnId));
  }

  /**
   * Reads one page of the list of transactions (endpoint 10). Returns an empty page after the last
   * page, even if the service answers 404.
   */
  transactions(
    filter: types.TransactionFilter = {},
    options?: RequestOptions,
  ): Promise<Answered<types.TransactionPage>> {
    return this.#answered(options, (service) => service.transactions(filter));
  }

  /**
   * Lists every transaction once, starting at the page `filter.page`. If the caller leaves the loop
   * over the transactions early, the client stops the requests in flight.
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

  /**
   * Lists the same transactions as {@link eachTransaction}, but in pages, which is faster than one
   * transaction at a time.
   */
  eachTransactionPage(
    filter: types.TransactionFilter = {},
    options?: RequestOptions,
  ): AsyncGenerator<readonly types.ListedTransaction[], void, void> {
    return this.#within(options).eachTransactionPage(filter);
  }

  /**
   * Replaces the account's webhook (endpoint 11). The callback must be an https URL. If the
   * response omits the new webhook, the client reads the webhook from the list of webhooks.
   */
  createWebhook(
    webhook: { callback: string; secret: string },
    options?: RequestOptions,
  ): Promise<Answered<types.Webhook>> {
    return this.#answered(options, (service) => service.createWebhook(webhook));
  }

  /** Reads the account's webhook, if there is one (endpoint 12). */
  webhooks(options?: RequestOptions): Promise<Answered<types.Webhook[]>> {
    return this.#answered(options, (service) => service.webhooks());
  }

  /**
   * Changes a webhook (endpoint 13). The specification does not define the response to a change, so
   * read {@link webhooks} for the result.
   */
  updateWebhook(
    webhookId: string,
    change: { callback?: string; secret?: string },
    options?: RequestOptions,
  ): Promise<void> {
    return this.#within(options).updateWebhook(webhookId, change);
  }

  /** Removes a webhook (endpoint 14). */
  removeWebhook(webhookId: string, options?: RequestOptions): Promise<void> {
    return this.#within(options).removeWebhook(webhookId);
  }

  /**
   * Lists the banks of a country (ISO alpha-2), followed by its mobile wallets (endpoint 15).
   * Resolves with an empty list if the country has no payout methods.
   */
  institutions(
    countryCode: string,
    options?: RequestOptions,
  ): Promise<Answered<types.Institution[]>> {
    return this.#answered(options, (service) => service.institutions(countryCode));
  }

  /** Reads the exchange rates (endpoint 16, which the specification only names). */
  rates(options?: RequestOptions): Promise<Answered<types.Rates>> {
    return this.#answered(options, (service) => service.rates());
  }

  /**
   * Closes the connections of the client immediately, without waiting for requests in flight. Does
   * nothing if the caller passed a `transport` in the options. A program may end without calling
   * `close`.
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
  // `close` does nothing if the caller passed a transport, because the caller closes that
  // transport.
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
      throw new NetworkError(`onRequest stopped the request: ${String(cause)}`, {
        requestSent: false,
        cause,
      });
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
