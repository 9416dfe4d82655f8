// Defines a request and its possible effects. Reads every response, even if the response is not
// JSON or has an unspecified form, and derives the failure and the wait that the response means.
import { Failure, type FailureDetails, type FailureKind } from '../formats/failure.js';
import { clip, isFields, jsonIn, type Fields } from '../formats/text.js';
import { NoAnswer, ServiceError, type Effect, type HttpResponse } from './errors.js';
import type { LogFacts } from './types.js';
import { decimal, instant, Misread, text, within } from './reading.js';
import { hidden, withoutTokens } from './redact.js';

/** A response, its parsed body, and the JSON value of the body, if there is one. */
export interface Answer {
  response: HttpResponse;
  content: 'json' | 'empty' | 'other';
  json: unknown;
}

/** The properties of a request that decide how the client reads its response. */
interface Expectation {
  effect: Effect;
  txnId?: string | undefined;
  /** Whether an empty body counts as a successful response. */
  mayBeEmpty?: boolean | undefined;
  /** A signal that stops this request, in addition to the client's signal. */
  signal?: AbortSignal | undefined;
}

export function readAnswer(response: HttpResponse): Answer {
  if (response.status === 204) return { response, content: 'json', json: null };
  if (response.body.trim() === '') return { response, content: 'empty', json: undefined };
  const json = jsonIn(response.body);
  return { response, content: json === undefined ? 'other' : 'json', json };
}

export const isSuccess = ({ status }: HttpResponse): boolean => status >= 200 && status < 300;

/** Whether the response has a body that is valid for a successful response. */
export const isReadable = ({ content }: Answer, { mayBeEmpty }: Expectation): boolean =>
  content === 'json' || (content === 'empty' && mayBeEmpty === true);

/** Reads a successful response. For an error response, throws the corresponding failure. */
export function valueOf<T>(
  answer: Answer,
  expectation: Expectation,
  read: (json: unknown) => T,
  now: number,
): T {
  if (!isSuccess(answer.response) || reportsError(answer))
    throw failureOf(answer, expectation, now);
  if (!isReadable(answer, expectation))
    throw unreadable(`The service answered with ${contentOf(answer)}.`, expectation);
  try {
    return read(answer.json);
  } catch (error) {
    if (!(error instanceof Misread)) throw error;
    if (hasErrorShape(answer)) throw failureOf(answer, expectation, now);
    throw misshapen(error, expectation, requestIdOf(answer.response));
  }
}

/** Whether the body of a response reports an error, even if the status reports success. */
export const reportsError = ({ json }: Answer): boolean =>
  /^(?:error|fail(?:ed|ure)?)$/i.test(
    text.read(fieldsWithin(json, 'resultStatus')['resultStatus']) ?? '',
  );

/** Returns the fields of an error, which may be at the top of the body or inside `data`. */
const errorWithin = (json: unknown): Fields => fieldsWithin(json, 'error', 'message', 'code');

const fieldsWithin = (json: unknown, ...anyOf: readonly string[]): Fields => {
  const found = within(json, ...anyOf);
  return isFields(found) ? found : {};
};

/** The error code of a response, which services send as a text or a number. */
export const codeOf = ({ json }: Answer): string | undefined =>
  clip(text.read(errorWithin(json)['code']) ?? '', longestCode) || undefined;

/** The maximum lengths of a service's error text and error code in a message, in characters. */
const [longestReason, longestCode] = [2_000, 80];

/** Converts an error response to a failure: a refusal, or an unknown outcome. */
export function failureOf(
  answer: Answer,
  expectation: Expectation,
  now: number,
): ServiceError | NoAnswer {
  const error = serviceError(answer, now, { txnId: expectation.txnId });
  if (!isUnresolved(error, answer, expectation)) return error;
  const { status, code, requestId } = error;
  return unknownOutcome(error.message, expectation, { status, code, requestId, cause: error });
}

