// The transport for proxies, by undici: tunnels as the environment says.
import { lookup } from 'node:dns';
import type { Agent, Dispatcher } from 'undici';
import { timerMs } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import type { HttpRequest, HttpResponse } from '../transport.js';
import { checkTls, mayBeProxied, proxyOf, resolvable, type Proxy } from './address.js';
import { exchange, type NetworkTransport } from './exchange.js';

export interface UndiciOptions {
  env: NodeJS.ProcessEnv;
  /** For a whole exchange, from the first byte out to the last byte in; a request may allow itself less. */
  timeoutMs: number;
  /** Accepts a service whose certificate is not checked. */
  insecure?: boolean | undefined;
}

/**
 * Sends requests with undici, which is loaded with the first one. `HTTPS_PROXY`, else `HTTP_PROXY`, less `NO_PROXY`, in
 * either case, hold for https; what goes to this machine never leaves it through a proxy.
 */
export function undiciTransport(options: UndiciOptions): NetworkTransport {
  const { env, timeoutMs } = options;
  const proxy = proxyOf(env);
  const loaded: { direct?: Promise<Dispatcher>; proxied?: Promise<Dispatcher> } = {};
  const manners: Manners = { closesUnsaid: false };
  const dispatcherFor = (url: URL): Promise<Dispatcher> =>
    proxy !== undefined && mayBeProxied(url)
      ? (loaded.proxied ??= loadProxied(proxy, timeoutMs))
      : (loaded.direct ??= loadDirect(timeoutMs));

  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    const url = new URL(request.url);
    checkTls(url, options);
    return dispatch(await dispatcherFor(url), url, request, timeoutMs, manners);
  };
  const close = async (): Promise<void> => {
    const dispatchers = await Promise.allSettled([loaded.direct, loaded.proxied]);
    await Promise.all(dispatchers.map((each) => each.status === 'fulfilled' && each.value?.destroy()));
  };
  return Object.assign(send, { close });
}

interface Manners {
  /** The service closes connections that it calls open: each request then has one of its own. */
  closesUnsaid: boolean;
}

/** Timeouts of undici's own are off: an exchange has one for all of it. */
const agentOptions = (timeoutMs: number): Agent.Options => ({
  headersTimeout: 0,
  bodyTimeout: 0,
  connect: { timeout: timerMs(timeoutMs), lookup: (hostname, options, callback) => lookup(resolvable(hostname), options, callback) },
});

async function loadDirect(timeoutMs: number): Promise<Dispatcher> {
  const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
  return new Agent(agentOptions(timeoutMs));
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
    throw new Failure('usage', 'Nothing was sent: the proxy that the environment names is not an address.', {
      hint: 'Set HTTPS_PROXY to one such as http://proxy.example:3128, or NO_PROXY to the hosts that need none.',
      cause,
    });
  }
}

function dispatch(
  dispatcher: Dispatcher,
  url: URL,
  request: HttpRequest,
  timeoutMs: number,
  manners: Manners,
): Promise<HttpResponse> {
  const { method, headers, body = null } = request;
  const reset = manners.closesUnsaid;
  let answered = false;
  return exchange(request, timeoutMs, (course) =>
    dispatcher.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method, headers, body, reset },
      {
        // Called when a connection stands and before the first byte goes out: a request that is over stays here.
        onRequestStart(controller) {
          if (course.begins((reason) => controller.abort(reason))) course.leaves();
        },
        onResponseStart(_controller, status, received) {
          answered = true;
          course.head(status, received);
        },
        onResponseData: (_controller, bytes) => course.chunk(bytes),
        onResponseEnd: () => onceReusable(() => course.end()),
        onResponseError(_controller, error) {
          const isClosed = !answered && wasUsedBefore(error);
          manners.closesUnsaid ||= isClosed;
          course.fail(error, isClosed);
        },
      },
    ),
  );
}

/** undici says of a connection that broke off how much had come over it. */
const wasUsedBefore = (error: Error): boolean =>
  'socket' in error && error.socket instanceof Object && 'bytesRead' in error.socket && Number(error.socket.bytesRead) > 0;

/** undici takes a connection back a whole turn after its answer; a request made before that would open another. */
const onceReusable = (then: () => void): void => void setImmediate(() => setImmediate(then));
