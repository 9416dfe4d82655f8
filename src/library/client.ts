// The client of the library: the service client with a network, a clock and a token store.
import { setTimeout as delay } from 'node:timers/promises';
import packageJson from '../../package.json' with { type: 'json' };
import { ServiceClient } from '../api/client.js';
import type { NetworkTransport } from '../api/network/exchange.js';
import { networkTransport } from '../api/network/network.js';
import { hidden, withoutSecrets } from '../api/redact.js';
import {
  NetworkError,
  type HttpRequest,
  type HttpResponse,
  type Transport,
} from '../api/transport.js';
import type { Token, TokenStore } from '../api/types.js';
import { timerMs } from '../formats/duration.js';
import { checkCount } from '../formats/failure.js';

/** What a {@link WalletClient} needs to know; the rest has a default. */
export interface WalletClientOptions {
  /** `https://…`, or `http://` to this machine. A path behind it, such as `/api/v2`, is ignored. */
  baseUrl: string;
  /** Issued at onboarding. */
  apiKey: string;
  /** Signs the request for a token, and is never sent itself. */
  apiSecret: string;
  /** The brand on the wire: `acme` for `acmepay` and `acmepayFees`. As in the specification, `service`. */
  maker?: string | undefined;
  /** The (sub)account whose wallets and record are read; every other endpoint acts for the account of the key. */
  accountId?: string | undefined;
  /** For one request with its retries, in ms; by default 30 000. */
  timeoutMs?: number | undefined;
  /** How often a read is repeated when the network or the service fails for a moment; by default 3 times. */
  retries?: number | undefined;
  /** Called before each request is sent, repeated ones too, without its secrets. If it throws, the request is not sent. */
  onRequest?: ((request: HttpRequest) => void | Promise<void>) | undefined;
  /** Called with each answer before it is read, without its secrets. */
  onResponse?: ((response: HttpResponse, request: HttpRequest) => void | Promise<void>) | undefined;
  /** Carries the requests; by default over the network, through the proxy that the environment names. */
  transport?: Transport | undefined;
  /** Keeps the access token between clients; by default in the memory of this one. */
  tokens?: TokenStore | undefined;
  /** Precedes svcpay's own, as in `shop/1.0 svcpay/0.1.0`. */
  userAgent?: string | undefined;
  /** Stops requests and pauses: they reject with kind `interrupted`, or with a `NoAnswer`. */
  signal?: AbortSignal | undefined;
  /** Receives a line per exchange: method, path, status and time; never a header, a query or a body. */
  log?: ((line: string) => void) | undefined;
}

/**
 * The service, one method per endpoint of the specification. Signs in automatically, and again after its token expires, and
 * repeats reads when the network or the service fails for a moment. A request that changes something is sent once.
 *
 * Every method rejects with a {@link ServiceError} when the service refuses, with a {@link NoAnswer} when the
 * outcome of the request is unknown, and with another {@link Failure} when an answer cannot be read. Amounts are in whole
 * units of the currency, times in epoch ms.
 */
export class WalletClient extends ServiceClient {
  readonly #close: () => Promise<void>;

  /** Throws `Failure` usage for options that cannot be, such as a base URL of plain http to another machine. */
  constructor(options: WalletClientOptions) {
    const {
      baseUrl,
      apiKey,
      apiSecret,
      accountId,
      signal,
      log,
      timeoutMs = 30_000,
      retries,
    } = options;
    checkCount('timeoutMs', timeoutMs, 1);
    checkCount('retries', retries ?? 0, 0);
    const transport =
      options.transport === undefined
        ? networkTransport({ env: process.env, timeoutMs })
        : notOwned(options.transport);
    super({
      baseUrl,
      credentials: { apiKey, apiSecret },
      transport: hooked(transport, options),
      retries,
      tokens: options.tokens ?? tokensInMemory(),
      maker: options.maker ?? 'service',
      accountId,
      clock: () => Date.now(),
      sleep: (ms, signal) => delay(timerMs(ms), undefined, signal === undefined ? {} : { signal }),
      random: () => Math.random(),
      signal,
      log,
      timeoutMs,
      userAgent: [options.userAgent, `svcpay/${packageJson.version}`].filter(Boolean).join(' '),
    });
    this.#close = transport.close;
  }

  /** Ends kept-alive connections at once. Not needed for the process to end; does nothing for a given `transport`. */
  close(): Promise<void> {
    return this.#close();
  }
}

/** The caller closes a transport that the caller made. */
const notOwned = (transport: Transport): NetworkTransport =>
  Object.assign((request: HttpRequest) => transport(request), { close: async () => undefined });

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

function tokensInMemory(): TokenStore {
  let kept: Token | undefined;
  return { load: async () => kept, save: async (token) => void (kept = token) };
}
