// The network transport. Opens connections to the service, directly or through the proxy from the
// environment, before undici has loaded and before the request that uses the connection.
import { timerMs } from '../formats/calendar.js';
import { NetworkError, type HttpResponse } from './errors.js';
import type { NetworkRequest, Proxy, Undici } from './undici.js';
import { nextTurn } from './timers.js';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import connector from 'undici/lib/core/connect.js';
import type { Connect } from 'undici/lib/dispatcher/pool.js';
import { errorOf } from '../formats/text.js';
import { isLocalName, isLoopback } from './check-options.js';
import { invalid } from '../formats/failure.js';

interface NetworkOptions {
  readonly env: NodeJS.ProcessEnv;
  /**
   * The time limit of a whole exchange, from the first byte sent to the last byte received. A
   * single request may set a time limit that is shorter than `timeoutMs`.
   */
  readonly timeoutMs: number;
  /** Whether to allow requests to a service whose certificate Node does not check. */
  readonly insecure?: boolean | undefined;
  /** Whether the process ends with `process.exit` after a few requests. */
  readonly endsSoon?: boolean;
}

/** A transport that keeps connections open between requests. */
type NetworkTransport = ((request: NetworkRequest) => Promise<HttpResponse>) & {
  /** Ends all connections immediately. */
  close(): Promise<void>;
};

export type OpeningTransport = NetworkTransport & {
  /**
   * Opens connections ahead of requests, until `connections` connections are idle. Does nothing if
   * requests to the address use a proxy.
   */
  open(address: string, connections: number): void;
};

export function networkTransport(options: NetworkOptions): OpeningTransport {
  const connections = openConnections(timerMs(options.timeoutMs));
  const proxy = proxyOf(options.env);
  let loading: Promise<Undici> | undefined;
  let undici: Undici | undefined;
  /**
   * Whether each request gets its own connection, because the service closes connections that it
   * announced as kept alive. A request on a connection that the service has closed would be lost.
   */
  let closesUnannounced = false;

  async function load(): Promise<Undici> {
    await nextTurn();
    const { openUndici, withoutOptimisation } = await import('./undici.js');
    const { connect, handshakeAt } = connections;
    const opens = options.endsSoon === true ? await withoutOptimisation(connect) : connect;
    return (undici = openUndici(opens, handshakeAt));
  }

  async function send(request: NetworkRequest): Promise<HttpResponse> {
    const url = new URL(request.url);
    checkTls(url, options);
    const through = mayBeProxied(url) ? proxy : undefined;
    const { send } = await (loading ??= load());
    try {
      return await send(request, through, closesUnannounced, options.timeoutMs);
    } catch (error) {
      closesUnannounced ||= error instanceof NetworkError && error.wasClosed;
      throw error;
    }
  }

  return Object.assign(send, {
    open(address: string, count: number): void {
      const url = new URL(address);
      if (closesUnannounced || (proxy !== undefined && mayBeProxied(url))) return;
      connections.open(url, count - (undici?.idle(url.origin) ?? 0));
    },
    async close(): Promise<void> {
      connections.close();
      await (await loading?.catch(() => undefined))?.close();
    },
  });
}

/**
 * Reads the proxy variables like curl: lower-case names take precedence, and the scheme of the
 * proxy is optional.
 */
export function proxyOf(env: NodeJS.ProcessEnv): Proxy | undefined {
  const setting = (name: string): string | undefined =>
    env[name] || env[name.toUpperCase()] || undefined;
  const address = setting('https_proxy') ?? setting('http_proxy');
  if (address === undefined) return undefined;
  return {
    address: address.includes('://') ? address : `http://${address}`,
    except: setting('no_proxy') ?? '',
  };
}

/** Whether a connection to a URL may use a proxy. A connection to loopback never uses a proxy. */
export const mayBeProxied = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' && !isLoopback(hostname);

export const takesAnyCertificate = (env: NodeJS.ProcessEnv): boolean =>
  env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0';