/** The statuses with which a gateway answers when it stops waiting for the service. */
const gaveUp: ReadonlySet<number> = new Set([408, 425, 499]);
/**
 * The statuses with which a gateway refuses concurrent requests, or the service refuses a reference
 * that is already used.
 */
const conflicts: ReadonlySet<number> = new Set([409, 423]);

/**
 * Whether an error response leaves the outcome unknown. Only the service's own refusal, including a
 * rate limit, proves that the service did not carry out a payment request.
 */
function isUnresolved(
  { status, isOwnRefusal }: ServiceError,
  answer: Answer,
  { effect }: Expectation,
): boolean {
  if (effect === 'payment') return !isOwnRefusal && !(status === 429 && hasErrorShape(answer));
  if (effect !== 'quote' || isSuccess(answer.response)) return false;
  if (status < 400 || status >= 500) return true;
  return gaveUp.has(status) || (conflicts.has(status) && !hasErrorShape(answer));
}

/** Whether a body has a text in the field `error`, like every error from the specification. */
const hasErrorShape = ({ json }: Answer): boolean => typeof errorWithin(json)['error'] === 'string';

const ownStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404]);

/**
 * Whether the service itself, not a gateway, wrote an error response. The service's own error
 * response has an error body with status 400, 401, 403 or 404, or an error body in the detailed
 * form with status 200.
 */
const isOwn = (answer: Answer): boolean =>
  hasErrorShape(answer) &&
  (ownStatuses.has(answer.response.status) ||
    (answer.response.status === 200 && reportsError(answer)));

/** Details of a failed request that only the caller knows, such as the id of the transaction. */
interface FailureContext extends Advice {
  readonly txnId?: string | undefined;
}

export type Advice = Pick<FailureDetails, 'hint' | 'next'>;

/** Converts an error response to a failure, whatever the form of the response's body. */
export function serviceError(
  answer: Answer,
  now: number,
  { txnId, hint, next }: FailureContext = {},
): ServiceError {
  const { status, headers, body: text } = answer.response;
  const wait = waitAskedFor(answer.response, now);
  const body = errorWithin(answer.json);
  const code = codeOf(answer);
  const texts = [...new Set([body['error'], body['message']])].filter(
    (each) => typeof each === 'string' && each !== '',
  );
  const reason = texts.length > 0 ? clip(texts.join(': '), longestReason) : contentOf(answer);
  const { kind, opening, advice } = meaningOf(answer, code, txnId);
  const where = code === undefined ? `${status}` : `${status}, code ${code}`;
  const metadata = body['errorMetadata'];
  const isAdvised = hint !== undefined || next !== undefined;
  return new ServiceError(kind, `${opening}: ${reason} (${where}).`, {
    status,
    code,
    reason,
    isOwnRefusal: isOwn(answer),
    params: decoded(isFields(metadata) ? metadata['params'] : undefined),
    retryAfterMs: wait,
    requestId: requestIdOf(answer.response),
    headers,
    body: hidden(text),
    ...(isAdvised
      ? { hint, next }
      : wait === undefined
        ? advice
        : { hint: `Try again in ${Math.ceil(wait / 1000)} s.` }),
  });
}

const requestIdHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'cf-ray',
];

export function requestIdOf({ headers }: HttpResponse): string | undefined {
  const given = requestIdHeaders
    .map((header) => headers[header])
    .find((id) => id !== undefined && id !== '');
  return given?.slice(0, 80);
}

/** Returns the ids in a response, for logs. */
export function factsOf(answer: Answer): LogFacts {
  const body = within(answer.json, 'txnId');
  const { txnId, extRefId } = isFields(body) ? body : {};
  const requestId = requestIdOf(answer.response);
  return {
    ...(typeof extRefId === 'string' && { reference: extRefId.replace(/~\d+$/, '') }),
    ...(typeof txnId === 'string' && { txnId }),
    ...(requestId !== undefined && { requestId }),
  };
}

