// Sends requests with undici, directly or through a proxy, with a time limit, a size limit and
// readable errors. Loaded while the connections open.
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import Agent, { type AgentOptions } from 'undici/lib/dispatcher/agent.js';
import Pool, { type Connect } from 'undici/lib/dispatcher/pool.js';
import { invalid } from '../formats/failure.js';
import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { timerMs } from '../formats/calendar.js';
import { codeOf, entryOf } from '../formats/text.js';
import {
  NetworkError,
  type HttpRequest,
  type HttpResponse,
  type NetworkErrorDetails,
  type Timing,
} from './errors.js';
import { clearTimeout, setImmediate, setTimeout } from './timers.js';

export interface Proxy {
  readonly address: string;
  readonly except: string;
}

export type Undici = ReturnType<typeof openUndici>;

export function openUndici(connect: Connect, handshakeAt: (socket: Duplex) => number | undefined) {
  /** The connection that undici opened for the request that starts now. */
  let opened: Duplex | undefined;
  const options: AgentOptions = {
    // undici's own time limits are off, because the exchange has a time limit.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: mostBytes,
    connect,
    // Sets `opened` during `callback`, because undici starts the request on the new connection
    // within `callback`.
    factory: (origin, pool) =>
      new Pool(origin, {
        ...pool,
        connect: (target, callback) =>
          pool.connect(target, (error, socket) => {
            opened = socket ?? undefined;
            callback(error, socket);
            opened = undefined;
          }),
      }),
  };
  const direct = new Agent(options);
  let proxied: Promise<Dispatcher> | undefined;
  return {
    /**
     * Sends a request, and resolves with the whole response. Rejects with {@link NetworkError} if
     * the response is incomplete or takes longer than `longestMs`, and with Failure `usage` if the
     * proxy's address is invalid.
     * @param isSingleUse whether the connection closes after the response
     */
    async send(
      request: NetworkRequest,
      proxy: Proxy | undefined,
      isSingleUse: boolean,
      longestMs: number,
    ): Promise<HttpResponse> {
      const dispatcher =
        proxy === undefined ? direct : await (proxied ??= openProxied(proxy, options));
      const connectedAt = () => opened && (handshakeAt(opened) ?? performance.now());
      return exchange(request, { dispatcher, isSingleUse, connectedAt }, longestMs);
    },
    /** Returns the number of idle direct connections to an origin. */
    idle(origin: string): number {
      const stats = direct.stats[origin];
      return stats !== undefined && 'free' in stats ? stats.free : 0;
    },
    async close(): Promise<void> {
      // Ends the connections at once. undici reports the end with `queueMicrotask`, which a test
      // runner may fake.
      for (const agent of [direct, await proxied?.catch(() => undefined)]) void agent?.destroy();
    },
  };
}

async function openProxied({ address, except }: Proxy, options: AgentOptions): Promise<Dispatcher> {
  const [{ default: EnvHttpProxyAgent }, { default: connect }] = await Promise.all([
    import('undici/lib/dispatcher/env-http-proxy-agent.js'),
    import('undici/lib/api/api-connect.js'),
  ]);
  try {
    return new EnvHttpProxyAgent({
      ...options,
      // Adds `connect` here, because svcpay does not load undici's index, which adds `connect` to
      // every dispatcher.
      clientFactory: (origin, pool) => Object.assign(new Pool(origin, pool), { connect }),
      httpProxy: address,
      httpsProxy: address,
      noProxy: except,
    });
  } catch (cause) {
    throw invalid('the proxy address in the environment is not valid.', {
      money: 'Nothing was sent',
      hint:
        'Set HTTPS_PROXY to an address such as http://proxy.example:3128, or list in NO_PROXY ' +
        'the hosts that need no proxy.',
      cause,
    });
  }
}

/** The V8 flags that make V8 optimise WebAssembly that runs often. */
const optimisations = ['wasm-tier-up', 'wasm-dynamic-tiering'];

/** The events of a connection at which undici first calls some functions of its parser. */
const firstCalls = ['readable', 'close'];

/**
 * Keeps V8 from optimising undici's WebAssembly parser, for which `process.exit` would wait 100 to
 * 200 ms. V8 compiles the parser when the first connection opens, and a function of the parser at
 * its first call. The V8 flags are off only then, because V8 rejects a compile cache that was
 * written under different flags.
 */
