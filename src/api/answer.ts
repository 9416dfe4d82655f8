// Reading answers: JSON or not, in the shape of the specification or not, and which failure an error answer is.
import * as v from 'valibot';
import { Failure } from '../formats/failure.js';
import type { FailureDetails, FailureKind } from '../formats/failure.js';
import { acceptance } from './acceptance.js';
import { NoAnswer, ServiceError } from './errors.js';
import type { Effect } from './errors.js';
import { retryAfterMs } from './retry.js';
import type { HttpResponse } from './transport.js';

/** An answer whose body has been read once: `json` is its value where it is JSON. */
export interface Answer {
  response: HttpResponse;
  content: 'json' | 'empty' | 'other';
  json: unknown;
}

/** What is known of a request before its answer is read. */
export interface Expectation {
  effect: Effect;
  txnId?: string | undefined;
  /** An empty answer is as good as JSON. */
  mayBeEmpty?: boolean | undefined;
}

export function readAnswer(response: HttpResponse): Answer {
  if (response.body.trim() === '') return { response, content: 'empty', json: undefined };
  try {
    return { response, content: 'json', json: JSON.parse(response.body) };
  } catch {
    return { response, content: 'other', json: undefined };
  }
}

export const isSuccess = ({ status }: HttpResponse): boolean => status >= 200 && status < 300;

/** Whether the body is of the kind that a success has to have. */
export const isReadable = ({ content }: Answer, { mayBeEmpty }: Expectation): boolean =>
  content === 'json' || (content === 'empty' && mayBeEmpty === true);

/** The checked value of a successful answer; throws the failure that any other answer means. */
export function valueOf<T>(
  answer: Answer,
  expectation: Expectation,
  schema: v.GenericSchema<unknown, T>,
  now: number,
): T {
  if (isSuccess(answer.response)) {
    if (!isReadable(answer, expectation)) throw unreadable(`The service answered ${contentOf(answer)}.`, expectation);
    if (acceptance(schema)(answer.json)) return answer.json;
    const checked = v.safeParse(schema, answer.json);
    if (checked.success) return checked.output;
    throw misshapen(checked.issues[0], expectation);
  }
  throw failureOf(answer, expectation, now);
}

/** What an error answer means for the request that it answers: refused, or not known. */
export function failureOf(answer: Answer, expectation: Expectation, now: number): ServiceError | NoAnswer {
  const error = serviceError(answer, now, { txnId: expectation.txnId });
  const { status, code } = error;
  if (!isMoney(expectation) || (status >= 400 && status < 500)) return error;
  return unknownOutcome(error.message, expectation, { status, code, cause: error });
}

const errorSchema = v.looseObject({
  error: v.fallback(v.optional(v.string()), undefined),
  message: v.fallback(v.optional(v.string()), undefined),
  code: v.fallback(v.optional(v.pipe(v.union([v.string(), v.number()]), v.transform(String))), undefined),
  errorMetadata: v.fallback(v.optional(v.looseObject({ params: v.optional(v.unknown()) })), undefined),
});

/** What the caller knows of the request, for the words of its failure. */
interface About extends Advice {
  readonly txnId?: string | undefined;
}

/** What to do about an answer. */
export type Advice = Pick<FailureDetails, 'hint' | 'next'>;

/** The failure that an error answer means, from any of the three body shapes or from none of them. */
export function serviceError(answer: Answer, now: number, about: About = {}): ServiceError {
  const { status, headers } = answer.response;
  const wait = retryAfterMs(headers['retry-after'], now);
  const parsed = v.safeParse(errorSchema, answer.json);
  const body = parsed.success ? parsed.output : undefined;
  const texts = [...new Set([body?.error, body?.message])].filter((text) => text !== undefined && text !== '');
  const reason = texts.length > 0 ? texts.join(': ') : contentOf(answer);
  const code = body?.code;
  const where = code === undefined ? `${status}` : `${status}, code ${code}`;
  return new ServiceError(kindOf(status), `${opening(answer, about)}: ${reason} (${where}).`, {
    status,
    code,
    reason,
    params: decoded(body?.errorMetadata?.params),
    retryAfterMs: wait,
    ...adviceFor(answer, wait, about),
  });
}

