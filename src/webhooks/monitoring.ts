// Serves HTTP pages for monitoring, such as health and readiness, on a separate port.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';

export interface Page {
  readonly status: number;
  readonly type?: string;
  readonly body?: string;
}

/** Returns the page at a path, or undefined for an unknown path. */
export type Pages = (path: string) => Promise<Page | undefined>;

/**
 * The shortest interval between two checks of the database, because anyone may request the page as
 * often as they like.
 */
const cachedMs = 1_000;

/**
 * @param check rejects if the store cannot store an event with a body of the given size now
 * @param elapsed returns monotonic milliseconds
 */
export function createProbes(
  check: (bytes: number | undefined) => Promise<void>,
  elapsed: () => number,
) {
  /** The size of the largest event that could not be stored since the last successful check. */
  let failed: number | undefined;
  let last: { readonly page: Promise<Page>; until: number } | undefined;
  const readiness = (): Promise<Page> => {
    if (last !== undefined && elapsed() < last.until) return last.page;
    const page = check(failed).then(
      () => ((failed = undefined), { status: 200 }),
      () => ({ status: 503, body: 'events cannot be stored now\n' }),
    );
    const own = { page, until: Infinity };
    void page.then(() => (own.until = elapsed() + cachedMs));
    last = own;
    return page;
  };
  const pages: Pages = async (path) =>
    path === '/healthz' ? { status: 200 } : path === '/readyz' ? readiness() : undefined;
  return {
    pages,
    /** Makes the receiver unready until an event of this size can be stored. */
    noteFailed(bytes: number): void {
      failed = Math.max(failed ?? 0, bytes);
      last = undefined;
    },
  };
}

/**
 * Answers GET requests for the monitoring pages, such as `/healthz`. The function `otherwise`
 * handles the requests that `serve` does not answer.
 */
export const serve =
  (pages: Pages, otherwise: RequestListener): RequestListener =>
  (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return otherwise(request, response);
    const answer = (page: Page | undefined): void => {
      if (page === undefined) return otherwise(request, response);
      const { status, type = 'text/plain', body = 'ok\n' } = page;
      response
        .writeHead(status, {
          'content-type': type,
          'content-length': Buffer.byteLength(body),
          connection: 'close',
        })
        .end(body);
    };
    const path = (request.url ?? '').replace(/\?.*/s, '');
    void pages(path)
      .catch((error: unknown): Page => ({ status: 500, body: `${String(error)}\n` }))
      .then(answer);
  };

interface ListenAddress {
  readonly host: string;
  /** The port of the server, or 0 for any free port. */
  readonly port: number;
}

/**
 * Starts a server, and resolves with its URL. Rejects with the system's error if the port is taken.
 */
export async function listenOn(server: Server, { host, port }: ListenAddress): Promise<string> {
  await once(server.listen(port, host), 'listening');
  const address = server.address();
  const chosen = address !== null && typeof address === 'object' ? address.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${chosen}`;
}

export async function startPages(address: ListenAddress, pages: Pages) {
  const server = createServer(
    serve(pages, (_request, response) => void response.writeHead(404).end()),
  );
  const url = await listenOn(server, address);
  return {
    url,
    stop: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
}
