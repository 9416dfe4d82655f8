// The sandbox as an HTTP server on the loopback interface, with a timer for what is due between requests.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { maxBodyLength, type Outgoing } from './http.js';
import { openService, type Service, type ServiceOptions } from './service.js';

export interface ServerOptions extends ServiceOptions {
  /** 0 (the default) takes a free one. */
  readonly port?: number | undefined;
}

export interface RunningServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly service: Service;
  /** Answers what is under way, then closes the port and the file. */
  stop(): Promise<void>;
}

const host = '127.0.0.1';
/** Another process may have written to the file, so the timer looks again at least this often. */
const longestWaitMs = 250;

/** Starts the server; rejects when the port is taken. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  let url = `http://${host}`;
  const service = openService(options, () => url);
  const server = createServer((request, response) => void serve(service, request, response));
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, host, resolve);
    });
  } catch (error) {
    await service.close();
    throw error;
  }
  const address = server.address();
  if (address !== null && typeof address === 'object') url = `http://${host}:${address.port}`;
  const timer = keepTime(service, options.onError);
  return {
    url,
    service,
    async stop() {
      await timer.stop();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeIdleConnections();
      });
      await service.close();
    },
  };
}

async function serve(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await readAll(request);
    send(response, await service.handle({
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      headers: singleHeaders(request),
      body,
    }));
  } catch {
    // The client went away in the middle of its request: there is nobody left to answer.
    response.destroy();
  }
}

function send(response: ServerResponse, { status, headers, body }: Outgoing): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Reads to the end, so that the client may finish sending, but keeps no more than the service takes. */
async function readAll(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    length += chunk.length;
    if (length <= maxBodyLength) chunks.push(chunk);
  }
  return length > maxBodyLength ? undefined : Buffer.concat(chunks);
}

function singleHeaders(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** Carries out what is due while no request comes. The timer does not keep the process alive by itself. */
function keepTime(service: Service, onError: ((error: unknown) => void) | undefined) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  const wait = (): void => {
    if (stopped) return;
    const next = Math.min(service.nextDueIn() ?? longestWaitMs, longestWaitMs);
    timer = setTimeout(() => {
      running = tick();
    }, next).unref();
  };
  const tick = async (): Promise<void> => {
    try {
      if (service.nextDueIn() === 0) await service.catchUp();
    } catch (error) {
      onError?.(error);
    }
    wait();
  };
  wait();
  return {
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