/** A creation or confirmation of which it is not known whether the service has carried it out. */
export function unknownOutcome(
  message: string,
  { effect, txnId }: Expectation,
  details: { status?: number; code?: string | undefined; cause?: unknown } = {},
): NoAnswer {
  return new NoAnswer(effect === 'payment' ? 'pending' : 'temporary', message, {
    ...details,
    mayHaveArrived: true,
    txnId,
    next: effect === 'payment' && txnId !== undefined ? { do: 'resume', id: txnId } : undefined,
  });
}

function isMoney({ effect }: Expectation): boolean {
  return effect === 'quote' || effect === 'payment';
}

function unreadable(message: string, expectation: Expectation): Failure {
  if (isMoney(expectation)) return unknownOutcome(message, expectation);
  return new Failure('temporary', message, { hint: 'Try again; if it stays so, check the base URL.' });
}

/** Names the field and what it should be, never what it was: that may be a secret. */
function misshapen(issue: v.BaseIssue<unknown>, expectation: Expectation): Failure {
  const field = v.getDotPath(issue) ?? 'the whole answer';
  const expected = issue.expected ?? 'something else';
  const message = `The service did not answer as specified: ${field} should be ${expected}.`;
  return isMoney(expectation) ? unknownOutcome(message, expectation) : new Failure('unexpected', message);
}

function kindOf(status: number): FailureKind {
  if (status === 401 || status === 403) return 'authentication';
  if (status === 404) return 'not-found';
  if (status === 429 || status >= 500) return 'temporary';
  return status >= 400 ? 'refused' : 'unexpected';
}

/** A 404 that is not the service's own JSON says nothing of the transaction: somebody else may have answered. */
const isMissing = ({ response: { status }, content }: Answer, { txnId }: About): boolean =>
  status === 404 && content === 'json' && txnId !== undefined;

function opening(answer: Answer, about: About): string {
  const { status } = answer.response;
  if (status === 401) return 'The service did not accept the key or token';
  if (status === 403) return 'The service does not permit this';
  if (isMissing(answer, about)) return `The service has no transaction ${about.txnId}`;
  if (status === 404) return 'The service could not find it';
  if (status === 429) return 'The service wants fewer requests';
  if (status >= 500) return 'The service failed';
  return status >= 400 ? 'The service refused' : 'The service points elsewhere, where the token must not go';
}

function adviceFor(answer: Answer, wait: number | undefined, about: About): Advice {
  const { response: { status }, content } = answer;
  const { hint, next } = about;
  if (hint !== undefined || next !== undefined) return { hint, next };
  if (wait !== undefined) return { hint: `Try again in ${Math.ceil(wait / 1000)} s.` };
  if (status === 401) return { hint: 'If the account is right, sign in again', next: { do: 'sign-in' } };
  if (status < 400 || (status === 404 && content === 'other')) return { hint: 'Check the base URL.' };
  return isMissing(answer, about) ? { next: { do: 'see-history' } } : {};
}

function decoded(params: unknown): unknown {
  if (typeof params !== 'string') return params;
  try {
    return JSON.parse(params);
  } catch {
    return params;
  }
}

/** What a body is, in words. The start of something JSON-like is not shown, since a token could stand there. */
function contentOf({ response, content }: Answer): string {
  if (content === 'empty') return 'nothing';
  if (content === 'json') return 'no explanation';
  if (/^\s*[{["]/.test(response.body)) return `JSON that breaks off after ${response.body.length} characters`;
  const type = response.headers['content-type']?.split(';')[0]?.trim() || 'no content type';
  return `something that is not JSON (${type}): "${firstWords(response.body)}"`;
}

function firstWords(body: string): string {
  const text = body.slice(0, 4_000).replace(/<(style|script)\b.*?<\/\1>|<[^>]*>/gis, ' ').replace(/\s+/g, ' ').trim();
  return text.length <= 80 ? text : `${text.slice(0, 79).trimEnd()}…`;
}
