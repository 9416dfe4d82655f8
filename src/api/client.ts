// The thin client of the service: one method per endpoint of the specification, nothing clever.
import * as v from 'valibot';
import { Failure } from '../formats/failure.js';
import { parseBaseUrl } from './base-url.js';
import { effectOf } from './effect.js';
import { CancelNotOffered, ServiceError } from './errors.js';
import { wireJson } from './json.js';
import { methodsToMaker, toMaker } from './maker.js';
import type { ClientOptions } from './options.js';
import * as schemas from './schemas.js';
import { createService } from './service.js';
import type { Service } from './service.js';
import type { HttpResponse } from './transport.js';
import type * as types from './types.js';
import { arrayParameter, cancelPath, ratesPath, ratesSchema } from './unspecified.js';

export type { ClientOptions };

/** Most deployments can be expected to serve this many at once; the largest page is not specified. */
const pageSize = 100;

/** Enough that neither the service nor the reader waits for the other. */
const pagesAhead = 2;

/**
 * The endpoints of the service. Reads are repeated when the network or the service fails for a moment; what changes
 * something is sent once. Every method rejects with a `ServiceError` when the service refuses, with a `NoAnswer` when
 * nothing tells what became of the request, and with another `Failure` when the answer to a read makes no sense.
 */
export class WalletClient {
  readonly #options: ClientOptions;
  readonly #service: Service;

  /** Throws `Failure` usage for a base URL that must not be used. */
  constructor(options: ClientOptions) {
    this.#options = { ...options, baseUrl: parseBaseUrl(options.baseUrl) };
    this.#service = createService(this.#options);
  }

  /** The service's clock in epoch ms, from the `Date` header of its answers; before the first one, the machine's. */
  serviceNow(): number {
    return this.#service.now();
  }

  /** Signs in anew and keeps the token (endpoint 1). */
  authenticate(): Promise<types.Token> {
    return this.#service.authenticate();
  }