/**
 * Throws Failure `usage` if the environment makes Node skip certificate checks for a remote
 * machine, unless `insecure` allows skipping these checks.
 */
function checkTls(
  url: URL,
  { env, insecure }: { env: NodeJS.ProcessEnv; insecure?: boolean | undefined },
): void {
  if (
    insecure === true ||
    !takesAnyCertificate(env) ||
    url.protocol !== 'https:' ||
    isLoopback(url.hostname)
  )
    return;
  throw invalid(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 accepts any certificate for ' +
      `${url.host}, so anyone on the network could read the token.`,
    {
      money: 'Nothing was sent',
      hint:
        'Unset NODE_TLS_REJECT_UNAUTHORIZED and set NODE_EXTRA_CA_CERTS to your own ' +
        'certificate, or use --insecure.',
    },
  );
}

/**
 * The idle time in ms after which svcpay does not use a connection, because the service may have
 * closed it.
 */
const longestIdleMs = 4_000;

interface Opening {
  readonly origin: string;
  readonly openedAt: number;
  readonly socket: Socket;
  readonly whenOpen: Promise<unknown>;
}

interface Connections {
  /**
   * The connector that undici calls for each connection. The connector returns a connection that
   * was opened in advance, or opens a new connection.
   */
  readonly connect: Connect;
  /**
   * Opens connections until `count` connections are idle. If a connection fails, the request that
   * later uses it reports the failure.
   */
  open(url: URL, count: number): void;
  /**
   * Returns the time by `performance.now()` at which the TLS handshake began, or undefined for
   * plain http.
   */
  handshakeAt(socket: Duplex): number | undefined;
  close(): void;
}

function openConnections(timeoutMs: number): Connections {
  const connectTo = connector({ timeout: timeoutMs });
  const handshakes = new WeakMap<Duplex, number>();
  let ahead: readonly Opening[] = [];

  function start(target: buildConnector.Options): Opening {
    const { protocol, host, hostname } = target;
    const socket = connectTo({ ...target, hostname: resolvable(hostname) });
    const isSecure = protocol === 'https:';
    if (isSecure) socket.once('connect', () => handshakes.set(socket, performance.now()));
    const whenOpen = once(socket, isSecure ? 'secureConnect' : 'connect');
    whenOpen.catch(() => undefined);
    return { origin: `${protocol}//${host}`, openedAt: performance.now(), socket, whenOpen };
  }

  function dropStale(): void {
    const isFresh = ({ socket, openedAt }: Opening): boolean =>
      !socket.destroyed && performance.now() - openedAt < longestIdleMs;
    for (const { socket } of ahead.filter((each) => !isFresh(each))) socket.destroy();
    ahead = ahead.filter(isFresh);
  }

  return {
    async connect(target, callback) {
      dropStale();
      const found = ahead.find(({ origin }) => origin === `${target.protocol}//${target.host}`);
      ahead = ahead.filter((each) => each !== found);
      const { socket, whenOpen } = found ?? start(target);
      try {
        await whenOpen;
      } catch (error) {
        return callback(errorOf(error), null);
      }
      callback(null, socket);
    },
    open({ origin, protocol, host, hostname, port }, count) {
      dropStale();
      const target = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port };
      const missing = count - ahead.filter((each) => each.origin === origin).length;
      const opened = Array.from({ length: Math.max(0, missing) }, () => start(target));
      // Reads from each socket, because otherwise the process does not notice that the service has
      // closed the connection.
      for (const { socket } of opened) socket.resume();
      ahead = [...ahead, ...opened];
    },
    handshakeAt: (socket) => handshakes.get(socket),
    close() {
      for (const { socket } of ahead) socket.destroy();
    },
  };
}

/**
 * Resolves a name under `localhost` to this machine, whatever its DNS records, because svcpay
 * allows plain http for such a name.
 */
const resolvable = (hostname: string): string => (isLocalName(hostname) ? 'localhost' : hostname);
