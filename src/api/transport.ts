// The interface of every transport (network, embedded sandbox, fake).

/** A signed request, as a transport sends it. */
export interface HttpRequest {
  method: string;
  url: string;
  /** The headers of the request, with names in lower case. */
  headers: Record<string, string>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The time left for the whole exchange, in ms. */
  timeoutMs?: number | undefined;
}

/**
 * The timings of an exchange in ms. If the exchange reuses a connection, `connect` and `tls` are
 * missing.
 */
export interface Timing {
  readonly connect?: number | undefined;
  readonly tls?: number | undefined;
  readonly firstByte: number;
  readonly total: number;
}

/** A response as the transport received it. */
export interface HttpResponse {
  status: number;
  /**
   * The headers of the response, with names in lower case and with repeated values joined by `, `.
   */
  headers: Record<string, string>;
  body: string;
  timing?: Timing | undefined;
}

/**
 * Sends one request and resolves with the whole response, whatever its status. A transport does not
 * follow redirects. Rejects with a {@link NetworkError} if the response is incomplete.
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** Details of a failed exchange, which show whether the request can have reached the service. */
export interface NetworkErrorDetails {
  /**
   * Whether bytes of the request may have left the machine. `requestSent` is false only if svcpay
   * is certain that the machine sent no byte of the request.
   */
  requestSent: boolean;
  /**
   * Whether a reused connection broke before the first byte of a response. If a reused connection
   * breaks before the first byte of a response, the service had most likely closed the connection
   * before the request arrived.
   */
  wasClosed?: boolean | undefined;
  /** The error code of the system or of a library, such as `ECONNREFUSED`. */
  code?: string | undefined;
  cause?: unknown;
}

/**
 * The error for a missing or incomplete response. The error's message gives the reason without the
 * URL.
 */
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
