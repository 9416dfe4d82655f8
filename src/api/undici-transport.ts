// The transport over the network: kept-alive connections, proxies, one time limit, answers of a sane size.
import { lookup } from 'node:dns';
import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { isLocalName, isLoopback } from './base-url.js';
import { NetworkError } from './transport.js';
import type { HttpRequest, HttpResponse, Transport } from './transport.js';

const maxResponseSize = 32 * 1024 * 1024;

export interface NetworkTransportOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** For a whole exchange, from the first byte out to the last byte in; a request may allow itself less. */
  timeoutMs: number;
}

export type NetworkTransport = Transport & {
  /** Ends all connections at once. */
  close(): Promise<void>;
};

/**
 * Sends requests with undici, which is loaded with the first one. `HTTPS_PROXY`, else `HTTP_PROXY`, less `NO_PROXY`, in
 * either case, hold for https; what goes to this machine never leaves it through a proxy.
 */
export function undiciTransport({ env, timeoutMs }: NetworkTransportOptions): NetworkTransport {
  const proxy = proxyOf(env);
  const loaded: { direct?: Promise<Dispatcher>; proxied?: Promise<Dispatcher> } = {};
  const dispatcherFor = (url: URL): Promise<Dispatcher> =>
    proxy !== undefined && url.protocol === 'https:' && !isLoopback(url.hostname)
      ? (loaded.proxied ??= loadProxied(proxy, timeoutMs))
      : (loaded.direct ??= loadDirect(timeoutMs));

  const send: Transport = async (request) => {
    const url = new URL(request.url);
    const limit = Math.min(timeoutMs, request.timeoutMs ?? timeoutMs);
    return exchange(await dispatcherFor(url), url, request, limit);
  };
  const close = async (): Promise<void> => {
    const dispatchers = await Promise.allSettled([loaded.direct, loaded.proxied]);
    await Promise.all(dispatchers.map((each) => each.status === 'fulfilled' && each.value?.destroy()));
  };
  return Object.assign(send, { close });
}

/** A name under `localhost` is this machine, whatever a name server says, since http is allowed to it. */
const lookupSafely: LookupFunction = (hostname, options, callback) =>
  lookup(isLocalName(hostname) ? 'localhost' : hostname, options, callback);

/** Timeouts of undici's own are off: {@link exchange} has one for all of it. */
const agentOptions = (timeoutMs: number): Agent.Options => ({
  headersTimeout: 0,
  bodyTimeout: 0,
  maxResponseSize,
  connect: { timeout: timeoutMs, lookup: lookupSafely },
});

async function loadDirect(timeoutMs: number): Promise<Dispatcher> {
  const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
  return new Agent(agentOptions(timeoutMs));
}

interface Proxy {
  address: string;
  except: string;
}

/** A proxy agent works only with the whole of undici; of a bundled package only the default is sure to be there. */
async function loadProxied({ address, except }: Proxy, timeoutMs: number): Promise<Dispatcher> {
  const { default: undici } = await import('undici');
  try {
    return new undici.EnvHttpProxyAgent({
      ...agentOptions(timeoutMs),
      httpProxy: address,
      httpsProxy: address,
      noProxy: except,
    });
  } catch (cause) {
    throw new NetworkError('the proxy set in the environment is not an address', { requestSent: false, cause });
  }
}

/** As with curl, a name in lower case goes first and a proxy needs no scheme. */
function proxyOf(env: NetworkTransportOptions['env']): Proxy | undefined {
  const setting = (name: string): string | undefined => env[name] || env[name.toUpperCase()] || undefined;
  const address = setting('https_proxy') ?? setting('http_proxy');
  if (address === undefined) return undefined;
  return { address: address.includes('://') ? address : `http://${address}`, except: setting('no_proxy') ?? '' };
}

function exchange(
  dispatcher: Dispatcher,
  url: URL,
  { method, headers, body, signal }: HttpRequest,
  timeoutMs: number,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const answer: HttpResponse = { status: 0, headers: {}, body: '' };
    let over = false;
    let requestSent = false;
    let cutOff = (_reason: Error): void => {};

    const finish = (settle: () => void): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      settle();
    };
    const fail = (message: string, details: { code?: string | undefined; cause?: unknown }): void =>
      finish(() => reject(new NetworkError(message, { requestSent, ...details })));
    const stop = (message: string, code: string): void => {
      fail(message, { code });
      cutOff(new Error(message));
    };
    const interrupt = (): void => stop('interrupted', 'ABORT_ERR');
    const timer = setTimeout(() => stop(`nothing came within ${timeoutMs / 1000} s`, 'TIMEOUT'), timeoutMs);
    if (signal !== undefined) {
      // As many requests as the caller likes may wait on one signal.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', interrupt);
      if (signal.aborted) return interrupt();
    }

    dispatcher.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method, headers, body: body ?? null },
      {
        // Called when a connection stands and before the first byte goes out: a request that is over stays here.
        onRequestStart(controller) {
          cutOff = (reason) => controller.abort(reason);
          if (over) return cutOff(new Error('stopped before it was sent'));
          requestSent = true;
        },
        onResponseStart(_controller, status, received) {
          answer.status = status;
          answer.headers = joined(received);
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () =>
          finish(() => onceReusable(() => resolve({ ...answer, body: Buffer.concat(chunks).toString('utf8') }))),
        onResponseError: (_controller, error) => fail(inWords(error), { code: codeOf(error), cause: error }),
      },
    );
  });
}

/** undici takes a connection back a whole turn after its answer; a request made before that would open another. */
const onceReusable = (then: () => void): void => void setImmediate(() => setImmediate(then));

function joined(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

const codeOf = (error: Error): string | undefined =>
  'code' in error && typeof error.code === 'string' ? error.code : undefined;

const brokenOff = 'the connection broke off before the answer was complete';

const words: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'the connection was refused'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'there is no host of that name'],
  [/^(ENETUNREACH|EHOSTUNREACH|ENETDOWN)$/, 'the host cannot be reached'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'the host does not take the connection'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, brokenOff],
  [/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/, 'the answer is larger than 32 MB'],
  [/CERT|ALTNAME|SELF_SIGNED/, 'its TLS certificate is not trusted'],
  [/^(EPROTO|ERR_SSL_)/, 'it does not speak TLS'],
  [/^(HPE_|HTTPParserError)/, 'it does not speak HTTP'],
];

function inWords(error: Error): string {
  const name = codeOf(error) ?? error.name;
  const found = words.find(([pattern]) => pattern.test(name));
  return found === undefined ? error.message : `${found[1]} (${name})`;
}
