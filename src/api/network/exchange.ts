// Sends one request over the network, with a time limit, a size limit and readable errors.
import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { timerMs } from '../../formats/calendar.js';
import { codeOf, entryOf } from '../../formats/text.js';
import {
  NetworkError,
  type HttpRequest,
  type HttpResponse,
  type NetworkErrorDetails,
  type Timing,
} from '../transport.js';
import { clearTimeout, setImmediate, setTimeout } from '../timers.js';

export type NetworkRequest = Omit<HttpRequest, 'body'> & {
  readonly body?: string | Uint8Array | undefined;
};

/** A dispatcher that carries requests to the service, and the state of its connections. */
export interface Route {
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
export const mostBytes = 32 * 1024 * 1024;

/**
 * Sends a request, and resolves with the whole response. Rejects with {@link NetworkError} if the
 * response is incomplete or takes longer than `longestMs`.
 */
export async function exchange(
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
