// The client of the service: one method per endpoint from the specification.
import * as v from 'valibot';
import { checkCount, Failure, invalid } from '../formats/failure.js';
import { option, optionsOf, parseBaseUrl } from './check-options.js';
import { isPathSegment } from '../formats/text.js';
import { requestIdOf, unknownOutcome, effectOf, type Call } from './answer.js';
import { CancelNotOffered, ServiceError, type HttpResponse } from './errors.js';
import { wireJson, methodsToWireNames, toWireNames } from './wire.js';
import type { ClientOptions } from './types.js';
import * as read from './reading.js';
import type { AnswerReader } from './reading.js';
import { createService, type CallTerms, type Service } from './service.js';
import {
  eachPage,
  eachRow,
  largePageSize,
  pageSize,
  usualPageSize,
  type ListSource,
  type Page,
} from './pages.js';
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
  /** Is aborted when the client is closed, also for all clients with the same token. */
  #closed = new AbortController();

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
    return this.#with(this.#service.within(terms));
  }

  #with(service: Service): ServiceClient {
    const client = new ServiceClient(this.#options);
    client.#service = service;
    client.#closed = this.#closed;
    return client;
  }

  /** Returns the service. Throws Failure `usage` if the client is closed. */
  #open(): Service {
    if (!this.#closed.signal.aborted) return this.#service;
    throw invalid('the client is closed.', { money: 'Nothing was sent' });
  }

  /**
   * Returns a client that has the same token but ignores the signal in the options, so that a
   * program can still undo something after the signal fires.
   */
  afterwards(): ServiceClient {
    return this.#with(this.#service.afterwards());
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
  async authenticate(options?: types.RequestOptions): Promise<types.Token> {
    return this.#open().within(termsOf(options)).authenticate();
  }

  /**
   * Reads the wallets of an account (endpoint 2). The default account is the client's `accountId`,
   * otherwise the API key's account.
   */
  async wallets(options?: types.AccountOptions): Promise<types.Answered<types.Wallet[]>> {
    const path = `${await this.#accountPath(options)}/wallet/`;
    return this.#call('GET', path, read.readWallets, options);
  }

  /**
   * Reads the record of an account (endpoint 3). The default account is the client's `accountId`,
   * otherwise the API key's account.
   */
  async account(options?: types.AccountOptions): Promise<types.Answered<types.Account>> {
    return this.#call('GET', await this.#accountPath(options), read.readAccount, options);
  }

  /** Reads the permanent Bitcoin deposit address of the token's account (endpoint 4). */
  bitcoinAddress(options?: types.RequestOptions): Promise<types.Answered<types.BitcoinAddress>> {
    return this.#call('GET', '/api/v2/account/onchain-address', read.readBitcoinAddress, options);
  }

  /** Reads the permanent USDT deposit address of the token's account on one chain (endpoint 5). */
  usdtAddress(
    chainId: types.UsdtChain,
    options?: types.RequestOptions,
  ): Promise<types.Answered<types.UsdtAddress>> {
    const path = '/api/v2/account/stablecoin-onchain-address';
    const query: [string, string][] = [
      ['walletCcy', 'USDT'],
      ['chainId', chainId],
    ];
    return this.#call('GET', path, read.readUsdtAddress, options, { query });
  }

  /**
   * Creates a quote, which moves no money (endpoint 6). After a `NoAnswer`, search the list of
   * transactions for the `extRefId` before you repeat the call.
   */
  async createTransaction(
    transaction: types.CreateTransaction,
    options?: types.RequestOptions,
  ): Promise<types.Answered<types.Transaction>> {
    const named = checkedTransaction(transaction);
    const body = wireJson(toWireNames(named, this.#options.maker));
    return this.#call('POST', transactionPath, read.readTransaction, options, { body });
  }

  /**
   * Confirms a quote, so that the service executes the transaction (endpoint 7). After a
   * `NoAnswer`, read the transaction before you repeat the call.
   */
  async confirmTransaction(
    txnId: string,
    options?: types.RequestOptions,
  ): Promise<types.Answered<types.Transaction>> {
    const path = `${transactionPath}/${segment(txnId)}/confirm`;
    const call = { txnId, effect: 'payment' } as const;
    const confirmed = await this.#call('PUT', path, read.readTransactionIfThere, options, call);
    if (confirmed !== undefined) return this.#seen(confirmed);
    return this.transaction(txnId, options).catch((cause: unknown) => {
      const message =
        'The service accepted the confirmation, but the transaction could not be read.';
      throw unknownOutcome(message, call, { cause });
    });
  }

  /**
   * Cancels a quote (endpoint 8, response not specified). Rejects with `CancelNotOffered` if the
   * service does not offer cancellation.
   */
  async cancelTransaction(
    txnId: string,
    options?: types.RequestOptions,
  ): Promise<types.Answered<types.Transaction>> {
    const cancelled = await this.#call(
      'PUT',
      cancelPath(segment(txnId)),
      ifPossible(read.readTransactionIfThere),
      options,
      { effect: 'setting', txnId, mayBeEmpty: true },
    ).catch((error: unknown) => {
      throw isNotOffered(error)
        ? new CancelNotOffered('refused', error.message, { ...error, cause: error })
        : error;
    });
    return cancelled ?? this.transaction(txnId, options);
  }

  /** Reads one transaction by its id (endpoint 9). */
  async transaction(
    txnId: string,
    options?: types.RequestOptions,
  ): Promise<types.Answered<types.Transaction>> {
    const path = `${transactionPath}/${segment(txnId)}`;
    return this.#seen(await this.#call('GET', path, read.readTransaction, options, { txnId }));
  }

  /**
   * Finds the newest transaction with an invoice, a payment hash or a reference, or resolves with
   * undefined. The service offers no such lookup, so the client reads the list of transactions, and
   * for an invoice or a payment hash the latest 200 Lightning transactions.
   */
  async findTransaction(
    sought: types.SoughtTransaction,
    options?: types.RequestOptions,
  ): Promise<types.Transaction | undefined> {
    const by: { [name: string]: unknown } = checkedSought(sought);
    if (Object.values(by).filter((each) => each !== undefined).length !== 1)
      throw invalid('findTransaction: pass one of invoice, paymentHash and ref.');
    const { findTransaction } = await import('./find-transaction.js');
    return findTransaction(sought, this, options);
  }

  #seen<T extends types.Transaction>(txn: T): T {
    this.#options.onTransaction?.(txn);
    return txn;
  }

  /**
   * Reads one page of the list of transactions (endpoint 10). Returns an empty page after the last
   * page, even if the service answers 404.
   */
  async transactions(
    filter: types.TransactionFilter = {},
    options?: types.RequestOptions,
  ): Promise<types.Answered<types.TransactionPage>> {
    const named = checkedFilter(filter);
    const query = filterQuery(named, this.#options.maker);
    return this.#call('GET', transactionPath, read.readTransactionPage, options, {
      query,
      ...(Number(filter.page) > 1 && { missing: { data: [] } }),
    });
  }

  /**
   * Lists every transaction once, starting at the page `filter.page`. If the caller leaves the loop
   * over the transactions early, the client stops the requests in flight.
   */
  eachTransaction(
    filter: types.TransactionFilter = {},
    options: types.RequestOptions = {},
  ): types.TransactionList {
    const rows = eachRow(this.#listOf(filter, options));
    return Object.assign(rows, {
      async autoPagingToArray(paging: { limit: number }) {
        const { limit } = checkedPaging(paging);
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
    options: types.RequestOptions = {},
  ): AsyncGenerator<readonly types.ListedTransaction[], void, void> {
    return eachPage(this.#listOf(filter, options));
  }

  #listOf(
    filter: types.TransactionFilter,
    { signal, ...terms }: types.RequestOptions,
  ): ListSource<types.ListedTransaction> {
    const { page = 1, limit } = filter;
    const ended = new AbortController();
    const options = {
      ...terms,
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
  async createWebhook(
    webhook: { callback: string; secret: string },
    options?: types.RequestOptions,
  ): Promise<types.Answered<types.Webhook>> {
    const body = wireJson(checkedWebhook(webhook));
    const more = { body, mayBeEmpty: true };
    const reader = ifPossible(read.readWebhook);
    const created = await this.#call('POST', webhookPath, reader, options, more);
    if (created !== undefined) return created;
    const listed = await this.webhooks(options);
    const found = listed.find(({ callback }) => callback === webhook.callback);
    if (found === undefined)
      throw new Failure(
        'unexpected',
        'The service accepted the webhook, but does not list the webhook.',
      );
    return answered(found, listed.lastResponse);
  }

  /** Reads the account's webhook, if there is one (endpoint 12). */
  webhooks(options?: types.RequestOptions): Promise<types.Answered<types.Webhook[]>> {
    return this.#call('GET', webhookPath, read.readWebhooks, options, { missing: [] });
  }

  /**
   * Changes a webhook (endpoint 13). The specification does not define the response to a webhook
   * change, so read {@link webhooks} for the result.
   */
  async updateWebhook(
    webhookId: string,
    change: { callback?: string; secret?: string },
    options?: types.RequestOptions,
  ): Promise<void> {
    const body = wireJson(checkedChange(change));
    const more = { body, effect: 'setting', mayBeEmpty: true } as const;
    await this.#call('PUT', `${webhookPath}/${segment(webhookId)}`, anything, options, more);
  }

  /** Removes a webhook (endpoint 14). */
  async removeWebhook(webhookId: string, options?: types.RequestOptions): Promise<void> {
    const more = { effect: 'setting', mayBeEmpty: true } as const;
    await this.#call('DELETE', `${webhookPath}/${segment(webhookId)}`, anything, options, more);
  }

  /**
   * Lists the banks of a country (ISO alpha-2), followed by its mobile wallets (endpoint 15).
   * Resolves with an empty list if the country has no payout methods.
   */
  async institutions(
    countryCode: string,
    options?: types.RequestOptions,
  ): Promise<types.Answered<types.Institution[]>> {
    const path = `/api/v2/reference/fiat-institution/by-country/${segment(countryCode)}`;
    const more = { mayBeEmpty: true, missing: [] };
    return this.#call('GET', path, read.readInstitutions, options, more);
  }

  /** Reads the exchange rates (endpoint 16, which the specification only names). */
  rates(options?: types.RequestOptions): Promise<types.Answered<types.Rates>> {
    return this.#call('GET', ratesPath, read.readRates, options);
  }

  /**
   * Closes the client immediately, without waiting for requests in flight. Every later call rejects
   * with kind `usage`. The connections stay open if the caller passed a `transport` in the options.
   * A program may end without calling `close`.
   */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#options.close?.();
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
    if (!path.startsWith('/')) throw invalid('The path of a request must begin with a slash.');
    const verb = method.toUpperCase();
    return this.#open().raw(
      { method: verb, path, body, ...effectOf(verb, path) },
      options.retry ?? true,
    );
  }

  /** The API key's account, to which all transactions belong. */
  async ownAccountId(): Promise<string> {
    return this.#open().accountId();
  }

  /**
   * Returns the id of the account in the options, or of the token's own account if the options
   * contain no account.
   */
  async accountId(): Promise<string> {
    return this.#options.accountId ?? this.#open().accountId();
  }

  /**
   * Sends a request, and adds the last response to the value that `reader` reads.
   * @param more the parts of the request that its path does not decide, and the value if the
   *   service itself answers 404; a 404 from a gateway stays an error
   */
  async #call<T>(
    method: string,
    path: string,
    reader: AnswerReader<T>,
    options: types.RequestOptions | undefined,
    { missing, ...more }: Partial<Call> & { readonly missing?: T } = {},
  ): Promise<T extends object ? types.Answered<T> : T> {
    let last: HttpResponse = { status: 0, headers: {}, body: '' };
    const observe = (response: HttpResponse): void => void (last = response);
    const value = await this.#open()
      .within({ ...termsOf(options), observe })
      .call({ method, path, ...effectOf(method, path), ...more }, reader)
      .catch((error: unknown) => {
        if (missing !== undefined && isMissing(error)) return missing;
        throw error;
      });
    const { status, headers } = last;
    return answered(value, { requestId: requestIdOf(last), status, headers });
  }

  async #accountPath({ accountId, ...options }: types.AccountOptions = {}): Promise<string> {
    const id =
      accountId ??
      this.#options.accountId ??
      (await this.#service.within(termsOf(options)).accountId());
    return `/api/v2/account/${segment(id)}`;
  }
}

const transactionPath = '/api/v2/transaction';
const webhookPath = '/api/v2/webhook';

function segment(id: string): string {
  if (typeof id !== 'string' || !isPathSegment(id)) throw invalid(`"${id}" is not a valid id.`);
  return encodeURIComponent(id);
}

const anything = (): void => undefined;

const isMissing = (error: unknown): boolean =>
  error instanceof ServiceError && error.status === 404 && error.isOwnRefusal;

/** An option of which only the name is checked. */
const unchecked = v.optional(v.unknown());
const checkedWebhook = optionsOf('createWebhook', { callback: v.string(), secret: v.string() });
const checkedChange = optionsOf('updateWebhook', { callback: option.text, secret: option.text });
const checkedFilter = optionsOf('transactions', {
  time: unchecked,
  startTime: unchecked,
  endTime: unchecked,
  txnStatuses: unchecked,
  srcMethods: unchecked,
  destMethods: unchecked,
  excludedSrcMethods: unchecked,
  excludedDestMethods: unchecked,
  limit: unchecked,
  page: unchecked,
});
const checkedTransaction = optionsOf('createTransaction', {
  sourceReq: v.object({}),
  destReq: v.object({}),
  extRefId: option.text,
  note: option.text,
  deductNetworkFeesFromDest: option.flag,
  deductServicepayFees: option.flag,
  deductNetworkFees: option.flag,
  sourceOfFunds: unchecked,
});
const checkedRequest = optionsOf('request', {
  signal: option.signal,
  timeout: option.count(1),
  maxNetworkRetries: option.count(0),
  accountId: option.text,
});
const checkedSought = optionsOf('findTransaction', {
  invoice: option.text,
  paymentHash: option.text,
  ref: option.text,
});

const checkedPaging = optionsOf('autoPagingToArray', {
  limit: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});

function termsOf(options: types.AccountOptions = {}): CallTerms {
  const { signal, timeout, maxNetworkRetries } = checkedRequest(options);
  return {
    signal,
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(maxNetworkRetries !== undefined && { retries: maxNetworkRetries }),
  };
}

/** Adds the last response to a value as a hidden field. A value without fields stays unchanged. */
function answered<T>(
  value: T,
  lastResponse: types.LastResponse,
): T extends object ? types.Answered<T> : T {
  if (typeof value === 'object' && value !== null)
    Object.defineProperty(value, 'lastResponse', {
      value: lastResponse,
      enumerable: false,
      configurable: true,
    });
  // The compiler does not see the field that defineProperty adds.
  return value as T extends object ? types.Answered<T> : T;
}

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

function filterQuery(
  { txnStatuses = [], ...others }: types.TransactionFilter,
  serviceName: string,
): [string, string][] {
  for (const name of ['page', 'limit'] as const)
    if (others[name] !== undefined) checkCount(name, others[name], 1);
  return [
    ...Object.entries(others).flatMap(([name, value]): [string, string][] => {
      if (value === undefined) return [];
      const text = `${value}`;
      return [[name, name.endsWith('Methods') ? methodsToWireNames(text, serviceName) : text]];
    }),
    ...arrayParameter('txnStatuses', txnStatuses),
  ];
}
