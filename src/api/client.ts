// The client of the service: one method per endpoint from the specification.
import { checkCount, Failure } from '../formats/failure.js';
import { isPathSegment } from '../formats/text.js';
import { unknownOutcome } from './answer.js';
import { parseBaseUrl } from './base-url.js';
import { effectOf } from './request/call.js';
import { CancelNotOffered, ServiceError } from './errors.js';
import { wireJson, methodsToWireNames, toWireNames } from './wire.js';
import type { ClientOptions } from './options.js';
import * as read from './reading/objects.js';
import type { AnswerReader } from './reading/readers.js';
import {
  readTransaction,
  readTransactionIfThere,
  readTransactionPage,
} from './reading/transaction.js';
import { createService, type CallTerms, type Service } from './request/service.js';
import {
  eachPage,
  eachRow,
  largePageSize,
  pageSize,
  usualPageSize,
  type ListSource,
  type Page,
} from './pages.js';
import type { HttpResponse } from './transport.js';
import type * as types from './types.js';
import { arrayParameter, cancelPath, ratesPath } from './unspecified.js';

export type { ClientOptions };

/**
 * The endpoints of the service, as methods. If the network or the service fails temporarily, the
 * client repeats a read, but not a create request or a confirmation. Every method rejects with a
 * `ServiceError` if the service refuses the request, with a `NoAnswer` if the outcome of the
 * request is unknown, and with another `Failure` if the response to a read is invalid.
 */
export class ServiceClient {
  readonly #options: ClientOptions;
  #service: Service;

  constructor(options: ClientOptions) {
    this.#options = { ...options, baseUrl: parseBaseUrl(options.baseUrl) };
    this.#service = createService(this.#options);
  }

  /**
   * Returns a client with the same token whose requests also stop when `signal` fires.
   */
  until(signal: AbortSignal): ServiceClient {
    return this.within({ signal });
  }

