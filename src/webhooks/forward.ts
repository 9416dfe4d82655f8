// Forwards an event to a target URL, with the bytes and the signature that the service sent.
import { networkTransport } from '../api/network/network.js';
import { basicAuth, messageOf } from '../formats/text.js';
import { Failure } from '../formats/failure.js';
import type { StoredEvent } from '../store/events/event-store.js';
import { longestAnswerMs, type Deliver, type Verdict } from './dispatch.js';
import { eventIdOf } from './events.js';

export type Delivery = Pick<StoredEvent, 'body' | 'signature'>;

export type Forwarder = ReturnType<typeof openForwarder>;

export interface ForwardOptions {
  readonly target: URL;
  readonly signatureHeader: string;
}

/**
 * The name of the header that carries the event's id. Each repetition of a delivery has the same
 * event id, so that an application can drop repetitions.
 */
const eventIdHeader = 'Svcpay-Event-Id';

/** Reads the URL of a target. Throws Failure `usage` if the text is not an http or https URL. */
export function parseTarget(text: string): URL {
  const given = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Failure(
      'usage',
      `"${text}" is not an http or https URL. Write a URL such as ` +
        'http://localhost:3000/hooks.',
    );
  }
  return url;
}

/**
 * Returns the name under which svcpay shows and stores a target: the target's URL without user name
 * and password.
 */
export const nameOf = ({ origin, pathname, search }: URL): string =>
  `${origin}${pathname}${search}`;

/**
 * Opens a forwarder to a target. The forwarder connects directly, even if the environment names a
 * proxy.
 */
export function openForwarder({ target, signatureHeader }: ForwardOptions) {
  const { origin, pathname, search } = target;
  const send = networkTransport({ env: {}, timeoutMs: longestAnswerMs, endsSoon: true });
  const headers = { 'content-type': 'application/json', ...basicAuth(target) };
  return {
    /**
     * Posts an event to the target, and resolves with the status of the response. Rejects if the
     * target does not respond in time.
     */
    async post({ body, signature }: Delivery, signal?: AbortSignal): Promise<number> {
      const { status } = await send({
        method: 'POST',
        url: origin + pathname + search,
        headers: { ...headers, [signatureHeader]: signature, [eventIdHeader]: eventIdOf(body) },
        body,
        signal,
      });
      return status;
    },
    close: send.close,
  };
}

/**
 * Whether the status of a response shows that the target refuses only this event. If an error
 * status does not concern this event alone, the target counts as down, and all events wait.
 */
const aboutEvent = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429;

/** @param onAnswer reports the status and the duration of each response */
export function forwardTo(
  forwarder: Forwarder,
  elapsed: () => number,
  onAnswer: (event: StoredEvent, status: number, ms: number) => void,
): Deliver {
  return async (event, signal): Promise<Verdict> => {
    const startedAt = elapsed();
    try {
      const status = await forwarder.post(event, signal);
      onAnswer(event, status, elapsed() - startedAt);
      if (status >= 200 && status < 300) return { kind: 'delivered' };
      return {
        kind: 'retry',
        scope: aboutEvent(status) ? 'transaction' : 'consumer',
        reason: `it answers ${status}`,
      };
    } catch (error) {
      return { kind: 'retry', scope: 'consumer', reason: messageOf(error) };
    }
  };
}

export interface ReplayResult {
  readonly event: StoredEvent;
  /** The status of the response, or null if no response came. */
  readonly status: number | null;
  /** The reason why no response came. */
  readonly error: string | undefined;
}

/** Sends stored events again, one after the other. */
export async function* replay(
  events: Iterable<StoredEvent>,
  forwarder: Pick<Forwarder, 'post'>,
): AsyncGenerator<ReplayResult> {
  for (const event of events) yield await sendOnce(event, forwarder);
}

async function sendOnce(
  event: StoredEvent,
  forwarder: Pick<Forwarder, 'post'>,
): Promise<ReplayResult> {
  try {
    return { event, status: await forwarder.post(event), error: undefined };
  } catch (error) {
    return { event, status: null, error: messageOf(error) };
  }
}
