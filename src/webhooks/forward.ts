// Forwards an event to another address: the same bytes with the same signature, as the service sent it.
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Failure } from '../formats/failure.js';
import { codeOf } from '../formats/unknown.js';
import type { StoredEvent } from '../store/events/event-store.js';
import type { Deliver, Verdict } from './dispatch.js';

export type Delivery = Pick<StoredEvent, 'body' | 'signature'>;

export type Forwarder = ReturnType<typeof openForwarder>;

export interface ForwardOptions {
  readonly target: URL;
  /** The header that carries the signature. */
  readonly signatureHeader: string;
  /** Most connections open at one time. */
  readonly connections: number;
}

const answerMs = 15_000;

/** Throws Failure `usage` if it is not an http or https address. */
export function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Failure(
      'usage',
      `"${text}" is not an address to send to. Write an address such as http://localhost:3000/hooks.`,
    );
  }
  return url;
}

/** The displayed and stored name of a target, without user name and password. */
export const nameOf = ({ origin, pathname, search }: URL): string =>
  `${origin}${pathname}${search}`;

export function openForwarder({ target, signatureHeader, connections }: ForwardOptions) {
  const options = { keepAlive: true, maxSockets: connections };
  const secure = target.protocol === 'https:';
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  return {
    /** Resolves with the status; rejects without a response in time. */
    post: ({ body, signature }: Delivery, signal?: AbortSignal): Promise<number> =>
      new Promise((resolve, reject) => {
        const send = secure ? httpsRequest : httpRequest;
        const headers = {
          'content-type': 'application/json',
          'content-length': body.length,
          [signatureHeader]: signature,
        };
        const request = send(target, {
          method: 'POST',
          agent,
          headers,
          ...(signal !== undefined && { signal }),
        });
        const timer = setTimeout(
          () => request.destroy(new Error('no answer came in time')),
          answerMs,
        );
        request.on('response', (response) => {
          // The body is ignored, and may be endless.
          response.on('end', () => resolve(response.statusCode ?? 0));
          response.on('error', reject);
          response.resume();
        });
        request.on('error', reject);
        request.on('close', () => clearTimeout(timer));
        request.end(body);
      }),
    close: (): void => agent.destroy(),
  };
}

/** Statuses about the event rather than the target: only this event waits. */
const aboutEvent = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

export function forwardTo(forwarder: Forwarder): Deliver {
  return async (event, signal): Promise<Verdict> => {
    try {
      const status = await forwarder.post(event, signal);
      if (status >= 200 && status < 300) return { kind: 'delivered' };
      return {
        kind: 'retry',
        scope: aboutEvent(status) ? 'transaction' : 'consumer',
        reason: `it answers ${status}`,
      };
    } catch (error) {
      return { kind: 'retry', scope: 'consumer', reason: reasonOf(error) };
    }
  };
}

/** Describes a missing response. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return 'the connection is refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'there is no host of that name';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection was closed';
  return error instanceof Error && error.message !== '' ? error.message : 'no answer came';
}

export interface Replayed {
  readonly event: StoredEvent;
  /** Status of the response; null if there was none. */
  readonly status: number | null;
  /** The reason for a missing response. */
  readonly error: string | undefined;
}

/** Sends stored events again, in sequence. */
export async function* replay(
  events: Iterable<StoredEvent>,
  forwarder: Pick<Forwarder, 'post'>,
): AsyncGenerator<Replayed> {
  for (const event of events) yield await sendOnce(event, forwarder);
}

async function sendOnce(event: StoredEvent, forwarder: Pick<Forwarder, 'post'>): Promise<Replayed> {
  try {
    return { event, status: await forwarder.post(event), error: undefined };
  } catch (error) {
    return { event, status: null, error: reasonOf(error) };
  }
}
