// Typed failures of the client: what the service refused, and requests whose fate is not known.
import { Failure, type FailureDetails, type FailureKind } from '../formats/failure.js';

/**
 * What a request can change: nothing, a setting (webhook, cancellation), a quote (money stays where it is), or money.
 * It decides what a missing answer means.
 */
export type Effect = 'read' | 'setting' | 'quote' | 'payment';

/** What else is known of a refusal. */
export type ServiceErrorDetails = FailureDetails & Pick<ServiceError, 'status' | 'reason'> &
  Partial<Pick<ServiceError, 'isOwnRefusal' | 'params' | 'retryAfterMs'>>;

/** The answer is an error: the request was not carried out (specification: Errors). */
export class ServiceError extends Failure {
  override readonly name = 'ServiceError';
  declare readonly status: number;
  /** What the service said, in its own words: the texts `error` and `message`. */
  readonly reason: string;
  /**
   * Whether the service itself refused: 400, 401, 403 or 404 with a body in one of the specification's shapes, or 200 with
   * its detailed one. Anything else may come from a gateway in front of it, which does not know what became of the request.
   */
  readonly isOwnRefusal: boolean;
  /** `errorMetadata.params`, decoded where it is JSON. */
  readonly params: unknown;
  /** How long the service asks to wait, from `Retry-After` or `X-RateLimit-Reset`. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, message: string, details: ServiceErrorDetails) {
    super(kind, message, details);
    this.reason = details.reason;
    this.isOwnRefusal = details.isOwnRefusal === true;
    this.params = details.params;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** The service offers no cancellation (404 or 405): the quote lapses by itself, at its `sourceReq.expiresAt`. */
export class CancelNotOffered extends ServiceError {}

/**
 * No answer that tells what became of the request: the connection failed, or a creation or confirmation was answered
 * with a server error, by a gateway or with something unreadable.
 */
export class NoAnswer extends Failure {
  override readonly name = 'NoAnswer';
  /** False only when it is certain that the service has not carried out the request. */
  readonly mayHaveArrived: boolean;

  constructor(kind: FailureKind, message: string, details: FailureDetails & Pick<NoAnswer, 'mayHaveArrived'>) {
    super(kind, message, details);
    this.mayHaveArrived = details.mayHaveArrived;
  }
}
