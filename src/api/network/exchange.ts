// One exchange over the network: one time limit, a maximum size, readable errors.
import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { timerMs } from '../../formats/duration.js';
import { codeOf, errorOf } from '../../formats/unknown.js';
import {
  NetworkError,
  type HttpRequest,
  type HttpResponse,
  type NetworkErrorDetails,
  type Timing,
  type Transport,
} from '../transport.js';
import { unpacked } from './unpacked.js';

export interface NetworkOptions {
  readonly env: NodeJS.ProcessEnv;
  /** For a whole exchange, from the first byte sent to the last byte received; a request may set a shorter one. */
  readonly timeoutMs: number;
  /** Accepts a service whose certificate is not checked. */
  readonly insecure?: boolean | undefined;
}

/** A transport that holds connections. */
export type NetworkTransport = Transport & {
  /** Ends all connections immediately. */
  close(): Promise<void>;
};

export type OpeningTransport = NetworkTransport & {
  /** Opens connections ahead of requests, until this many are idle. */
  open(address: string, connections: number): void;
};

/** Progress reports of the carrier of a request. */
export interface Course {
  /** Registers how to stop; returns false after stopping at once if the exchange has ended already. */
  begins(stop: (reason: Error) => void): boolean;
  /** A new connection is open, before its TLS handshake. */
  connects(): void;
  /** The connection is ready: bytes may have left from now on. */
  leaves(): void;
  head(status: number, headers: IncomingHttpHeaders): void;
  chunk(bytes: Buffer): void;
  end(): void;
  /** @param wasClosed see {@link NetworkError} */
  fail(error: Error, wasClosed?: boolean): void;
}

const mostBytes = 32 * 1024 * 1024;

/** Resolves with the whole response; rejects with {@link NetworkError} if it is incomplete or late. */
export function exchange(
  { signal, timeoutMs = Infinity }: HttpRequest,
  longestMs: number,
  carry: (course: Course) => void,
): Promise<HttpResponse> {
  const limitMs = timerMs(Math.min(longestMs, timeoutMs));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const answer: HttpResponse = { status: 0, headers: {}, body: '' };
    let size = 0;
    let over = false;
    let requestSent = false;
    const at = { begun: performance.now(), connected: 0, sent: 0, head: 0 };
    const timing = (): Timing => ({
      ...(at.connected > 0 && {
        connect: at.connected - at.begun,
        tls: at.sent > at.connected + 1 ? at.sent - at.connected : undefined,
      }),
      firstByte: at.head - at.sent,
      total: performance.now() - at.begun,
    });
    let cutOff = (_reason: Error): void => {};

    const finish = (settle: () => void): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      settle();
    };
    const fail = (message: string, details: Omit<NetworkErrorDetails, 'requestSent'>): void =>
      finish(() => reject(new NetworkError(message, { requestSent, ...details })));
    const stop = (message: string, code: string): void => {
      fail(message, { code });
      cutOff(new Error(message));
    };
    const interrupt = (): void => stop('interrupted', 'ABORT_ERR');
    const timer = setTimeout(
      () => stop(`no data within ${Math.round(limitMs / 10) / 100} s`, 'TIMEOUT'),
      limitMs,
    );
    if (signal !== undefined) {
      // Any number of requests may share a signal.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', interrupt);
      if (signal.aborted) return interrupt();
    }

    const course: Course = {
      begins(stopper) {
        cutOff = stopper;
        if (over) cutOff(new Error('stopped before it was sent'));
        return !over;
      },
      connects: () => void (at.connected = performance.now()),
      leaves() {
        requestSent = true;
        at.sent = performance.now();
      },
      head(status, headers) {
        at.head = performance.now();
        answer.status = status;
        answer.headers = joined(headers);
      },
      chunk(bytes) {
        size += bytes.length;
        if (size > mostBytes) stop('the answer is larger than 32 MB', 'TOO_LARGE');
        else chunks.push(bytes);
      },
      end() {
        const bytes = Buffer.concat(chunks);
        const whole = (body: Buffer): void =>
          finish(() => resolve({ ...answer, body: body.toString('utf8'), timing: timing() }));
        const coding = answer.headers['content-encoding'];
        if (!coding || bytes.length === 0) return whole(bytes);
        unpacked(bytes, coding, mostBytes).then(whole, (cause: unknown) =>
          fail('the answer could not be unpacked', { cause }),
        );
      },
      fail: (error, wasClosed) =>
        fail(inWords(error), { wasClosed, code: codeOf(error) || undefined, cause: error }),
    };
    try {
      carry(course);
    } catch (error) {
      // Such as an invalid header.
      course.fail(errorOf(error));
    }
  });
}

function joined(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}

const brokenOff = 'the connection broke off before the answer was complete';

const words: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'the connection was refused'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'there is no host of that name'],
  [/^(ENETUNREACH|EHOSTUNREACH|ENETDOWN)$/, 'the host cannot be reached'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'the host does not take the connection'],
  [
    /^(ECONNRESET|EPIPE|HPE_INVALID_EOF_STATE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    brokenOff,
  ],
  [/CERT|ALTNAME|SELF_SIGNED/, 'its TLS certificate is not trusted'],
  [/^(EPROTO|ERR_SSL_)/, 'it does not speak TLS'],
  [/^(HPE_|HTTPParserError)/, 'it does not speak HTTP'],
];

function inWords(error: Error): string {
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(error.message) ?? [];
  if (refusal !== undefined)
    return `the proxy that the environment names refuses the connection (${refusal})`;
  const name = codeOf(error) || error.name;
  const found = words.find(([pattern]) => pattern.test(name));
  return found === undefined ? error.message : `${found[1]} (${name})`;
}