export async function withoutOptimisation(connect: Connect): Promise<Connect> {
  const { setFlagsFromString } = await import('node:v8');
  const set = (prefix: string) => (): void =>
    optimisations.forEach((name) => setFlagsFromString(prefix + name));
  const [stop, resume] = [set('--no-'), set('--')];
  return (target, callback) =>
    connect(target, (error, socket) => {
      // undici calls the parser in its own listeners, between these.
      for (const event of firstCalls) socket?.prependOnceListener(event, stop);
      stop();
      callback(error, socket);
      resume();
      for (const event of firstCalls) socket?.once(event, resume);
    });
}

export type NetworkRequest = Omit<HttpRequest, 'body'> & {
  readonly body?: string | Uint8Array | undefined;
};

/** A dispatcher that carries requests to the service, and the state of its connections. */
interface Route {
  readonly dispatcher: Dispatcher;
  /**
   * Returns the time by `performance.now()` at which TCP connected for the request that starts now,
   * or undefined if that request reuses a connection.
   */
  connectedAt(): number | undefined;
  /** Whether the connection closes after the response. */
  readonly isSingleUse: boolean;
}

/**
 * The size in bytes of the largest response body that the client accepts, both compressed and
 * decompressed.
 */
const mostBytes = 32 * 1024 * 1024;

async function exchange(
  request: NetworkRequest,
  route: Route,
  longestMs: number,
): Promise<HttpResponse> {
  const { signal, timeoutMs = Infinity } = request;
  const limitMs = timerMs(Math.min(longestMs, timeoutMs));
  const { receive, stop } = prepare(request, route);
  const interrupt = (): void => stop('interrupted', 'ABORT_ERR');
  const timer = setTimeout(
    () => stop(`no data within ${Math.round(limitMs / 10) / 100} s`, 'TIMEOUT'),
    limitMs,
  );
  // Disables Node's warning about many listeners, because any number of requests may share a
  // signal.
  if (signal !== undefined) setMaxListeners(0, signal);
  signal?.addEventListener('abort', interrupt);
  if (signal?.aborted === true) interrupt();
  try {
    const { bytes, ...response } = await receive();
    const coding = response.headers['content-encoding'];
    const body = !coding || bytes.length === 0 ? bytes : await unpacked(bytes, coding);
    return { ...response, body: body.toString('utf8') };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', interrupt);
  }
}

/**
 * The times of the steps of an exchange, by `performance.now()`. The time of a step is undefined
 * until the exchange reaches that step.
 */
interface Moments {
  startedAt: number;
  connected?: number | undefined;
  sent?: number;
  answered?: number;
}

type Received = Omit<HttpResponse, 'body'> & { readonly bytes: Buffer };

interface Prepared {
  readonly receive: () => Promise<Received>;
  /** Ends the exchange, and does not send a request that has not left the machine. */
  readonly stop: (message: string, code: string) => void;
}

function prepare({ url, method, headers, body }: NetworkRequest, route: Route): Prepared {
  const { origin, pathname, search } = new URL(url);
  const moments: Moments = { startedAt: performance.now() };
  let stopped: NetworkError | undefined;
  let cutOff: (reason: NetworkError) => void = () => undefined;
  const failure = (message: string, details: Partial<NetworkErrorDetails>): NetworkError =>
    new NetworkError(message, { requestSent: moments.sent !== undefined, ...details });

  const receive = (): Promise<Received> =>
    new Promise((resolve, reject) => {
      if (stopped !== undefined) return reject(stopped);
      cutOff = reject;
      let head: Pick<Received, 'status' | 'headers'> = { status: 0, headers: {} };
      const chunks: Buffer[] = [];
      const handler: Dispatcher.DispatchHandler = {
        // undici calls `onRequestStart` with an open connection, before the first byte of the
        // request leaves.
        onRequestStart(controller) {
          if (stopped !== undefined) return controller.abort(stopped);
          cutOff = (reason) => controller.abort(reason);
          moments.connected = route.connectedAt();
          moments.sent = performance.now();
        },
        onResponseStart(_controller, status, received) {
          moments.answered = performance.now();
          head = { status, headers: joined(received) };
        },
        onResponseData: (_controller, bytes) => void chunks.push(bytes),
        onResponseEnd: () =>
          onceReusable(() =>
            resolve({ ...head, bytes: Buffer.concat(chunks), timing: timingOf(moments) }),
          ),
        onResponseError(_controller, error) {
          const code = codeOf(error) || undefined;
          const wasClosed = isUnansweredOnReused(moments) && closed.test(codeOf(error));
          reject(stopped ?? failure(inWords(error), { wasClosed, code, cause: error }));
        },
      };
      const path = pathname + search;
      const reset = route.isSingleUse;
      route.dispatcher.dispatch(
        { origin, path, method, headers, body: body ?? null, reset },
        handler,
      );
    });

  return {
    receive,
    stop(message, code) {
      stopped = failure(message, { code });
      cutOff(stopped);
    },
  };
}

