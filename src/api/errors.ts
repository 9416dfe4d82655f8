// The interface of every transport (network, embedded sandbox, fake), and the failures of the
// client: refusals by the service, and requests with an unknown outcome.
import { Failure, type FailureDetails, type FailureKind } from '../formats/failure.js';

/**
 * What a request can change: nothing, a setting (webhook, cancellation), a quote (moves no money),
 * or money. The effect of a request decides what a missing response means.
 */
export type Effect = 'read' | 'setting' | 'quote' | 'payment';

/** The data from which the client makes a {@link ServiceError}. */
export type ServiceErrorDetails = FailureDetails &
  Pick<ServiceError, 'status' | 'reason'> &
  Partial<Pick<ServiceError, 'isOwnRefusal' | 'params' | 'retryAfterMs' | 'headers' | 'body'>>;

/**
 * An error response, which means that the service did not carry out the request (specification,
 * section Errors).
 */
export class ServiceError extends Failure {
  override readonly name = 'ServiceError';
  declare readonly status: number;
  /** The service's own text, from the fields `error` and `message`. */
  readonly reason: string;
  /**
   * Whether the service itself refused: 400, 401, 403 or 404 with a body in one of the
   * specification's shapes, or 200 with the detailed shape. An error response that does not have
   * one of the service's forms may come from a gateway, which cannot know the outcome.
   */
  readonly isOwnRefusal: boolean;
  /** `errorMetadata.params`, decoded if it is JSON. */
  readonly params: unknown;
  /** The wait in ms that the header `Retry-After` or `X-RateLimit-Reset` requests. */
  readonly retryAfterMs: number | undefined;
  /** The headers of the response, with names in lower case. `JSON.stringify` omits them. */
  declare readonly headers: Readonly<Record<string, string>>;
  /** The body of the response as received, without tokens. `JSON.stringify` omits it. */
  declare readonly body: string;

  constructor(kind: FailureKind, message: string, details: ServiceErrorDetails) {
    super(kind, message, details);
    this.reason = details.reason;
    this.isOwnRefusal = details.isOwnRefusal === true;
    this.params = details.params;
    this.retryAfterMs = details.retryAfterMs;
    const { headers = {}, body = '' } = details;
    // Hidden fields, because a logged error would otherwise show the whole response.
    Object.defineProperties(this, { headers: { value: headers }, body: { value: body } });
  }
}

/**
 * The service does not offer cancellation (404 or 405), so the quote expires at its
 * `sourceReq.expiresAt`.
 */
export class CancelNotOffered extends ServiceError {}

/**
 * The outcome of a request is unknown, because the connection failed, or because a create request
 * or confirmation received a server error, a gateway's response or an unreadable response.
 */
export class NoAnswer extends Failure {
  override readonly name = 'NoAnswer';
  /**
   * Whether the service may have carried out the request. `mayHaveArrived` is false only if the
   * request certainly had no effect.
   */
  readonly mayHaveArrived: boolean;

  constructor(
    kind: FailureKind,
    message: string,
    details: FailureDetails & Pick<NoAnswer, 'mayHaveArrived'>,
  ) {
    super(kind, message, details);
    this.mayHaveArrived = details.mayHaveArrived;
  }
}

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
