// The sandbox without a port: requests go straight to its handler. Several processes may share its file.
import { once } from 'node:events';
import { ReadableStream } from 'node:stream/web';
import { setTimeout as pause } from 'node:timers/promises';
import { timerMs } from '../formats/duration.js';
import type { Outgoing } from './http/routing.js';
import { openService, type ServiceOptions } from './service.js';
import { maxBodyLength } from './unspecified.js';

/** Address of the embedded sandbox as its client sees it. */
export const embeddedUrl = 'http://sandbox.localhost';

export interface EmbeddedSandbox {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly accountId: string;
  /**
   * Answers a request to `embeddedUrl` once all that it did is on disk. Rejects where a fault cuts the connection; where
   * it leaves the request without an answer, that is when the request's own signal is aborted.
   */
  handle(request: Request): Promise<Response>;
  /** Waits a moment for webhooks that are being posted; what is left then is posted after the next request of anyone. */
  close(): Promise<void>;
}

/** Opens the sandbox on its file. What became due while no process had it open is carried out at the next request. */
export function openSandbox(options: ServiceOptions): EmbeddedSandbox {
  const service = openService(options, () => embeddedUrl);
  return {
    ...service.credentials,
    async handle(request) {
      const { pathname, search } = new URL(request.url);
      const body = new Uint8Array(await request.arrayBuffer());
      return respond(await service.handle({
        method: request.method,
        target: pathname + search,
        headers: Object.fromEntries(request.headers),
        body: body.length > maxBodyLength ? undefined : body,
      }), request.signal);
    },
    close: () => service.close(),
  };
}

async function respond({ status, headers, body, delay = 0, mishap }: Outgoing, signal: AbortSignal): Promise<Response> {
  if (delay > 0) await pause(timerMs(delay), undefined, { signal });
  if (mishap === 'silence' && !signal.aborted) await once(signal, 'abort');
  if (mishap === 'silence' || mishap === 'cut-before') throw new Error('a fault of the sandbox cut the connection');
  return new Response(mishap === 'cut-within' ? brokenOff(body) : body, { status, headers: { ...headers } });
}

/** The first half of a body, and then the end of the connection. */
function brokenOff(body: string): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(body);
  const parts = [bytes.subarray(0, Math.ceil(bytes.length / 2))];
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part === undefined) controller.error(new Error('a fault of the sandbox cut the connection'));
      else controller.enqueue(part);
    },
  });
}
