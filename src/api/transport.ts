// The interface of every transport (network, embedded sandbox, fake).

/** A request to a {@link Transport}. */
export interface HttpRequest {
  method: string;
  /** Absolute URL. */
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Milliseconds left for the whole exchange. */
  timeoutMs?: number | undefined;
}

/** Timings of an exchange in ms. The first two are missing on a reused connection. */
export interface Timing {
  readonly connect?: number | undefined;
  readonly tls?: number | undefined;
  readonly firstByte: number;
  readonly total: number;
}

/** A complete response. */
export interface HttpResponse {
  status: number;
  /** Names in lower case; repeated values are joined by `, `. */
  headers: Record<string, string>;
  body: string;
  timing?: Timing | undefined;
}

/**
 * Sends one request and resolves with the whole response, whatever its status. Does not follow
 * redirects. Rejects with a {@link NetworkError} if the response is incomplete.
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** Details of a request without a complete response. */
export interface NetworkErrorDetails {
  /** False only if certainly no byte of the request has left. */
  requestSent: boolean;
  /** A reused connection broke before any response byte, so it was most likely closed already. */
  wasClosed?: boolean | undefined;
  /** System or library code, such as `ECONNREFUSED`. */
  code?: string | undefined;
  cause?: unknown;
}

/** There was no complete response. The message gives the reason without the address. */
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
