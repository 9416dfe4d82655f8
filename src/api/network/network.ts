// The network transport, which uses undici for direct requests and for requests through a proxy.
import { timerMs } from '../../formats/calendar.js';
import { NetworkError, type HttpResponse } from '../transport.js';
import { checkTls, mayBeProxied, proxyOf, openConnections } from './connections.js';
import type { Dispatchers } from './dispatchers.js';
import { exchange, type NetworkRequest } from './exchange.js';
import { nextTurn } from '../timers.js';

export interface NetworkOptions {
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
export type NetworkTransport = ((request: NetworkRequest) => Promise<HttpResponse>) & {
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
  let loading: Promise<Dispatchers> | undefined;
  let dispatchers: Dispatchers | undefined;
  /**
   * Whether each request gets its own connection, because the service closes connections that it
   * announced as kept alive. A request on a connection that the service has closed would be lost.
   */
  let closesUnannounced = false;

  async function load(): Promise<Dispatchers> {
    await nextTurn();
    const { compileParser, openDispatchers } = await import('./dispatchers.js');
    if (options.endsSoon === true) await compileParser();
    return (dispatchers = openDispatchers(connections));
  }

  async function send(request: NetworkRequest): Promise<HttpResponse> {
    const url = new URL(request.url);
    checkTls(url, options);
    const { direct, proxied, newConnection } = await (loading ??= load());
    const route = {
      dispatcher: proxy !== undefined && mayBeProxied(url) ? await proxied(proxy) : direct,
      isSingleUse: closesUnannounced,
      connectedAt: () => {
        const connection = newConnection();
        return connection && (connections.handshakeAt(connection) ?? performance.now());
      },
    };
    try {
      return await exchange(request, route, options.timeoutMs);
    } catch (error) {
      closesUnannounced ||= error instanceof NetworkError && error.wasClosed;
      throw error;
    }
  }

  return Object.assign(send, {
    open(address: string, count: number): void {
      const url = new URL(address);
      if (closesUnannounced || (proxy !== undefined && mayBeProxied(url))) return;
      connections.open(url, count - (dispatchers?.idle(url.origin) ?? 0));
    },
    async close(): Promise<void> {
      connections.close();
      await (await loading?.catch(() => undefined))?.close();
    },
  });
}