  /** Returns a client with the same token whose requests also have these options. */
  within(terms: CallTerms): ServiceClient {
    const client = new ServiceClient(this.#options);
    client.#service = this.#service.within(terms);
    return client;
  }

  /**
   * Returns a client that has the same token but ignores the signal in the options, so that a
   * program can still undo something after the signal fires.
   */
  afterwards(): ServiceClient {
    const client = new ServiceClient(this.#options);
    client.#service = this.#service.afterwards();
    return client;
  }

  get baseUrl(): string {
    return this.#options.baseUrl;
  }

  /** The service name on the wire. */
  get maker(): string {
    return this.#options.maker;
  }

  /**
   * The service's clock in epoch ms, from the `Date` header of responses, or the machine's clock
   * before the first response.
   */
  serviceNow(): number {
    return this.#service.now();
  }

  /** The service's clock, or undefined before the first response with a date. */
  datedNow(): number | undefined {
    return this.#service.datedNow();
  }

  /** Signs in again and stores the token (endpoint 1). */
  authenticate(): Promise<types.Token> {
    return this.#service.authenticate();
  }

  /**
   * Reads the wallets of the given account (endpoint 2). The default account is the account in the
   * options, otherwise the token's account.
   */
  async wallets(accountId?: string): Promise<types.Wallet[]> {
    const path = `${await this.#accountPath(accountId)}/wallet/`;
    return this.#read(path, read.readWallets);
  }

  /**
   * Reads the record of the given account (endpoint 3). The default account is the same as for
   * {@link wallets}.
   */
  async account(accountId?: string): Promise<types.Account> {
    return this.#read(await this.#accountPath(accountId), read.readAccount);
  }

  /** Reads the permanent Bitcoin deposit address of the token's account (endpoint 4). */
  bitcoinAddress(): Promise<types.BitcoinAddress> {
    return this.#read('/api/v2/account/onchain-address', read.readBitcoinAddress);
  }

  /** Reads the permanent USDT deposit address of the token's account on one chain (endpoint 5). */
  usdtAddress(chainId: types.UsdtChain): Promise<types.UsdtAddress> {
    const query: [string, string][] = [
      ['walletCcy', 'USDT'],
      ['chainId', chainId],
    ];
    return this.#read('/api/v2/account/stablecoin-onchain-address', read.readUsdtAddress, query);
  }

  /**
   * Creates a quote, which moves no money (endpoint 6). After a `NoAnswer`, search the list of
   * transactions for the `extRefId` before you repeat the call.
   */
  async createTransaction(transaction: types.CreateTransaction): Promise<types.Transaction> {
    const body = wireJson(toWireNames(transaction, this.#options.maker));
    return this.#service.call(
      { method: 'POST', path: '/api/v2/transaction', body, effect: 'quote' },
      readTransaction,
    );
  }

  /**
   * Confirms a quote, so that the service executes the transaction (endpoint 7). After a
   * `NoAnswer`, read the transaction before you repeat the call.
   */
  async confirmTransaction(txnId: string): Promise<types.Transaction> {
    const path = `/api/v2/transaction/${segment(txnId)}/confirm`;
    const call = { method: 'PUT', path, effect: 'payment', txnId } as const;
    const confirmed = await this.#service.call(call, readTransactionIfThere);
    return this.#seen(confirmed ?? (await this.#readBack(txnId)));
  }

  /**
   * Cancels a quote (endpoint 8, response not specified). Rejects with `CancelNotOffered` if the
   * service does not offer cancellation.
   */
  async cancelTransaction(txnId: string): Promise<types.Transaction> {
    const call = {
      method: 'PUT',
      path: cancelPath(segment(txnId)),
      effect: 'setting',
      txnId,
      mayBeEmpty: true,
    } as const;
    const cancelled = await this.#service
      .call(call, ifPossible(readTransactionIfThere))
      .catch((error: unknown) => {
        throw isNotOffered(error)
          ? new CancelNotOffered('refused', error.message, { ...error, cause: error })
          : error;
      });
    return cancelled ?? this.transaction(txnId);
  }

  /** Reads one transaction by its id (endpoint 9). */
  async transaction(txnId: string): Promise<types.Transaction> {
    const path = `/api/v2/transaction/${segment(txnId)}`;
    return this.#seen(
      await this.#service.call({ method: 'GET', path, effect: 'read', txnId }, readTransaction),
    );
  }

  #seen(txn: types.Transaction): types.Transaction {
    this.#options.onTransaction?.(txn);
    return txn;
  }

  /**
   * Reads one page of the list of transactions (endpoint 10). Returns an empty page after the last
   * page, even if the service answers 404.
   */
  async transactions(
    filter: types.TransactionFilter = {},
    { signal }: types.RequestOptions = {},
  ): Promise<types.TransactionPage> {
    const query = filterQuery(filter, this.#options.maker);
    const page = this.#service.call(
      { method: 'GET', path: '/api/v2/transaction', query, effect: 'read', signal },
      readTransactionPage,
    );
    return Number(filter.page) > 1 ? page.catch(ifMissing({ data: [] })) : page;
  }

  /**
   * Yields every transaction of the list once, starting at the page `filter.page`. If the caller
   * leaves the loop over the transactions early, the client stops the requests in flight.
   */
  eachTransaction(
    filter: types.TransactionFilter = {},
    options: types.RequestOptions = {},
  ): AsyncGenerator<types.ListedTransaction, void, void> {
    return eachRow(this.#listOf(filter, options));
  }

  /**
   * Yields the same transactions as {@link eachTransaction}, but in pages, which is faster than one
   * transaction at a time.
   */
  eachTransactionPage(
    filter: types.TransactionFilter = {},
    options: types.RequestOptions = {},
  ): AsyncGenerator<readonly types.ListedTransaction[], void, void> {
    return eachPage(this.#listOf(filter, options));
  }

  #listOf(
    filter: types.TransactionFilter,
    { signal }: types.RequestOptions,
  ): ListSource<types.ListedTransaction> {
    const { page = 1, limit } = filter;
    const ended = new AbortController();
    const options = {
      signal: signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]),
    };
    const get = async (at: number, size: number): Promise<Page<types.ListedTransaction>> => {
      const { data, pagination } = await this.transactions(
        { ...filter, limit: size, page: at },
        options,
      );
      return { rows: data, total: pagination?.total };
    };
    let acceptedSize = limit;
    const fetch = async (at: number): Promise<Page<types.ListedTransaction>> => {
      if (acceptedSize !== undefined) return get(at, acceptedSize);
      const [first, size] = await this.#largestPage((asked) => get(at, asked));
      acceptedSize = size;
      return first;
    };
    return {
      fetch,
      idOf: (txn) => txn.txnId || JSON.stringify(txn),
      from: { page, size: limit ?? pageSize },
      end: () => ended.abort(),
    };
  }

