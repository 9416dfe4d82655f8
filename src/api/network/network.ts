// The transport of a command: the light one for few requests or one after the other, undici for proxies and for many at once.
import type { HttpRequest, HttpResponse, Transport } from '../transport.js';
import { mayBeProxied, proxyOf } from './address.js';
import type { NetworkTransport } from './exchange.js';
import { nodeTransport } from './node.js';
import type { UndiciOptions } from './undici.js';

/** A whole payment needs fewer. */
const few = 12;
/** A long list is read with no more on their way. For those undici takes more of the processor, and a third more memory. */
const fewAtOnce = 3;

export function networkTransport(options: UndiciOptions): NetworkTransport {
  const light = nodeTransport(options.timeoutMs);
  const proxied = proxyOf(options.env) !== undefined;
  let pooled: Promise<NetworkTransport> | undefined;
  let sent = 0;
  let underway = 0;
  const carrier = async (request: HttpRequest): Promise<Transport> => {
    const isFew = sent <= few || underway <= fewAtOnce;
    if (pooled === undefined && isFew && !(proxied && mayBeProxied(new URL(request.url)))) return light;
    pooled ??= import('./undici.js').then(({ undiciTransport }) => undiciTransport(options));
    return pooled;
  };
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    sent += 1;
    underway += 1;
    try {
      return await (await carrier(request))(request);
    } finally {
      underway -= 1;
    }
  };
  const close = async (): Promise<void> => {
    await Promise.all([light.close(), pooled?.then((transport) => transport.close())]);
  };
  return Object.assign(send, { close });
}
