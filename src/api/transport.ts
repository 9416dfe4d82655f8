// The interface of every transport (network, embedded sandbox, fake).

/** A signed request, as a transport sends it. */
export interface HttpRequest {
  method: string;
  url: string;
  /** Header names are in lower case. */
  headers: Record<string, string>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Milliseconds left for the whole exchange. */
  timeoutMs?: number | undefined;
}

/** The timings of an exchange in ms. A reused connection has neither `connect` nor `tls`. */
export interface Timing {
  readonly connect?: number | undefined;
  readonly tls?: number | undefined;
  readonly firstByte: number;
  readonly total: number;
}

/** A complete response. */
export interface HttpResponse {
  status: number;
  /** Header names are in lower case. Repeated values are joined by `, `. */
  headers: Record<string, string>;
  body: string;
  timing?: Timing | undefined;
}

/**
 * Sends one request and resolves with the whole response, whatever its status. Does not follow
 * redirects. Rejects with a {@link NetworkError} if the response is incomplete.
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** Details of a failed exchange, which show whether the request can have reached the service. */
export interface NetworkErrorDetails {
  /** Whether bytes of the request may have been sent. False only if certainly no byte was sent. */
  requestSent: boolean;
  /**
   * Whether a reused connection broke before the first byte of a response. Most likely, the service
   * had closed the connection before the request arrived.
   */
  wasClosed?: boolean | undefined;
  /** A system or library code, such as `ECONNREFUSED`. */
  code?: string | undefined;
  cause?: unknown;
}

/** The response is missing or incomplete. The message gives the reason without the address. */
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
