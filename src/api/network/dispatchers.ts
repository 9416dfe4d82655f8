// Opens the dispatchers of undici: one for direct requests, and one for requests through a proxy.
import { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import Agent, { type AgentOptions } from 'undici/lib/dispatcher/agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { Failure } from '../../formats/failure.js';
import type { Proxy, Connections } from './connections.js';
import { mostBytes } from './exchange.js';

export interface Dispatchers {
  readonly direct: Dispatcher;
  /**
   * Resolves with a dispatcher that tunnels https through the proxy. Rejects with Failure `usage`
   * if the proxy's address is invalid.
   */
  proxied(proxy: Proxy): Promise<Dispatcher>;
  /**
   * Returns the connection that undici opened for the request that starts now, or undefined if that
   * request reuses a connection.
   */
  newConnection(): Duplex | undefined;
  /** Returns the number of idle direct connections to an origin. */
  idle(origin: string): number;
  close(): Promise<void>;
}

export function openDispatchers({ connect }: Pick<Connections, 'connect'>): Dispatchers {
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
    direct,
    proxied: (proxy) => (proxied ??= openProxied(proxy, options)),
    newConnection: () => opened,
    idle(origin) {
      const stats = direct.stats[origin];
      return stats !== undefined && 'free' in stats ? stats.free : 0;
    },
    async close() {
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
    throw new Failure('usage', 'the proxy address in the environment is not valid.', {
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

/**
 * Lets undici's WebAssembly parser read a sample response while V8's optimisation is off, so that
 * V8 never optimises the parser. If V8 optimised the WebAssembly parser, `process.exit` would wait
 * 100 to 200 ms. The V8 flags are set only while V8 compiles the parser, because V8 rejects a
 * compile cache that was written under different flags.
 */
export async function compileParser(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  const socket = new Duplex({
    read: () => undefined,
    write(_request, _encoding, written) {
      this.push('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
      written();
    },
  });
  const agent = new Agent({
    connect: (_target, callback) => queueMicrotask(() => callback(null, socket)),
  });
  for (const name of optimisations) setFlagsFromString(`--no-${name}`);
  await new Promise<void>((parsed) =>
    agent.dispatch(
      { origin: 'http://localhost', path: '/', method: 'GET' },
      {
        onRequestStart: () => undefined,
        onResponseEnd: () => parsed(),
        onResponseError: () => parsed(),
      },
    ),
  );
  await agent.destroy();
  for (const name of optimisations) setFlagsFromString(`--${name}`);
}
