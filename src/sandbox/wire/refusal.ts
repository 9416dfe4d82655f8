// Answers of the service that say no: the error texts and the three body shapes of the specification.
import { Failure } from '../../formats/failure.js';
import { duplicateExtRefId, finalStateParams, insufficientBalance } from '../unspecified.js';

/** The three shapes of the specification; `params` is JSON in a string. */
type ErrorBody =
  | { readonly error: string; readonly message?: string }
  | {
    readonly resultStatus: 'error';
    readonly code: string;
    readonly error: string;
    readonly errorMetadata: { readonly params: string };
  };

/** Thrown anywhere in a request: what the request wrote is undone and this is its answer. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  /** @param note for the log of requests */
  constructor(readonly status: number, readonly body: ErrorBody, readonly note?: string) {
    super(`${status} ${body.error}`);
  }
}

export function badRequest(message?: string): Refusal {
  return new Refusal(400, message === undefined ? { error: 'bad request' } : { error: 'bad request', message });
}

export const notFound = (): Refusal => new Refusal(404, { error: 'not found' });

export const unauthorized = (error = 'unauthorized'): Refusal => new Refusal(401, { error });

export const permissionDenied = (): Refusal => new Refusal(403, { error: 'Permission denied' });

/** Code 2005: the transaction cannot be confirmed (any more). */
export const alreadyFinal = (txnId: string, state: string): Refusal =>
  detailed('2005', `transaction ${txnId} already in final state ${state}`, finalStateParams(txnId, state));

/** Code 3002, as some services answer in place of replacing the webhook. */
export const webhookExists = (): Refusal => detailed('3002', 'a webhook exists already', {});

const detailed = (code: string, error: string, params: object): Refusal =>
  new Refusal(400, { resultStatus: 'error', code, error, errorMetadata: { params: JSON.stringify(params) } });

export function extRefIdUsed(): Refusal {
  const { status, error, message } = duplicateExtRefId;
  return new Refusal(status, { error, message });
}

export function notEnoughFunds(message: string): Refusal {
  return new Refusal(insufficientBalance.status, { error: insufficientBalance.error, message });
}

/** Runs a step that reads a format; what is wrong with the text becomes a bad request. */
export function orRefuse<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof Failure) throw badRequest(error.message);
    throw error;
  }
}
