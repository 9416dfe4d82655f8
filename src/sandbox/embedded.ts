// The sandbox without a port: requests go straight to its handler. Several processes may share its file.
import { maxBodyLength, type Outgoing } from './http.js';
import { openService, type ServiceOptions } from './service.js';

/** Address of the embedded sandbox as its client sees it. */
export const embeddedUrl = 'http://sandbox.localhost';

export interface EmbeddedSandbox {
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly accountId: string;
  /** Answers a request to `embeddedUrl` once all that it did is on disk. */
  handle(request: Request): Promise<Response>;
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
      return toResponse(await service.handle({
        method: request.method,
        target: pathname + search,
        headers: Object.fromEntries(request.headers),
        body: body.length > maxBodyLength ? undefined : body,
      }));
    },
    close: () => service.close(),
  };
}

function toResponse({ status, headers, body }: Outgoing): Response {
  return new Response(body, { status, headers: { ...headers } });
}
