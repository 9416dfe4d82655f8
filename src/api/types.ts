// The objects on the wire, with the names from the specification. Amounts are numbers in the main
// unit of the currency (BTC, never satoshis). Times are epoch ms unless noted. Services omit more
// fields than the specification allows, so only the fields that the readers require are mandatory.
// Also the options of a client and of its calls.
import type Big from 'big.js';
import type { WireNumber } from '../formats/amount.js';
import type { transactionStates } from '../formats/states.js';
import type { FurtherDeductions } from './unspecified.js';
import type { Transport } from './errors.js';

/** A state from the specification, or any other value that the service sends. */
export type TxnState = (typeof transactionStates)[number] | (string & {});

/**
 * A payment method from the specification, or any other value that the service sends, such as a
 * payout code.
 */
export type Method =
  | 'servicepay'
  | 'lightning'
  | 'lnurl'
  | 'on-chain'
  | 'tron'
  | 'eth'
  | 'vnd-instant'
  | 'mobile'
  | (string & {});

/**
 * The key under which an object stores its unrecognized fields. The client sets an unrecognized
 * field to null.
 */
export const misread: unique symbol = Symbol('misread');

/** A field whose value svcpay could not read. */
export interface MisreadField {
  /** The name of the field, such as `sourceReq.amtRequested`. */
  readonly path: string;
  readonly value: unknown;
  /** What svcpay expected, such as `a number`. */
  readonly expected: string;
}

/**
 * The details of one side by method and role (specification: reqDetails), and details that live
 * services add.
 */
export type RequestDetails = {
  /** The invoice of a Lightning payment or request. */
  paymentRequest?: string | null | undefined;
  /** The hosted page of a Lightning request. */
  invoicePageUrl?: string | null | undefined;
  /** The address of an on-chain, USDT or LNURL payment, or of an on-chain request. */
  address?: string | null | undefined;
  amount?: WireNumber | null | undefined;
  /** The `bitcoin:` URI of an on-chain request. */
  invoice?: string | null | undefined;
  /** The expiry of an on-chain request, in the form that the service sends. */
  expiredAt?: string | number | null | undefined;
  lnurlAddress?: string | null | undefined;
  lnurl?: string | null | undefined;
  acctName?: string | null | undefined;
  acctNum?: string | null | undefined;
  bankAcctNum?: string | null | undefined;
  accountNumber?: string | null | undefined;
  institutionCode?: string | null | undefined;
  institutionName?: string | null | undefined;
  confirmations?: number | null | undefined;
  requiredConfirmations?: number | null | undefined;
};

/** The name of a detail. */
export type DetailName = keyof RequestDetails;

/** What a response states about a party of a fiat payout (specification: kyc object). */
export type Identity = {
  /** `individual` or `business`. */
  type?: string | null | undefined;
  details?: Person | null | undefined;
};

/** The name and the address of a party, as a response states them. */
export type Person = { [Detail in keyof Kyc['details']]?: string | null | undefined };

/** One side of a transaction (specification, section Request side object). */
export interface RequestSide {
  /** A currency code, such as `BTC`, `USDT`, `VND`. */
  ccy?: string | null | undefined;
  method?: Method | null | undefined;
  amtRequested?: WireNumber | null | undefined;
  /** The settled amount, which the service fills in after completion. */
  amtSettled?: WireNumber | null | undefined;
  /**
   * The details of this side of the transaction, such as an invoice, an address or a bank account.
   * The details depend on the method and the role (specification: reqDetails).
   */
  reqDetails?: RequestDetails | null | undefined;
  /** The identity of the payer or payee, only for fiat payouts. */
  kyc?: Identity | null | undefined;
  /**
   * The service fee, in the main unit of the source currency. Responses state the service fee only
   * in `sourceReq`.
   */
  servicepayFees?: WireNumber | null | undefined;
  /**
   * The network or mining fee, in the main unit of the source currency. Responses state the network
   * fee only in `sourceReq`.
   */
  networkFees?: WireNumber | null | undefined;
  /**
   * The status of this side of the transaction. The specification defines only `0` (pending) and
   * `2` (completed).
   */
  reqStatus?: string | number | null | undefined;
  /**
   * The expiry of the quote or, after the confirmation of a receive request, of its invoice or
   * address.
   */
  expiresAt?: number | null | undefined;
  /** The time of creation, under the name that the service uses. */
  createAt?: number | null | undefined;
  updatedAt?: number | null | undefined;
}

