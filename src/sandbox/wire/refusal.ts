// The refusals of the service: error texts and the three shapes of bodies from the specification.
import { Failure } from '../../formats/failure.js';
import { duplicateExtRefId, finalStateParams, insufficientBalance } from '../unspecified.js';
import * as v from 'valibot';

/** The body of a refusal. In the body of a refusal, `params` is a string that contains JSON. */
type ErrorBody =
  | { readonly error: string; readonly message?: string }
  | {
      readonly resultStatus: 'error';
      readonly code: string;
      readonly error: string;
      readonly errorMetadata: { readonly params: string };
    };

/**
 * A refusal, which any function may throw while it processes a request. The service rolls the
 * request back and sends the refusal as the response.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  /** @param note a note for the request log */
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
    readonly note?: string,
  ) {
    super(`${status} ${body.error}`);
  }
}

export function badRequest(message?: string): Refusal {
  return new Refusal(
    400,
    message === undefined ? { error: 'bad request' } : { error: 'bad request', message },
  );
}

export const notFound = (): Refusal => new Refusal(404, { error: 'not found' });

export const unauthorized = (error = 'unauthorized'): Refusal => new Refusal(401, { error });

export const permissionDenied = (): Refusal => new Refusal(403, { error: 'Permission denied' });

/** The refusal with code 2005: the transaction can no longer be confirmed. */
export const alreadyFinal = (txnId: string, state: string): Refusal =>
  detailed(
    '2005',
    `transaction ${txnId} already in final state ${state}`,
    finalStateParams(txnId, state),
  );

const detailed = (code: string, error: string, params: object): Refusal =>
  new Refusal(400, {
    resultStatus: 'error',
    code,
    error,
    errorMetadata: { params: JSON.stringify(params) },
  });

export function extRefIdUsed(): Refusal {
  const { status, error, message } = duplicateExtRefId;
  return new Refusal(status, { error, message });
}

export function notEnoughFunds(message: string): Refusal {
  return new Refusal(insufficientBalance.status, { error: insufficientBalance.error, message });
}

/** Runs a parser, and turns its Failure into a `bad request` refusal. */
export function orRefuse<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof Failure) throw badRequest(error.message);
    throw error;
  }
}

/**
 * Describes an invalid value, for example `destReq.amtRequested must be a number`. The argument
 * `root` is the path of the checked object.
 */
export function complaint(issue: v.BaseIssue<unknown>, root = ''): string {
  const path = [root, v.getDotPath(issue)].filter(Boolean).join('.');
  const words = needed(issue);
  if (/^(?:must|is) /.test(words)) return `${path || 'the body'} ${words}`;
  return path === '' ? words : `${path}: ${words}`;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'must be a string',
  boolean: 'must be true or false',
  Object: 'must be an object',
  Array: 'must be a list',
};

function needed({ message, type, expected, received, requirement }: v.BaseIssue<unknown>): string {
  if (!message.startsWith('Invalid ')) return message;
  if (received === 'undefined') return 'is required';
  if (type === 'non_empty') return 'must not be empty';
  if (type === 'max_length') return `must have at most ${String(requirement)} characters`;
  return kinds[expected ?? ''] ?? `must be ${expected ?? 'something else'}`;
}
