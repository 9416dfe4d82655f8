// The sandbox as an HTTP server on the loopback interface. A timer runs the scheduled actions that
// become due between requests.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { timerMs } from '../formats/calendar.js';
import { jsonAnswer, type Outgoing } from './http/routing.js';
import { maxBodyLength } from './unspecified.js';
import { isLoopback } from './wire/values.js';
import { openService, type Service, type ServiceOptions } from './service.js';

const host = '127.0.0.1';

export async function startServer(options: ServiceOptions) {
  let url = `http://${host}`;
  const service = openService(options, () => url);
  const stopping = new AbortController();
  const underWay = new Set<ServerResponse>();
  /**
   * Closes all connections when the server stops, because a client may keep a connection open
   * without sending a request.
   */
  const hangUp = (): void => {
    if (stopping.signal.aborted && underWay.size === 0) server.closeAllConnections();
  };
  const server = createServer((request, response) => {
    underWay.add(response);
    response.once('close', () => {
      underWay.delete(response);
      hangUp();
    });
    void serve(service, request, response, stopping.signal);
  });
  try {
    await once(server.listen(options.port ?? 0, host), 'listening');
  } catch (error) {
    await service.close();
    throw error;
  }
  const address = server.address();
  if (address !== null && typeof address === 'object') url = `http://${host}:${address.port}`;
  const ticking = service.keepTime(stopping.signal);
  return {
    /** The URL of the server, without a trailing slash. */
    url,
    service,
    /** Stops the server: answers requests in flight, then closes the port and the file. */
    async stop(): Promise<void> {
      stopping.abort();
      await ticking;
      await new Promise((resolve) => {
        server.close(resolve);
        hangUp();
      });
      await service.close();
    },
  };
}

async function serve(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  try {
    const body = await readAll(request);
    if (!isMeant(request)) return await send(response, misdirected, stopping);
    await send(
      response,
      await service.handle({
        method: request.method ?? 'GET',
        target: pathOf(request.url ?? '/'),
        headers: singleHeaders(request),
        body,
      }),
      stopping,
    );
  } catch {
    // Reading the request or sending the response fails if the client disconnects, or if a fault or
    // shutdown cuts the connection.
    response.destroy();
  }
}

/**
 * Checks the Host header to prevent DNS rebinding. With DNS rebinding, a foreign web page points
 * its own host name at this machine and then reads every response.
 */
function isMeant({ headers, socket }: IncomingMessage): boolean {
  // A browser always sends the Host header, but an HTTP/1.0 client may omit the header.
  if (headers.host === undefined) return true;
  const [, name = '', port = '80'] = /^(.+?)(?::(\d+))?$/.exec(headers.host.toLowerCase()) ?? [];
  return isLoopback(name) && Number(port) === socket.localPort;
}

/** Returns the path of the request target, which is a complete URL if the client uses a proxy. */
const pathOf = (target: string): string => target.replace(/^http:\/\/[^/?]+\/?/i, '/');

const misdirected = jsonAnswer(421, {
  error: 'misdirected request',
  message: 'the Host header must name this machine and this port',
});

/**
 * Sends the response, or only the first half if a fault cuts the response. Throws an error if a
 * fault cuts the connection.
 */
async function send(
  response: ServerResponse,
  outgoing: Outgoing,
  stopping: AbortSignal,
): Promise<void> {
  const { status, headers, body, delay = 0, connectionFault } = outgoing;
  if (delay > 0) await pause(timerMs(delay), undefined, { signal: stopping });
  if (connectionFault === 'silence' && !response.closed)
    await once(response, 'close', { signal: stopping });
  if (connectionFault === 'silence' || connectionFault === 'cut-before')
    throw new Error('An injected fault cut the connection to the sandbox.');
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  if (connectionFault === undefined) return void response.end(body);
  const bytes = Buffer.from(body);
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy());
}

/**
 * Reads the complete body, so that the client can finish sending. Returns undefined if the body is
 * longer than the service accepts. Rejects if the client disconnects before the end of the body.
 */
function readAll(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBodyLength) chunks.push(chunk);
    });
    request.once('end', () => resolve(length > maxBodyLength ? undefined : Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

function singleHeaders(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );
}
