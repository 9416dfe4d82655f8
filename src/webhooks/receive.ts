// Receives webhook deliveries: verifies the signature over the raw bytes, and answers 200 once the
// event is on disk. Serves the pages for monitoring, such as health and readiness.
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
  type RequestListener,
  type Server,
} from 'node:http';
import type { EventStore, ReceivedEvent } from '../store/events/event-store.js';
import {
  placeOf,
  type ReadEvent,
  readPayload,
  type WebhookEvent,
  isSignature,
  verifyBody,
} from './events.js';
import { once } from 'node:events';

export const receiverLimits: ReceiverLimits = {
  connections: 1024,
  headersMs: 10_000,
  requestMs: 20_000,
};

/** The number of deliveries so far, by result. */
interface ReceiverCounts {
  received: number;
  /** Deliveries that the receiver refused with 401. */
  wrongSignatures: number;
  /** Deliveries that the receiver refused because of their method, size, rate or form. */
  refused: number;
  /** Deliveries that the receiver answered with 503, because it could not store the event. */
  unwritten: number;
}

export interface ReceiverOptions {
  readonly host: string;
  /** The port of the receiver, or 0 for any free port. */
  readonly port: number;
  /**
   * The secrets with which the service may sign a delivery. During a change of the secret,
   * `secrets` contains both the old and the new secret.
   */
  readonly secrets: readonly string[];
  readonly signatureHeader: string;
  readonly store: Pick<EventStore, 'append' | 'check'>;
  /** The names of the consumers to whose backlogs the receiver adds every new event. */
  readonly consumers: readonly string[];
  readonly limits?: ReceiverLimits;
  readonly now: () => number;
  /** Returns monotonic milliseconds. */
  readonly elapsed: () => number;
  /** Reports stored and acknowledged events, in the order of their ids. */
  readonly onStored: (events: readonly ReadEvent[]) => void;
  readonly onWrongSignature: (remote: string) => void;
  /**
   * Reports that the receiver could not store events, of which the largest has a body of the given
   * size. The receiver responds with 503 to each delivery of an event that it could not store.
   */
  readonly onUnwritten: (error: unknown, bytes: number) => void;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/**
 * The number of event groups that the receiver writes at the same time. Events that arrive while
 * the receiver is writing form the next group.
 */
const writesAtOnce = 2;

/** The interval in ms at which Node checks for connections that exceed their time limit. */
const checkMs = 500;
/**
 * The time in ms for which a sender may continue to send its body after the receiver has refused
 * the delivery.
 */
const lingerMs = 500;
/** The time in ms for which the receiver waits for slow senders when it stops. */
const lastAnswersMs = 2_000;

/** Starts the receiver. Rejects with the system's error if the port is taken. */
export async function startReceiver(options: ReceiverOptions) {
  const limits = options.limits ?? receiverLimits;
  const counts: ReceiverCounts = { received: 0, wrongSignatures: 0, refused: 0, unwritten: 0 };
  const probes = createProbes(options.store.check, options.elapsed);
  const onUnwritten: ReceiverOptions['onUnwritten'] = (error, bytes) => {
    probes.noteFailed(bytes);
    options.onUnwritten(error, bytes);
  };
  const handle = createHandler({ ...options, onUnwritten }, counts);
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.min(checkMs, limits.headersMs),
      keepAliveTimeout: limits.headersMs,
      noDelay: true,
    },
    serve(probes.pages, handle),
  );
  server.maxConnections = limits.connections;
  const url = await listenOn(server, options);
  return {
    url,
    counts,
    probes: probes.pages,
    /** Stops the receiver: refuses new connections, and answers requests in flight. */
    stop: () =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), lastAnswersMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/** The HTTP methods that the receiver accepts, including PUT, which some services use. */
const methods: readonly string[] = ['POST', 'PUT'];

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

