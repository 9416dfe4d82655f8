// Receives webhook deliveries. Verifies the signature over the raw bytes, and answers 200 once the
// event is on disk.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { EventStore, ReceivedEvent } from '../store/events/event-store.js';
import { createProbes, listenOn, serve } from './monitoring.js';
import { placeOf, type ReadEvent, readPayload, type WebhookEvent } from './events.js';
import { isSignature, verifyBody } from './sign.js';

export const receiverLimits: ReceiverLimits = {
  bodyBytes: 1024 * 1024,
  heldBytes: 64 * 1024 * 1024,
  connections: 1024,
  headersMs: 10_000,
  requestMs: 20_000,
  wrongPerSecond: 50,
};

/** The number of deliveries so far, by result. */
export interface ReceiverCounts {
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
  const handle = createHandler({ ...options, onUnwritten }, limits, counts);
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

function createHandler(
  options: ReceiverOptions,
  limits: ReceiverLimits,
  counts: ReceiverCounts,
): Handler {
  const header = options.signatureHeader.toLowerCase();
  const write = createGroupWriter(options, counts);
  const intake = createIntake(limits, options.elapsed);

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
    intake.noteWrong();
    options.onWrongSignature(request.socket.remoteAddress ?? '');
    refuse(request, response, 401);
  };

  return (request, response) => {
    if (!methods.includes(request.method ?? ''))
      return refuse(request, response, 405, { allow: methods.join(', ') });
    const signature = request.headers[header];
    if (typeof signature !== 'string' || !isSignature(signature)) return wrong(request, response);
    const length = Number(request.headers['content-length'] ?? Infinity);
    const no = intake.refusal(length);
    if (no !== undefined)
      return refuse(request, response, no, no === 413 ? {} : { 'retry-after': '1' });
    readBody(request, intake, (body) => {
      if (typeof body === 'number') return refuse(request, response, body);
      if (!options.secrets.some((secret) => verifyBody(body, signature, secret)))
        return wrong(request, response);
      write(body, signature, response);
    });
  };
}

/**
 * Reads the body of a delivery, and calls `done` with the body or with the status of a refusal.
 * Does not call `done` if the sender disconnects.
 */
function readBody(
  request: IncomingMessage,
  intake: ReturnType<typeof createIntake>,
  done: (body: Buffer | number) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let isOver = false;
  const finish = (result?: Buffer | number): void => {
    if (isOver) return;
    isOver = true;
    intake.release(length);
    if (result !== undefined) done(result);
  };
  request.on('data', (chunk: Buffer) => {
    if (isOver) return;
    length += chunk.length;
    intake.hold(chunk.length);
    const no = intake.overflow(length);
    if (no !== undefined) return finish(no);
    chunks.push(chunk);
  });
  request.on('end', () =>
    finish(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
  );
  request.on('close', () => finish());
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
export interface ReceiverLimits {
  /** The largest number of bytes in one body. */
  readonly bodyBytes: number;
  /** The largest number of bytes in all bodies that the receiver is reading. */
  readonly heldBytes: number;
  readonly connections: number;
  /**
   * The time limit for the headers of a request, in ms. The time limit for the whole request is
   * `requestMs`.
   */
  readonly headersMs: number;
  readonly requestMs: number;
  /**
   * If the wrong signatures within a second reach this number, the receiver reads only small
   * bodies.
   */
  readonly wrongPerSecond: number;
}

/** The HTTP status of a refusal, or undefined if the receiver accepts the delivery. */
type Refusal = 413 | 429 | 503 | undefined;

/**
 * The largest size of a small body, in bytes. An event from the specification has a few hundred
 * bytes. While many deliveries have wrong signatures, the receiver refuses bodies above
 * `smallBytes` without reading them, so that unknown senders cannot lock out the service.
 */
const smallBytes = 16 * 1024;

/** @param elapsed returns monotonic milliseconds */
export function createIntake(limits: ReceiverLimits, elapsed: () => number) {
  let held = 0;
  let windowStart = 0;
  let wrong = 0;

  const isCrowded = (): boolean => {
    if (elapsed() - windowStart >= 1000) {
      windowStart = elapsed();
      wrong = 0;
    }
    return wrong >= limits.wrongPerSecond;
  };

  return {
    /**
     * Decides whether to accept a delivery, by the body length in its headers. The body length is
     * infinite if the headers contain no length.
     */
    refusal(length: number): Refusal {
      if (length > limits.bodyBytes && length !== Infinity) return 413;
      if (length > smallBytes && isCrowded()) return 429;
      return held >= limits.heldBytes ? 503 : undefined;
    },
    /** Decides whether to continue to read a body, by the number of bytes received so far. */
    overflow(length: number): Refusal {
      if (length > limits.bodyBytes) return 413;
      return held > limits.heldBytes ? 503 : undefined;
    },
    hold: (bytes: number): void => void (held += bytes),
    release: (bytes: number): void => void (held -= bytes),
    noteWrong(): void {
      isCrowded();
      wrong += 1;
    },
  };
}