/** The failure of a create request or confirmation that the service may have carried out. */
export function unknownOutcome(
  message: string,
  { effect, txnId }: Expectation,
  details: FailureDetails = {},
): NoAnswer {
  return new NoAnswer(effect === 'payment' ? 'pending' : 'temporary', message, {
    ...details,
    mayHaveArrived: true,
    txnId,
    next: effect === 'payment' && txnId !== undefined ? { do: 'resume', id: txnId } : undefined,
  });
}

/**
 * The hint for a response that is a web page or a redirect, because a guest network or a gateway
 * may have sent it.
 */
const notTheService = 'Try again. If the error persists, check the base URL.';

const pointsElsewhere = (status: number): boolean => status >= 300 && status < 400;

const isMoney = ({ effect }: Expectation): boolean => effect === 'quote' || effect === 'payment';

function unreadable(message: string, expectation: Expectation): Failure {
  if (isMoney(expectation)) return unknownOutcome(message, expectation);
  return new Failure('temporary', message, { hint: notTheService });
}

function misshapen(
  { message: what }: Misread,
  expectation: Expectation,
  requestId: string | undefined,
): Failure {
  const message = `The service's answer could not be read: ${withoutTokens(what)}.`;
  return isMoney(expectation)
    ? unknownOutcome(message, expectation, { requestId })
    : new Failure('unexpected', message, { requestId });
}

/**
 * Maps the error codes of live services to kinds of failure. An error code reports a problem with
 * the key, the signature, the token or the balance more exactly than the status.
 */
const kindsByCode: ReadonlyMap<string | undefined, FailureKind> = new Map([
  ['1001', 'authentication'],
  ['1002', 'authentication'],
  ['1003', 'authentication'],
  ['2001', 'limit'],
]);
const kindsByStatus: ReadonlyMap<number, FailureKind> = new Map([
  [401, 'authentication'],
  [403, 'authentication'],
  [404, 'not-found'],
]);

const signIn: Advice = {
  hint: 'If this is the right account, sign in again',
  next: { do: 'sign-in' },
};

/** Describes what an error response means, and what a person can do about it. */
function meaningOf(
  { response: { status }, content }: Answer,
  code: string | undefined,
  txnId: string | undefined,
): { readonly kind: FailureKind; readonly opening: string; readonly advice?: Advice } {
  if (status === 429) return { kind: 'temporary', opening: "The service's rate limit was reached" };
  if (status >= 500) return { kind: 'temporary', opening: 'The service failed' };
  if (pointsElsewhere(status)) {
    const opening =
      'The service redirects to a different address, to which svcpay never sends the token';
    return { kind: 'temporary', opening, advice: { hint: notTheService } };
  }
  const refused = 'The service refused';
  if (gaveUp.has(status)) return { kind: 'temporary', opening: refused };
  const kind = kindsByCode.get(code) ?? kindsByStatus.get(status) ?? 'refused';
  if (status === 401 || (kind === 'authentication' && status !== 403))
    return { kind, opening: 'The service did not accept the key or token', advice: signIn };
  if (status === 403) return { kind, opening: 'The service does not permit this request' };
  if (status !== 404) return { kind, opening: refused };
  // A 404 without JSON may come from a gateway, so it proves nothing about the transaction.
  if (content === 'json' && txnId !== undefined) {
    const opening = `The service has no transaction ${txnId}`;
    return { kind, opening, advice: { next: { do: 'see-history' } } };
  }
  const advice = content === 'other' ? { hint: 'Check the base URL.' } : {};
  return { kind, opening: 'The service has nothing at this address', advice };
}

function decoded(params: unknown): unknown {
  const json = typeof params === 'string' ? jsonIn(params) : undefined;
  return json === undefined ? params : json;
}

/**
 * Describes the body of a response, or the target of a redirect. The description omits JSON and the
 * query of a URL, because these may contain a token.
 */