/**
 * Waits one turn of the event loop after the response, because undici can reuse the connection only
 * then. If the exchange did not wait for a turn of the event loop, the next request would open a
 * new connection.
 */
const onceReusable = (then: () => void): void => void setImmediate(() => setImmediate(then));

const isUnansweredOnReused = ({ connected, sent, answered }: Moments): boolean =>
  sent !== undefined && connected === undefined && answered === undefined;

/**
 * Returns the timings of the exchange. The timings `connect` and `tls` count only the time for
 * which the request waited, because svcpay may have opened the connection before the request.
 */
function timingOf({ startedAt, connected, sent = startedAt, answered = sent }: Moments): Timing {
  const waited = { firstByte: answered - sent, total: performance.now() - startedAt };
  if (connected === undefined) return waited;
  const connect = Math.max(0, connected - startedAt);
  const tls = sent - startedAt - connect;
  return { ...(connect > 0 && { connect }), ...(tls > 1 && { tls }), ...waited };
}

const joined = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );

/**
 * Decodes a body by its `content-encoding`, because a server may compress a response even if the
 * client requested no compression.
 */
async function unpacked(bytes: Buffer, coding: string): Promise<Buffer> {
  const { brotliDecompressSync, gunzipSync, inflateSync } = await import('node:zlib');
  const limit = { maxOutputLength: mostBytes };
  const undo: Readonly<Record<string, (packed: Buffer) => Buffer>> = {
    gzip: (packed) => gunzipSync(packed, limit),
    deflate: (packed) => inflateSync(packed, limit),
    br: (packed) => brotliDecompressSync(packed, limit),
    identity: (whole) => whole,
  };
  // The content codings, in the order in which the server applied them.
  const names = coding.toLowerCase().split(',');
  try {
    return names.reduceRight((packed, given) => {
      const name = given.trim().replace(/^x-/, '');
      const unpack = entryOf(undo, name);
      if (unpack === undefined) throw new Error(`the encoding ${name} was not requested`);
      return unpack(packed);
    }, bytes);
  } catch (cause) {
    throw new NetworkError('the response could not be decompressed', { requestSent: true, cause });
  }
}

/** Matches the error codes of a connection that the service closed. */
const closed = /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;

const brokenOff = 'the connection closed before the response was complete';

const words: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'the connection was refused'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the host name cannot be resolved'],
  [/^(ENETUNREACH|EHOSTUNREACH|ENETDOWN)$/, 'the host cannot be reached'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'the connection attempt timed out'],
  [closed, brokenOff],
  [/^(HPE_INVALID_EOF_STATE|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, brokenOff],
  [/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/, 'the response is larger than 32 MB'],
  [/CERT|ALTNAME|SELF_SIGNED/, "the host's TLS certificate is not trusted"],
  [/^(EPROTO|ERR_SSL_)/, 'the host does not use TLS'],
  [/^(HPE_|HTTPParserError)/, 'the host does not use HTTP'],
];

function inWords(error: Error): string {
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(error.message) ?? [];
  if (refusal !== undefined)
    return `the proxy in the environment refused the connection (${refusal})`;
  const name = codeOf(error) || error.name;
  const found = words.find(([pattern]) => pattern.test(name));
  return found === undefined ? error.message : `${found[1]} (${name})`;
}
