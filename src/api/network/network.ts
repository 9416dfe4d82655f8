// The transport of a command: the light one for its first requests, undici for proxies and for work that goes on.
import type { HttpRequest, HttpResponse } from '../transport.js';
import { mayBeProxied, proxyOf } from './address.js';
import type { NetworkTransport } from './exchange.js';
import { nodeTransport } from './node.js';
import type { UndiciOptions } from './undici.js';

/** A whole payment needs fewer. */
const few = 12;

export function networkTransport(options: UndiciOptions): NetworkTransport {
  const light = nodeTransport(options.timeoutMs);
  const proxied = proxyOf(options.env) !== undefined;
  let pooled: Promise<NetworkTransport> | undefined;
  let sent = 0;
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    sent += 1;
    if (sent <= few && !(proxied && mayBeProxied(new URL(request.url)))) return light(request);
    pooled ??= import('./undici.js').then(({ undiciTransport }) => undiciTransport(options));
    return (await pooled)(request);
  };
  const close = async (): Promise<void> => {
    await Promise.all([light.close(), pooled?.then((transport) => transport.close())]);
  };
  return Object.assign(send, { close });
}
