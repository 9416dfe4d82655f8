// The network transport: Node's own HTTP, and undici for proxies.
import type { HttpRequest, HttpResponse, Transport } from '../transport.js';
import { checkTls, mayBeProxied, proxyOf } from './address.js';
import type { NetworkOptions, NetworkTransport, OpeningTransport } from './exchange.js';
import { nodeTransport } from './node.js';

/** Loopback connections never use a proxy. */
export function networkTransport(options: NetworkOptions): OpeningTransport {
  const direct = nodeTransport(options.timeoutMs);
  const hasProxy = proxyOf(options.env) !== undefined;
  const isProxied = (address: string): boolean => hasProxy && mayBeProxied(new URL(address));
  let proxied: Promise<NetworkTransport> | undefined;
  const carrier = async (request: HttpRequest): Promise<Transport> => {
    checkTls(new URL(request.url), options);
    if (!isProxied(request.url)) return direct;
    proxied ??= import('./proxied.js').then(({ proxiedTransport }) => proxiedTransport(options));
    return proxied;
  };
  const send = async (request: HttpRequest): Promise<HttpResponse> =>
    (await carrier(request))(request);
  const close = async (): Promise<void> => {
    await Promise.all([direct.close(), proxied?.then((transport) => transport.close())]);
  };
  const open = (address: string, connections: number): void =>
    void (isProxied(address) || direct.open(address, connections));
  return Object.assign(send, { open, close });
}
