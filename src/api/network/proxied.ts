// The transport for proxies, by undici.
import type { Dispatcher } from 'undici';
import { timerMs } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import type { HttpRequest, HttpResponse } from '../transport.js';
import { proxyOf, type Proxy } from './address.js';
import { exchange, type NetworkOptions, type NetworkTransport } from './exchange.js';

/** Tunnels https through `HTTPS_PROXY` or `HTTP_PROXY`, except to the hosts in `NO_PROXY`. */
export function proxiedTransport({ env, timeoutMs }: NetworkOptions): NetworkTransport {
  const state: ConnectionState = { closesUnannounced: false };
  let loaded: Promise<Dispatcher> | undefined;
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    loaded ??= loadAgent(proxyOf(env), timeoutMs);
    return dispatch(await loaded, request, timeoutMs, state);
  };
  const close = async (): Promise<void> => (await loaded?.catch(() => undefined))?.destroy();
  return Object.assign(send, { close });
}

interface ConnectionState {
  /** The service closes connections that it announced as kept alive, so each request gets its own. */
  closesUnannounced: boolean;
}

/** Disables undici's own timeouts, because an exchange has one for all of it. */
async function loadAgent(
  { address, except }: Proxy = { address: '', except: '' },
  timeoutMs: number,
): Promise<Dispatcher> {
  // Only the default export survives bundling.
  const { default: undici } = await import('undici');
  try {
    return new undici.EnvHttpProxyAgent({
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: timerMs(timeoutMs) },
      httpProxy: address,
      httpsProxy: address,
      noProxy: except,
    });
  } catch (cause) {
    throw new Failure(
      'usage',
      'Nothing was sent: the proxy that the environment names is not an address.',
      {
        hint: 'Set HTTPS_PROXY to one such as http://proxy.example:3128, or NO_PROXY to the hosts that need none.',
        cause,
      },
    );
  }
}

function dispatch(
  dispatcher: Dispatcher,
  request: HttpRequest,
  timeoutMs: number,
  state: ConnectionState,
): Promise<HttpResponse> {
  const { method, headers, body = null } = request;
  const url = new URL(request.url);
  const reset = state.closesUnannounced;
  let answered = false;
  return exchange(request, timeoutMs, (course) =>
    dispatcher.dispatch(
      { origin: url.origin, path: url.pathname + url.search, method, headers, body, reset },
      {
        // Called with an open connection, before the first byte leaves.
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
          state.closesUnannounced ||= isClosed;
          course.fail(error, isClosed);
        },
      },
    ),
  );
}

/** undici reports how many bytes a broken connection had received. */
const wasUsedBefore = (error: Error): boolean =>
  'socket' in error &&
  error.socket instanceof Object &&
  'bytesRead' in error.socket &&
  Number(error.socket.bytesRead) > 0;

/** undici reuses a connection only one turn after the response; an earlier request would open another. */
const onceReusable = (then: () => void): void => void setImmediate(() => setImmediate(then));
