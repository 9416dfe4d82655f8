// Defines the library's client: the service client with a network, a clock and a token store, and
// the body of a create request as an integrator writes it.
import * as v from 'valibot';
import packageJson from '../../package.json' with { type: 'json' };
import { ServiceClient } from '../api/client.js';
import { networkTransport } from '../api/network.js';
import type { ClientOptions } from '../api/types.js';
import { hidden, withoutSecrets } from '../api/redact.js';
import {
  type HttpRequest,
  type HttpResponse,
  NetworkError,
  type Transport,
} from '../api/errors.js';
import { sleep } from '../api/timers.js';
import type * as types from '../api/types.js';
import { invalid } from '../formats/failure.js';
import { option, optionsOf } from '../api/check-options.js';

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

/** The methods of the service client that an integrator rarely needs (see `svcpay/raw`). */
type Raw =
  | 'within'
  | 'afterwards'
  | 'serviceNow'
  | 'datedNow'
  | 'request'
  | 'ownAccountId'
  | 'accountId';

/**
 * The service, with one method per endpoint from the specification. The client signs in
 * automatically, and again after its token expires. If the network or the service fails
 * temporarily, the client repeats a read, but not a create request or a confirmation. Every method
 * rejects with a {@link ServiceError} if the service refuses, with a {@link NoAnswer} if the
 * outcome of the request is unknown, and with another {@link Failure} if a response cannot be read.
 * Amounts are in the main unit of the currency, and times are in epoch ms.
 */
export interface WalletClient extends Omit<ServiceClient, Raw | 'until' | 'createTransaction'> {
  /** Returns a client with the same token whose requests also stop when `signal` fires. */
  until(signal: AbortSignal): WalletClient;
  /**
   * Creates a quote, which moves no money (endpoint 6). After a `NoAnswer`, search the list of
   * transactions for the `extRefId` before you repeat the call.
   */
  createTransaction(
    transaction: CreateTransaction,
    options?: types.RequestOptions,
  ): Promise<types.Answered<types.Transaction>>;
}

/**
 * Opens a client. Throws Failure `usage` for invalid options, such as a missing key or secret, a
 * misspelt name, or a base URL with plain http for a remote machine.
 */
export const WalletClient: new (options: WalletClientOptions) => WalletClient =
  class extends ServiceClient {
    constructor(options: WalletClientOptions) {
      super(clientOptions(checkedOptions(options)));
    }
  };

/**
 * Returns the service client behind a {@link WalletClient}. Throws Failure `usage` for a value that
 * is not a {@link WalletClient}.
 */
export function serviceOf(client: WalletClient): ServiceClient {
  if (client instanceof ServiceClient) return client;
  throw invalid('The client is not a WalletClient.');
}

const checkedOptions = optionsOf('WalletClient', {
  signal: option.signal,
  timeout: option.count(1),
  maxNetworkRetries: option.count(0),
  baseUrl: option.filled,
  apiKey: option.filled,
  apiSecret: option.filled,
  maker: option.line,
  accountId: option.text,
  onRequest: option.called,
  onResponse: option.called,
  transport: option.called,
  tokens: v.optional(v.object({ load: v.function(), save: v.function() })),
  userAgent: option.line,
  log: option.called,
});

function clientOptions({
  apiKey,
  apiSecret,
  transport: own,
  onRequest,
  onResponse,
  maxNetworkRetries: retries,
  timeout: timeoutMs = 30_000,
  tokens = tokensInMemory(),
  maker = 'service',
  userAgent,
  ...options
}: WalletClientOptions): ClientOptions {
  const transport: Transport & { close?(): Promise<void> } =
    own ?? networkTransport({ env: process.env, timeoutMs });
  return {
    ...options,
    credentials: { apiKey, apiSecret },
    transport: hooked(transport, { onRequest, onResponse }),
    // The caller closes a transport that the caller passed.
    close: own === undefined ? transport.close : undefined,
    retries,
    tokens,
    maker,
    clock: () => Date.now(),
    sleep,
    random: () => Math.random(),
    timeoutMs,
    userAgent: [userAgent, `svcpay/${packageJson.version}`].filter(Boolean).join(' '),
  };
}

type Hooks = Pick<WalletClientOptions, 'onRequest' | 'onResponse'>;

function hooked(transport: Transport, { onRequest, onResponse }: Hooks): Transport {
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

/**
 * The code of a payout method, such as `vnd-instant` or `ke-kes-mobile` (specification: payout
 * table).
 */
export type PayoutCode = `${string}-${string}`;

/** The account of a payout, in one of the two sets of fields from the specification. */
export interface PayoutDetails {
  institutionCode: string;
  institutionName?: string | undefined;
  acctName?: string | undefined;
  acctNum?: string | undefined;
  bankAcctNum?: string | undefined;
}

/**
 * The method and details of one side of a create request (specification: reqDetails by method and
 * role).
 */
export type CreateMethod =
  | { method: 'servicepay'; reqDetails?: Readonly<Record<string, never>> | undefined }
  | { method: 'lightning'; reqDetails?: { paymentRequest?: string | undefined } | undefined }
  | { method: 'on-chain'; reqDetails?: { address?: string | undefined } | undefined }
  | { method: 'lnurl' | 'tron' | 'eth'; reqDetails: { address: string } }
  | { method: 'mobile' | PayoutCode; reqDetails: PayoutDetails };

/**
 * One side of a create request. Set `amtRequested` on exactly one side, or on neither side for a
 * BOLT11 send (endpoint 6).
 */
export type CreateSide = Omit<types.CreateSide, 'method' | 'reqDetails'> & CreateMethod;

/**
 * The body of a create request (endpoint 6). The client does not send fields that are `undefined`.
 */
export interface CreateTransaction extends Omit<types.CreateTransaction, 'sourceReq' | 'destReq'> {
  sourceReq: CreateSide;
  destReq: CreateSide;
}
