// What carries one HTTP exchange: the shape that every transport (network, embedded sandbox, fake) has.

/** A request as a {@link Transport} carries it. */
export interface HttpRequest {
  method: string;
  /** Absolute URL. */
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Milliseconds left for the whole exchange; a transport that cannot be slow may ignore it. */
  timeoutMs?: number | undefined;
}

/** Where the time of an exchange went, in ms. Without the first two it went over a connection that was open already. */
export interface Timing {
  readonly connect?: number | undefined;
  readonly tls?: number | undefined;
  readonly firstByte: number;
  readonly total: number;
}

/** A whole answer. */
export interface HttpResponse {
  status: number;
  /** Names in lower case; values that came several times are joined by `, `. */
  headers: Record<string, string>;
  body: string;
  timing?: Timing | undefined;
}

/**
 * Carries one request and resolves with the whole answer, whatever its status. Redirects are not followed.
 * Rejects with a {@link NetworkError} when no whole answer came.
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** What is known of a request that got no whole answer. */
export interface NetworkErrorDetails {
  /** False only when it is certain that no byte of the request has left. */
  requestSent: boolean;
  /** It broke off without a byte of an answer on a connection that had carried others: most likely that one was closed before. */
  wasClosed?: boolean | undefined;
  /** System or library code, such as `ECONNREFUSED`. */
  code?: string | undefined;
  cause?: unknown;
}

/** No whole answer came. The message says why in plain words and without the address. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  readonly requestSent: boolean;
  readonly wasClosed: boolean;
  readonly code: string | undefined;

  constructor(message: string, details: NetworkErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.requestSent = details.requestSent;
    this.wasClosed = details.wasClosed === true;
    this.code = details.code;
  }
}