/**
 * A transaction (specification, section Transaction). If the service omits a side, the side is an
 * empty object.
 */
export interface Transaction {
  /**
   * The id of the transaction. An unrecognized row of a list has an empty id and an empty
   * `txnState`.
   */
  txnId: string;
  /** The state of the transaction (specification, section States and transitions). */
  txnState: TxnState;
  sourceReq: RequestSide;
  destReq: RequestSide;
  accountId?: string | null | undefined;
  accountDisplayName?: string | null | undefined;
  /** The caller's reference, if the caller gave a reference. */
  extRefId?: string | null | undefined;
  /** The caller's note, which the recipient does not see. */
  note?: string | null | undefined;
  sourceOfFunds?: { [Code in keyof SourceOfFunds]?: number | null | undefined } | null | undefined;
  /**
   * The number of units of the destination currency for one unit of the source currency, which is 1
   * if both sides have the same currency.
   */
  fxRate?: WireNumber | null | undefined;
  /** Whether the service takes the fees out of the amount sent, if the service returns the flag. */
  deductNetworkFeesFromDest?: boolean | null | undefined;
  deductNetworkFees?: boolean | null | undefined;
  deductServicepayFees?: boolean | null | undefined;
  createdAt?: number | null | undefined;
  /** The unrecognized fields. */
  [misread]?: readonly MisreadField[] | undefined;
}

/** An item of the transaction list (endpoint 10), which may lack fields. */
export type ListedTransaction = Transaction;

/** A page of the transaction list (endpoint 10). */
export interface TransactionPage {
  data: ListedTransaction[];
  pagination?: Pagination | undefined;
}

/** The position of a page, counted from 1, as the service reports it. */
export interface Pagination {
  page?: number | null | undefined;
  limit?: number | null | undefined;
  total?: number | null | undefined;
}

/** A wallet of an account, which holds one currency (endpoint 2). */
export interface Wallet {
  id?: string | null | undefined;
  ccy: string;
  /**
   * The total balance in the main unit of the currency, including the amounts that pending
   * transactions reserve.
   */
  amount?: WireNumber | null | undefined;
  /** The spendable balance in the main unit of the currency. */
  availableBalance?: WireNumber | null | undefined;
  accountId?: string | null | undefined;
  /** ISO 8601. */
  createdAt?: string | null | undefined;
  /** ISO 8601. */
  updatedAt?: string | null | undefined;
}

/**
 * The account record (endpoint 3), with the fields that live services send. The specification does
 * not name the fields of an account record.
 */
export type Account = {
  id?: string | null | undefined;
  accountId?: string | null | undefined;
  displayName?: string | null | undefined;
  accountDisplayName?: string | null | undefined;
  status?: string | null | undefined;
  accountStatus?: string | null | undefined;
  country?: string | null | undefined;
  countryCode?: string | null | undefined;
  timezone?: string | null | undefined;
  extId?: string | null | undefined;
  parentAccountId?: string | null | undefined;
  lightningAddress?: string | null | undefined;
  kyc?: Identity | null | undefined;
  /** ISO 8601. */
  createdAt?: string | null | undefined;
};

/** The permanent Bitcoin deposit address (endpoint 4). */
export interface BitcoinAddress {
  staticOnchainAddress: string;
}

/** A permanent USDT deposit address (endpoint 5). */
export interface UsdtAddress {
  staticOnchainAddress: string;
  walletCcy?: string | null | undefined;
  chainId?: string | null | undefined;
  accountId?: string | null | undefined;
}

