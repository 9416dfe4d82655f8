// What a client is made of; everything outside of it is handed in here.
import type { Transport } from './transport.js';
import type { Credentials, TokenStore, Transaction } from './types.js';

/** What a line of a log is about. */
export interface LogFacts {
  /** The caller's reference of the payment. */
  readonly reference?: string;
  readonly txnId?: string;
  /** The service's name for the request. */
  readonly requestId?: string;
}

/** What {@link ServiceClient} is made of. */
export interface ClientOptions {
  /** https, or http to this machine; see `parseBaseUrl`. */
  baseUrl: string;
  credentials: Credentials;
  transport: Transport;
  tokens: TokenStore;
  /** The maker's name on the wire: `service` as in the specification, `acme` for `acmepay`. */
  maker: string;
  /**
   * The (sub)account to look at instead of the token's own. Only wallets and account have an account in their path;
   * every other endpoint acts on the account of the API key, so another account's transactions need its own key.
   */
  accountId?: string | undefined;
  /** The machine's clock, epoch ms. */
  clock: () => number;
  /** May reject or resolve early when the signal fires. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** In [0, 1). */
  random: () => number;
  signal?: AbortSignal | undefined;
  /** Receives a line per exchange: method, path, status and time; never a header, a query or a body. */
  log?: ((line: string, facts?: LogFacts) => void) | undefined;
  /** An answer arrived that says this of its request. */
  onFacts?: ((facts: LogFacts) => void) | undefined;
  /** How often a failed request that may be repeated is; 3 times if not given. */
  retries?: number | undefined;
  /** For one request with its retries. */
  timeoutMs: number;
  /** How long in all one request may be held back because the service asks for fewer; as long as `timeoutMs` if not given. */
  rateLimitWaitMs?: number | undefined;
  /** Remembers rows per page of a service that does not give as many as it was asked for first. */
  pageSizes?: { load(): Promise<number | undefined>; save(size: number): Promise<void> } | undefined;
  /** A request is held back for so long because the service asks for fewer. */
  onWait?: ((ms: number) => void) | undefined;
  /** Something of an answer was not understood and left out: which field, what came and what was expected. */
  onUnrecognized?: ((words: string) => void) | undefined;
  /** The service has reported a transaction by its id, or confirmed it. */
  onTransaction?: ((txn: Transaction) => void) | undefined;
  /** Such as `svcpay/1.0.0`. */
  userAgent?: string | undefined;
}
