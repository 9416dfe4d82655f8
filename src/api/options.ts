// The options of a client. The caller of a client passes in the clock, the randomness and the
// network.
import type { Transport } from './transport.js';
import type { Credentials, TokenStore, Transaction } from './types.js';

/** The ids of a request that a log line can contain. */
export interface LogFacts {
  /** The caller's reference for the payment. */
  readonly reference?: string;
  readonly txnId?: string;
  /** The service's id of the request. */
  readonly requestId?: string;
}

/** The options with which a client reaches the service. */
export interface ClientOptions {
  /** The base URL, which must be https, or http to this machine (see `parseBaseUrl`). */
  baseUrl: string;
  credentials: Credentials;
  transport: Transport;
  tokens: TokenStore;
  /**
   * The service name without the ending `pay`, such as `service` for `servicepay` in the
   * specification, or `acme` for `acmepay`.
   */
  maker: string;
  /**
   * The (sub)account to read instead of the token's own account. Only the requests of `wallets` and
   * `account` have an account in their path. Every other request acts on the account of the API
   * key, so the transactions of a different account require that account's key.
   */
  accountId?: string | undefined;
  /** Returns the time of the machine's clock in epoch ms. */
  clock: () => number;
  /**
   * Waits for `ms` milliseconds. When the signal fires, `sleep` may end early, and then either
   * resolves or rejects.
   */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Returns a random number in [0, 1). */
  random: () => number;
  signal?: AbortSignal | undefined;
  /**
   * Receives a line for each exchange with the service, with method, path, status and time, but
   * without headers, query and body.
   */
  log?: ((line: string, facts?: LogFacts) => void) | undefined;
  /** Receives the ids from each response: the reference, the transaction id and the request id. */
  onFacts?: ((facts: LogFacts) => void) | undefined;
  /**
   * The maximum number of retries after a failed request, if the request may be repeated (default
   * 3).
   */
  retries?: number | undefined;
  /**
   * The time limit of one request with its retries, in ms. If the service refuses the token, the
   * request that follows the new sign-in has the full time limit again.
   */
  timeoutMs: number;
  /**
   * The time after the start of a request by which its waits for rate limits must end, in ms
   * (default `timeoutMs`).
   */
  rateLimitWaitMs?: number | undefined;
  /** Stores the page size of a service that returns fewer rows than requested. */
  pageSizes?:
    | { load(): Promise<number | undefined>; save(size: number): Promise<void> }
    | undefined;
  /** Called when a request waits because of a rate limit, with the wait in ms. */
  onWait?: ((ms: number) => void) | undefined;
  /**
   * Receives the name, the value and the expected value of a field that svcpay could not read and
   * therefore ignored.
   */
  onUnrecognized?: ((words: string) => void) | undefined;
  /** Called with each transaction that the client confirms or reads by its id. */
  onTransaction?: ((txn: Transaction) => void) | undefined;
  /** Closes the connections of the transport. */
  close?: (() => Promise<void>) | undefined;
  /** The user agent, such as `svcpay/1.0.0`. */
  userAgent?: string | undefined;
}