/** The registered webhook (endpoints 11 to 14), without its secret. */
export interface Webhook {
  id: string;
  /** An https URL. */
  callback: string;
  createdAt?: number | null | undefined;
}

/** A bank or mobile wallet for payouts (endpoint 15). */
export interface Institution {
  institutionCode: string;
  /** `bank` or `mobile`. */
  institutionType?: string | null | undefined;
  institutionName?: string | null | undefined;
}

/**
 * The rates by pair, such as `{ BTCUSD: 70796.845 }`. A rate is the price of one unit of the first
 * currency in the second currency.
 */
export type Rates = Readonly<Record<string, WireNumber>>;

/** The chains of the static USDT address (endpoint 5). */
export type UsdtChain = 'TRON' | 'ETH';

/**
 * One side of a create request. Set `amtRequested` on exactly one side, or on neither side for a
 * BOLT11 send (endpoint 6).
 */
export interface CreateSide {
  ccy: string;
  method: Method;
  amtRequested?: Big | number | undefined;
  reqDetails?: Readonly<Partial<Record<DetailName, unknown>>> | undefined;
  kyc?: Kyc | undefined;
}

/** The identity of a party of a fiat payout. */
export interface Kyc {
  type: 'individual' | 'business';
  details: {
    legalFullName: string;
    /** ISO 3166-1 alpha-2. */
    countryCode: string;
    contactNumber?: string | undefined;
    address1?: string | undefined;
  };
}

/**
 * The codes of the source of funds for international payouts. The specification does not define the
 * meaning of the source-of-funds codes.
 */
export interface SourceOfFunds {
  purpose: number;
  source: number;
  relationship: number;
}

/**
 * The body of a create request (endpoint 6). The client does not send fields that are `undefined`.
 */
export interface CreateTransaction extends FurtherDeductions {
  sourceReq: CreateSide;
  destReq: CreateSide;
  /** The reference, which is unique per transaction. */
  extRefId?: string | undefined;
  note?: string | undefined;
  /** Whether the service should take the fees out of the amount sent. */
  deductNetworkFeesFromDest?: boolean | undefined;
  sourceOfFunds?: SourceOfFunds | undefined;
}

/**
 * The filters of endpoint 10, under the names from the specification. The filters `startTime` and
 * `endTime` apply only if `time` is `other`.
 */
export interface TransactionFilter {
  time?: '1d' | '7d' | '30d' | '3m' | '6m' | '1y' | 'other' | undefined;
  /** ISO 8601, inclusive. */
  startTime?: string | undefined;
  /** ISO 8601, inclusive. */
  endTime?: string | undefined;
  txnStatuses?: readonly TxnState[] | undefined;
  srcMethods?: Method | undefined;
  destMethods?: Method | undefined;
  excludedSrcMethods?: Method | undefined;
  excludedDestMethods?: Method | undefined;
  limit?: number | undefined;
  page?: number | undefined;
}

/** What a transaction is found by: its invoice, its payment hash, or its reference. */
export type SoughtTransaction =
  | { invoice: string; paymentHash?: never; ref?: never }
  | { paymentHash: string; invoice?: never; ref?: never }
  | { ref: string; invoice?: never; paymentHash?: never };

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

/** The options of a call that reads an account. */
export interface AccountOptions extends RequestOptions {
  /** The account or subaccount to read, instead of the client's `accountId`. */
  accountId?: string | undefined;
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
export interface TransactionList extends AsyncGenerator<ListedTransaction, void, void> {
  /** Resolves with the first `limit` transactions as an array. */
  autoPagingToArray(options: { limit: number }): Promise<ListedTransaction[]>;
}

/** An access token, and the time of its expiry. */
export interface Token {
  accessToken: string;
  /** The expiry in epoch ms, by the service's clock. */
  expiresAt: number;
  accountId: string;
}

/** Stores an access token between runs of svcpay. */
export interface TokenStore {
  load(): Promise<Token | undefined>;
  save(token: Token): Promise<void>;
}

/** The API key and secret that sign requests for a token. */
export interface Credentials {
  apiKey: string;
  apiSecret: string;
}

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