function contentOf({ response, content }: Answer): string {
  const [elsewhere = ''] = (response.headers['location'] ?? '').split(/[?#]/);
  if (elsewhere !== '' && pointsElsewhere(response.status)) return elsewhere.slice(0, 200);
  if (content === 'empty') return 'an empty body';
  if (content === 'json') return 'no explanation';
  if (/^\s*[{["]/.test(response.body)) return `truncated JSON (${response.body.length} characters)`;
  const type = response.headers['content-type']?.split(';')[0]?.trim() || 'no content type';
  return `a body that is not JSON (${type}): "${firstWords(response.body)}"`;
}

function firstWords(body: string): string {
  const text = body
    .slice(0, 4_000)
    .replace(/<(style|script)\b.*?<\/\1>|<[^>]*>/gis, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length <= 80 ? text : `${text.slice(0, 79).trimEnd()}…`;
}

/**
 * Returns the wait in ms that a response requests in its `Retry-After` header. For a 429 without
 * `Retry-After`, returns the wait until the rate limit resets.
 */
export function waitAskedFor(
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  now: number,
): number | undefined {
  return (
    retryAfterMs(headers['retry-after'], now) ??
    (status === 429 ? resetMs(headers, now) : undefined)
  );
}

/**
 * Returns the wait in ms from the header `Retry-After`, which contains seconds or a date by the
 * service's clock.
 */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(header.trim())) return Math.ceil(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * In `X-RateLimit-Reset`, a number below `longestSpan` means seconds from now, and every other
 * number means an instant.
 */
const longestSpan = 1e8;

/**
 * Returns the wait in ms from the header `X-RateLimit-Reset`, which contains seconds or an instant
 * in any form.
 */
export function resetMs(headers: HttpResponse['headers'], now: number): number | undefined {
  const header = headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'];
  if (header === undefined) return undefined;
  const seconds = decimal.read(header);
  if (typeof seconds === 'number' && seconds >= 0 && seconds < longestSpan)
    return Math.ceil(seconds * 1000);
  const at = instant.read(header) ?? Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** The time limit and the number of retries of a call. */
export interface CallLimits {
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

/** A request, whose path begins with `/` and contains only encoded ids. */
export interface Call extends Expectation {
  readonly method: string;
  readonly path: string;
  readonly query?: readonly [string, string][] | undefined;
  /** JSON text. */
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The time left for the exchange, in ms. */
  readonly timeoutMs?: number | undefined;
  /** The limits of this call, which replace the client's limits. */
  readonly limits?: CallLimits | undefined;
  /**
   * The results after which the client repeats a read. By default, the client repeats a read after
   * a temporary failure and after an unreadable response.
   */
  readonly repeatAfter?: 'nothing' | 'failures' | undefined;
}

export type Send = (call: Call) => Promise<Answer>;

export type Step = (next: Send) => Send;

const id = '[A-Za-z0-9._~-]+';
const confirmation = new RegExp(`^PUT /api/v2/transaction/(${id})/confirm$`);
const settings = new RegExp(
  '^(?:POST /api/v2/(?:webhook|authentication/token-signature)|(?:PUT|DELETE) ' +
    `/api/v2/webhook/${id}|PUT /api/v2/transaction/${id}/cancel)$`,
);

/**
 * Determines the possible effect of a request, such as `read` or `payment`. An unspecified path, or
 * a different spelling of a path, counts as a payment, because it could move money.
 */
export function effectOf(method: string, path: string): Expectation {
  if (method === 'GET' || method === 'HEAD') return { effect: 'read' };
  const route = `${method} ${path.replace(/[?#].*$/s, '').replace(/\/$/, '')}`;
  if (route === 'POST /api/v2/transaction') return { effect: 'quote' };
  if (settings.test(route)) return { effect: 'setting' };
  return { effect: 'payment', txnId: confirmation.exec(route)?.[1] };
}
