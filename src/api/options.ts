// The options of a client. The caller passes in the clock, the randomness and the network.
import type { Transport } from './transport.js';
import type { Credentials, TokenStore, Transaction } from './types.js';

/** The ids that a log line may have. */
export interface LogFacts {
  /** The caller's reference of the payment. */
  readonly reference?: string;
  readonly txnId?: string;
  /** The service's id of the request. */
  readonly requestId?: string;
}

/** What a client needs to reach the service. */
export interface ClientOptions {
  /** An https URL, or http to this machine; see `parseBaseUrl`. */
  baseUrl: string;
  credentials: Credentials;
  transport: Transport;
  tokens: TokenStore;
  /**
   * The service name on the wire, such as `service` in the specification, or `acme` for `acmepay`.
   */
  maker: string;
  /**
   * The (sub)account to read instead of the token's own account. Only `wallets` and `account` have
   * an account in their path. Every other endpoint acts on the account of the API key, so the
   * transactions of a different account need that account's key.
   */
  accountId?: string | undefined;
  /** The machine's clock in epoch ms. */
  clock: () => number;
  /** Waits for a time in ms. The wait may reject or resolve early when the signal fires. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A random number in [0, 1). */
  random: () => number;
  signal?: AbortSignal | undefined;
  /**
   * Receives a line per exchange with method, path, status and time, but no header, query or body.
   */
  log?: ((line: string, facts?: LogFacts) => void) | undefined;
  /** Receives the ids in a response. */
  onFacts?: ((facts: LogFacts) => void) | undefined;
  /** The number of retries of a failed request that may be repeated (default 3). */
  retries?: number | undefined;
  /** The time limit of one request with its retries, in ms. */
  timeoutMs: number;
  /** The longest total rate-limit wait of one request, in ms (default `timeoutMs`). */
  rateLimitWaitMs?: number | undefined;
  /** Stores the page size of a service that returns fewer rows than requested. */
  pageSizes?:
    | { load(): Promise<number | undefined>; save(size: number): Promise<void> }
    | undefined;
  /** Called with the wait in ms when a request waits because of a rate limit. */
  onWait?: ((ms: number) => void) | undefined;
  /**
   * Receives the name, the value and the expected value of a field that svcpay could not read and
   * therefore ignored.
   */
  onUnrecognized?: ((words: string) => void) | undefined;
  /** Called when the service has reported a transaction by id, or confirmed it. */
  onTransaction?: ((txn: Transaction) => void) | undefined;
  /** The user agent, such as `svcpay/1.0.0`. */
  userAgent?: string | undefined;
}