  /**
   * Reads the first page of a list, as large as the service allows. Returns the first page, and the
   * page size for further requests.
   */
  async #largestPage<T>(get: (size: number) => Promise<Page<T>>): Promise<[Page<T>, number]> {
    const { pageSizes } = this.#options;
    const savedSize = await pageSizes?.load();
    if (savedSize !== undefined) return [await get(savedSize), savedSize];
    const large = await get(largePageSize).catch((error: unknown) => {
      if (error instanceof ServiceError && error.kind === 'refused') return undefined;
      throw error;
    });
    const isUsual = large?.rows.length === usualPageSize && (large.total ?? 0) > usualPageSize;
    if (large !== undefined && !isUsual) return [large, largePageSize];
    const smaller = await get(pageSize);
    const size = smaller.rows.length > (large?.rows.length ?? 0) ? pageSize : largePageSize;
    await pageSizes?.save(size);
    return [smaller, size];
  }

  /**
   * Replaces the account's webhook (endpoint 11). The callback must be an https URL. If the
   * response omits the new webhook, the client reads it from the list of webhooks.
   */
  async createWebhook(webhook: { callback: string; secret: string }): Promise<types.Webhook> {
    const call = {
      method: 'POST',
      path: '/api/v2/webhook',
      body: wireJson(webhook),
      effect: 'setting',
      mayBeEmpty: true,
    } as const;
    const created = await this.#service.call(call, ifPossible(read.readWebhook));
    const found =
      created ?? (await this.webhooks()).find(({ callback }) => callback === webhook.callback);
    if (found === undefined)
      throw new Failure(
        'unexpected',
        'The service accepted the webhook, but does not list the webhook.',
      );
    return found;
  }

  /** Reads the account's webhook, if there is one (endpoint 12). */
  webhooks(): Promise<types.Webhook[]> {
    return this.#read('/api/v2/webhook', read.readWebhooks).catch(ifMissing([]));
  }

  /**
   * Changes a webhook (endpoint 13). The specification does not define the response to a webhook
   * change, so read {@link webhooks} for the result.
   */
  async updateWebhook(
    webhookId: string,
    change: { callback?: string; secret?: string },
  ): Promise<void> {
    const path = `/api/v2/webhook/${segment(webhookId)}`;
    const call = {
      method: 'PUT',
      path,
      body: wireJson(change),
      effect: 'setting',
      mayBeEmpty: true,
    } as const;
    await this.#service.call(call, anything);
  }

  /** Removes a webhook (endpoint 14). */
  async removeWebhook(webhookId: string): Promise<void> {
    const path = `/api/v2/webhook/${segment(webhookId)}`;
    await this.#service.call(
      { method: 'DELETE', path, effect: 'setting', mayBeEmpty: true },
      anything,
    );
  }

  /**
   * Lists the banks of a country (ISO alpha-2), followed by its mobile wallets (endpoint 15).
   * Resolves with an empty list if the country has no payout methods.
   */
  async institutions(countryCode: string): Promise<types.Institution[]> {
    const path = `/api/v2/reference/fiat-institution/by-country/${segment(countryCode)}`;
    return this.#service
      .call({ method: 'GET', path, effect: 'read', mayBeEmpty: true }, read.readInstitutions)
      .catch(ifMissing([]));
  }

  /** Reads the exchange rates (endpoint 16, which the specification only names). */
  rates(): Promise<types.Rates> {
    return this.#read(ratesPath, read.readRates);
  }

  /**
   * Sends any authenticated request and resolves with the response, whatever its status. The path
   * must begin with `/`. The client sends the body, which must be JSON, verbatim. Unless `retry` is
   * false, the client repeats a GET after a temporary failure. The client also repeats a request
   * that changes settings if the request was lost on a closed connection.
   */
  async request(
    method: string,
    path: string,
    body?: string,
    options: { retry?: boolean } = {},
  ): Promise<HttpResponse> {
    if (!path.startsWith('/'))
      throw new Failure('usage', 'The path of a request must begin with a slash.');
    const verb = method.toUpperCase();
    return this.#service.raw(
      { method: verb, path, body, ...effectOf(verb, path) },
      options.retry ?? true,
    );
  }

  /** The API key's account, to which all transactions belong. */
  async ownAccountId(): Promise<string> {
    return this.#service.accountId();
  }

  /**
   * Returns the id of the account in the options, or of the token's own account if the options
   * contain no account.
   */
  async accountId(): Promise<string> {
    return this.#options.accountId ?? this.#service.accountId();
  }

  #read<T>(path: string, reader: AnswerReader<T>, query?: [string, string][]): Promise<T> {
    return this.#service.call({ method: 'GET', path, query, effect: 'read' }, reader);
  }

  /** Reads the transaction after a confirmation whose response does not contain the transaction. */
  async #readBack(txnId: string): Promise<types.Transaction> {
    return this.transaction(txnId).catch((cause: unknown) => {
      const message =
        'The service accepted the confirmation, but the transaction could not be read.';
      throw unknownOutcome(message, { effect: 'payment', txnId }, { cause });
    });
  }

  async #accountPath(accountId?: string): Promise<string> {
    return `/api/v2/account/${segment(accountId ?? (await this.accountId()))}`;
  }
}