function createHandler(options: ReceiverOptions, counts: ReceiverCounts): Handler {
  const header = options.signatureHeader.toLowerCase();
  const write = createGroupWriter(options, counts);

  const refuse = (
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    headers: Record<string, string> = {},
  ): void => {
    if (status === 401) counts.wrongSignatures += 1;
    else counts.refused += 1;
    // The receiver must close the connection after a refusal, because Node would parse unread bytes
    // as the next request.
    response.writeHead(status, { 'content-length': 0, connection: 'close', ...headers });
    if (request.complete || request.headers['content-length'] === undefined)
      return void response.end();
    // Keeps the connection open for a moment after the response, because a sender that is still
    // sending would otherwise lose the response.
    response.flushHeaders();
    const timer = setTimeout(() => response.end(), lingerMs);
    request
      .once('end', () => response.end())
      .once('close', () => clearTimeout(timer))
      .resume();
  };
  const wrong = (request: IncomingMessage, response: ServerResponse): void => {
    options.onWrongSignature(request.socket.remoteAddress ?? '');
    refuse(request, response, 401);
  };

  return (request, response) => {
    if (!methods.includes(request.method ?? ''))
      return refuse(request, response, 405, { allow: methods.join(', ') });
    const signature = request.headers[header];
    if (typeof signature !== 'string' || !isSignature(signature)) return wrong(request, response);
    if (Number(request.headers['content-length'] ?? 0) > bodyBytes)
      return refuse(request, response, 413);
    readBody(request, (body) => {
      if (body === undefined) return refuse(request, response, 413);
      if (!options.secrets.some((secret) => verifyBody(body, signature, secret)))
        return wrong(request, response);
      write(body, signature, response);
    });
  };
}

/**
 * The largest number of bytes in one body. An event from the specification has a few hundred bytes.
 * Together, all connections hold at most 64 MiB.
 */
const bodyBytes = 64 * 1024;

/**
 * Reads the body of a delivery, and calls `done` with the body, or with undefined if the body is
 * too large. Does not call `done` if the sender disconnects.
 */
function readBody(request: IncomingMessage, done: (body: Buffer | undefined) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const isTooLarge = (): boolean => length > bodyBytes;
  request.on('data', (chunk: Buffer) => {
    if (isTooLarge()) return;
    length += chunk.length;
    chunks.push(chunk);
    if (isTooLarge()) done(undefined);
  });
  request.on('end', () => {
    if (!isTooLarge()) done(Buffer.concat(chunks));
  });
}

interface Waiting {
  readonly event: ReceivedEvent;
  readonly payload: WebhookEvent | undefined;
  readonly response: ServerResponse;
}

/**
 * Writes events in groups. Events that arrive during a write share the next database transaction.
 */
function createGroupWriter(options: ReceiverOptions, counts: ReceiverCounts) {
  let waiting: Waiting[] = [];
  let writing = 0;
  let isScheduled = false;

  const write = async (): Promise<void> => {
    const group = waiting;
    waiting = [];
    try {
      const stored = await options.store.append(
        group.map(({ event }) => event),
        options.consumers,
        placeOf,
      );
      counts.received += group.length;
      for (const { response } of group) response.writeHead(200, { 'content-length': 0 }).end();
      // Each event in `stored` belongs to the delivery at the same index of `group`, because the
      // store returns events in the order in which it received them.
      options.onStored(stored.map((event, index) => ({ event, payload: group[index]?.payload })));
    } catch (error) {
      counts.unwritten += group.length;
      for (const { response } of group)
        response.writeHead(503, { 'content-length': 0, 'retry-after': '5' }).end();
      options.onUnwritten(error, Math.max(...group.map(({ event }) => event.body.length)));
    }
  };

  const schedule = (): void => {
    if (isScheduled || writing >= writesAtOnce || waiting.length === 0) return;
    isScheduled = true;
    // Waits with `setImmediate` until the event loop has read all deliveries that have already
    // arrived.
    setImmediate(() => {
      isScheduled = false;
      writing += 1;
      void write().finally(() => {
        writing -= 1;
        schedule();
      });
    });
  };

  return (body: Buffer, signature: string, response: ServerResponse): void => {
    const payload = readPayload(body);
    waiting.push({
      event: {
        receivedAt: options.now(),
        body,
        signature,
        txnId: payload?.txnId ?? null,
        txnState: payload?.txnState ?? null,
        updatedAt: payload?.updatedAt ?? null,
      },
      payload,
      response,
    });
    schedule();
  };
}

/** The resources that unauthenticated senders may use. */
interface ReceiverLimits {
  readonly connections: number;
  /**
   * The time limit for the headers of a request, in ms. The time limit for the whole request is
   * `requestMs`.
   */
  readonly headersMs: number;
  readonly requestMs: number;
}

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
function createProbes(check: (bytes: number | undefined) => Promise<void>, elapsed: () => number) {
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
const serve =
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
async function listenOn(server: Server, { host, port }: ListenAddress): Promise<string> {
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