  /** Endpoint 2, for the given account, else the one of the options, else the token's. */
  async wallets(accountId?: string): Promise<types.Wallet[]> {
    const path = `${await this.#accountPath(accountId)}/wallet/`;
    return (await this.#read(path, schemas.walletsSchema)).data;
  }

  /** Endpoint 3, for the same account as {@link wallets}. */
  async account(accountId?: string): Promise<types.Account> {
    return this.#read(await this.#accountPath(accountId), schemas.accountSchema);
  }

  /** The permanent Bitcoin deposit address of the token's account (endpoint 4). */
  bitcoinAddress(): Promise<types.BitcoinAddress> {
    return this.#read('/api/v2/account/onchain-address', schemas.bitcoinAddressSchema);
  }

  /** The permanent USDT deposit address of the token's account on one chain (endpoint 5). */
  async usdtAddress(chainId: types.UsdtChain): Promise<types.UsdtAddress> {
    const query: [string, string][] = [['walletCcy', 'USDT'], ['chainId', chainId]];
    return (await this.#read('/api/v2/account/stablecoin-onchain-address', schemas.usdtAddressSchema, query)).data;
  }

  /** Makes a quote, which moves nothing (endpoint 6). After a `NoAnswer`, look for the `extRefId` in the list. */
  async createTransaction(transaction: types.CreateTransaction): Promise<types.Transaction> {
    const body = wireJson(toMaker(transaction, this.#options.maker));
    return this.#service.call(
      { method: 'POST', path: '/api/v2/transaction', body, effect: 'quote' },
      schemas.transactionSchema,
    );
  }

  /** Lets a quote become a payment (endpoint 7). After a `NoAnswer`, read the transaction before anything else. */
  async confirmTransaction(txnId: string): Promise<types.Transaction> {
    const path = `/api/v2/transaction/${segment(txnId)}/confirm`;
    return this.#service.call({ method: 'PUT', path, effect: 'payment', txnId }, schemas.transactionSchema);
  }

  /** Cancels a quote (endpoint 8). Rejects with `CancelNotOffered` where the service has no such operation. */
  async cancelTransaction(txnId: string): Promise<types.Transaction> {
    const path = cancelPath(segment(txnId));
    const answer = await this.#service
      .call({ method: 'PUT', path, effect: 'setting', txnId, mayBeEmpty: true }, v.unknown())
      .catch((error: unknown) => {
        throw isNotOffered(error) ? new CancelNotOffered('refused', error.message, { ...error, cause: error }) : error;
      });
    const transaction = v.safeParse(schemas.transactionSchema, answer);
    return transaction.success ? transaction.output : this.transaction(txnId);
  }

  /** Endpoint 9. */
  async transaction(txnId: string): Promise<types.Transaction> {
    const path = `/api/v2/transaction/${segment(txnId)}`;
    return this.#service.call({ method: 'GET', path, effect: 'read', txnId }, schemas.transactionSchema);
  }

  /** One page of the list (endpoint 10). */
  transactions(filter: types.TransactionFilter = {}): Promise<types.TransactionPage> {
    return this.#read('/api/v2/transaction', schemas.transactionPageSchema, filterQuery(filter, this.#options.maker));
  }

  /**
   * Every transaction of the list from `filter.page` on, each once: what is created meanwhile pushes others onto the
   * next page, where they are passed over. While a page is used, the next ones are on their way; one that was read
   * before something was created that an earlier page shows already is read again, or it would miss what was pushed on.
   */
  async *eachTransaction(filter: types.TransactionFilter = {}): AsyncGenerator<types.ListedTransaction, void, void> {
    const fetchPage = (page: number): Promise<types.TransactionPage> => {
      const fetched = this.transactions({ limit: pageSize, ...filter, page });
      // Its failure counts only when it is its turn, which never comes if the caller stops before.
      fetched.catch(() => undefined);
      return fetched;
    };
    let page = filter.page ?? 1;
    let earlier = new Set<string>();
    let total = 0;
    const coming = [fetchPage(page)];
    for (let next = coming.shift(); next !== undefined; next = coming.shift()) {
      let { data, pagination }: types.TransactionPage = await next;
      if (pagination.total < total) ({ data, pagination } = await fetchPage(page));
      total = pagination.total;
      if (data.length === 0) return;
      const left = Math.ceil(pagination.total / pagination.limit) - page;
      while (coming.length < Math.min(left, pagesAhead)) coming.push(fetchPage(page + coming.length + 1));
      for (const transaction of data) if (!earlier.has(transaction.txnId)) yield transaction;
      earlier = new Set(data.map(({ txnId }) => txnId));
      page += 1;
    }
  }

  /** Endpoint 11; replaces the account's webhook. The callback must be https. */
  async createWebhook(webhook: { callback: string; secret: string }): Promise<types.Webhook> {
    const body = wireJson(webhook);
    return this.#service.call(
      { method: 'POST', path: '/api/v2/webhook', body, effect: 'setting' },
      schemas.webhookSchema,
    );
  }

  /** Endpoint 12: none or one. */
  async webhooks(): Promise<types.Webhook[]> {
    return (await this.#read('/api/v2/webhook', schemas.webhooksSchema)).data;
  }

  /** Endpoint 13. Its answer is not specified: read {@link webhooks} for what holds now. */
  async updateWebhook(webhookId: string, change: { callback?: string; secret?: string }): Promise<void> {
    const path = `/api/v2/webhook/${segment(webhookId)}`;
    const call = { method: 'PUT', path, body: wireJson(change), effect: 'setting', mayBeEmpty: true } as const;
    await this.#service.call(call, v.unknown());
  }

  /** Endpoint 14. */
  async removeWebhook(webhookId: string): Promise<void> {
    const path = `/api/v2/webhook/${segment(webhookId)}`;
    await this.#service.call({ method: 'DELETE', path, effect: 'setting', mayBeEmpty: true }, v.unknown());
  }

  /** Banks, then mobile wallets of a country, by its ISO alpha-2 code; none where there are no rails (endpoint 15). */
  async institutions(countryCode: string): Promise<types.Institution[]> {
    const path = `/api/v2/reference/fiat-institution/by-country/${segment(countryCode)}`;
    const call = { method: 'GET', path, effect: 'read', mayBeEmpty: true } as const;
    const answer = await this.#service.call(call, v.nullish(schemas.institutionsSchema));
    return [...(answer?.banks ?? []), ...(answer?.mobiles ?? [])];
  }

  /** Endpoint 16, as far as it is known. */
  async rates(): Promise<types.Rates> {
    return (await this.#read(ratesPath, ratesSchema)).data;
  }

  /**
   * Any request, signed in like the others and answered as it came, whatever the status. The path begins with `/`; the
   * body is JSON text, sent to the letter. Only a GET is repeated, and not with `retry: false`.
   */
  async request(
    method: string,
    path: string,
    body?: string,
    options: { retry?: boolean } = {},
  ): Promise<HttpResponse> {
    if (!path.startsWith('/')) throw new Failure('usage', 'The path of a request begins with a slash.');
    const verb = method.toUpperCase();
    return this.#service.raw({ method: verb, path, body, ...effectOf(verb, path) }, options.retry ?? true);
  }

  /** The account that the API key belongs to: transactions are always of this one. */
  async ownAccountId(): Promise<string> {
    return this.#service.accountId();
  }

  /** The account acted on: the one given in the options, else the token's own. */
  async accountId(): Promise<string> {
    return this.#options.accountId ?? this.#service.accountId();
  }

  #read<T>(path: string, schema: v.GenericSchema<unknown, T>, query?: [string, string][]): Promise<T> {
    return this.#service.call({ method: 'GET', path, query, effect: 'read' }, schema);
  }

  async #accountPath(accountId?: string): Promise<string> {
    return `/api/v2/account/${segment(accountId ?? (await this.accountId()))}`;
  }
}

/** An id as one segment of a path. An empty one, `.` and `..` would name another endpoint. */
function segment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new Failure('usage', `"${id}" is not an id.`);
  return encodeURIComponent(id);
}

const isNotOffered = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.status === 404 || error.status === 405);

function filterQuery(filter: types.TransactionFilter, maker: string): [string, string][] {
  const { txnStatuses, srcMethods, destMethods, excludedSrcMethods, excludedDestMethods, ...others } = filter;
  const methods = Object.entries({ srcMethods, destMethods, excludedSrcMethods, excludedDestMethods });
  return [
    ...Object.entries(others).flatMap(([name, value]) => parameter(name, value === undefined ? value : `${value}`)),
    ...arrayParameter('txnStatuses', txnStatuses ?? []),
    ...methods.flatMap(([name, value]) => parameter(name, value && methodsToMaker(value, maker))),
  ];
}

const parameter = (name: string, value: string | undefined): [string, string][] =>
  value === undefined ? [] : [[name, value]];