/** Encodes an id as one segment of a path. */
function segment(id: string): string {
  if (typeof id !== 'string' || !isPathSegment(id))
    throw new Failure('usage', `"${id}" is not a valid id.`);
  return encodeURIComponent(id);
}

const anything = (): void => undefined;

/**
 * Returns a replacement value if the service itself answers 404. A 404 from a gateway stays an
 * error.
 */
const ifMissing =
  <T>(nothing: T) =>
  (error: unknown): T => {
    if (error instanceof ServiceError && error.status === 404 && error.isOwnRefusal) return nothing;
    throw error;
  };

/** Returns the result of the read, or undefined if the client cannot read the response. */
const ifPossible =
  <T>(reader: AnswerReader<T>): AnswerReader<T | undefined> =>
  (answer, unrecognized) => {
    try {
      return reader(answer, unrecognized);
    } catch {
      return undefined;
    }
  };

const isNotOffered = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.status === 404 || error.status === 405);

function filterQuery(filter: types.TransactionFilter, serviceName: string): [string, string][] {
  const {
    txnStatuses,
    srcMethods,
    destMethods,
    excludedSrcMethods,
    excludedDestMethods,
    ...others
  } = filter;
  for (const name of ['page', 'limit'] as const)
    if (filter[name] !== undefined) checkCount(name, filter[name], 1);
  const methods = Object.entries({
    srcMethods,
    destMethods,
    excludedSrcMethods,
    excludedDestMethods,
  });
  return [
    ...Object.entries(others).flatMap(([name, value]) =>
      parameter(name, value === undefined ? value : `${value}`),
    ),
    ...arrayParameter('txnStatuses', txnStatuses ?? []),
    ...methods.flatMap(([name, value]) =>
      parameter(name, value && methodsToWireNames(value, serviceName)),
    ),
  ];
}

const parameter = (name: string, value: string | undefined): [string, string][] =>
  value === undefined ? [] : [[name, value]];
