// Sends every request: sign-in, headers, retries, clock and debug log.
import {
  codeOf,
  factsOf,
  isReadable,
  isSuccess,
  readAnswer,
  reportsError,
  serviceError,
  unknownOutcome,
  valueOf,
  type Advice,
  type Answer,
  type Expectation,
} from './answer.js';
import { checkKey, createBodies, createTokenKeeper, signature, tokenPath } from './auth.js';
import { NoAnswer } from './errors.js';
import { fromMaker } from './maker.js';
import type { ClientOptions, LogFacts } from './options.js';
import { trackRateLimit, waitAskedFor } from './rate-limit.js';
import { createRedactor, withoutTokens } from './redact.js';
import { readToken } from './reading/objects.js';
import type { AnswerReader } from './reading/readers.js';
import {
  throwIfInterrupted,
  unlessInterrupted,
  withRetries,
  type Again,
  type Outcome,
} from './retry.js';
import { createServiceClock } from './service-clock.js';
import { NetworkError, type HttpRequest, type HttpResponse, type Timing } from './transport.js';
import type { Token } from './types.js';

/** A request before authentication. The path begins with `/`; ids in it are encoded. */
interface Call extends Expectation {
  method: string;
  path: string;
  query?: readonly [string, string][] | undefined;
  /** JSON text. */
  body?: string | undefined;
}

export interface Service {
  now(): number;
  confirmedNow(): number;
  authenticate(): Promise<Token>;
  accountId(): Promise<string>;
  /** What is read from the answer. */
  call<T>(call: Call, read: AnswerReader<T>): Promise<T>;
  /** The answer as it came, whatever its status. */
  raw(call: Call, retry: boolean): Promise<HttpResponse>;
  /** The same, whose requests stop at this signal as well. */
  until(signal: AbortSignal): Service;
}

/** A call with its authentication headers. */
interface SignedCall extends Call {
  headers: Record<string, string>;
}

export function createService(options: ClientOptions): Service {
  checkKey(options.credentials);
  const clock = createServiceClock(options.clock);
  const nextBody = createBodies(clock.now, options.random);
  const tokens = createTokenKeeper(options.tokens, signIn, clock.now, options.clock);
  const rateLimit = trackRateLimit();
  const redactor = createRedactor(options.credentials.apiSecret);
  /** The service has accepted a token of this key. */
  let wasAccepted = false;

  /** Messages are made from responses, so secrets are removed first. */
  function withoutSecrets(answer: Answer, { path }: Call): Answer {
    const isData = isSuccess(answer.response) && answer.content === 'json' && !reportsError(answer);
    const response = isData
      ? redactor.data(answer.response, path === tokenPath)
      : redactor.error(answer.response);
    return response.body === answer.response.body ? { ...answer, response } : readAnswer(response);
  }

  /** One exchange, with a log line that contains no secrets. */
  async function exchange(call: SignedCall, timeoutMs: number): Promise<Answer> {
    const sentAt = options.clock();
    const logged = (outcome: string, facts: LogFacts = {}, timing = ''): void =>
      options.log?.(
        `${call.method} ${call.path.split('?', 1)[0]} ${outcome} ${options.clock() - sentAt} ms${timing}`,
        facts,
      );
    try {
      redactor.note(call.headers, call.body);
      const response = await options.transport(httpRequest(call, options, timeoutMs));
      clock.observe(response.headers['date'], sentAt);
      rateLimit.observe(response, clock.now());
      const answer = withoutSecrets(readAnswer(response), call);
      const facts = factsOf(answer);
      options.onFacts?.(facts);
      logged(`${response.status}`, facts, timingText(response.timing));
      return answer;
    } catch (error) {
      rateLimit.observe({ status: 0, headers: {} }, clock.now());
      logged(error instanceof NetworkError ? (error.code ?? error.message) : 'failed');
      throw error;
    }
  }

  /**
   * Retries a request that changes nothing while `again` returns true for its response. A request that
   * changes a setting is retried only if it was lost on a closed connection, because repeating it is harmless.
   */
  async function attempts(
    expectation: Expectation,
    prepare: () => Promise<SignedCall>,
    again: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const reason = (outcome: Outcome<Answer>): Again | undefined => {
      const { effect } = expectation;
      if ('error' in outcome) {
        const isLost =
          outcome.error instanceof NetworkError &&
          (effect === 'read' || (effect === 'setting' && outcome.error.wasClosed));
        return isLost ? {} : undefined;
      }
      if (effect !== 'read' || !again(outcome.value)) return undefined;
      const { response } = outcome.value;
      return {
        retryAfterMs: waitAskedFor(response, clock.now()),
        isLimited: response.status === 429,
      };
    };
    // A confirmation is never delayed by rate limits.
    const hold = (): number => {
      if (expectation.effect !== 'payment') return rateLimit.before(clock.now());
      rateLimit.sent();
      return 0;
    };
    try {
      return await withRetries(
        { ...options, signal: signalOf(expectation, options) },
        async (timeoutMs) => exchange(await prepare(), timeoutMs),
        { again: reason, hold },
      );
    } catch (error) {
      throw error instanceof NetworkError ? noAnswer(error, expectation, options) : error;
    }
  }

  /** A token request moves nothing, so it is retried like a read, each time with a new signature. */
  async function signIn(): Promise<Token> {
    const { apiKey } = options.credentials;
    const expectation: Expectation = { effect: 'read' };
    const prepare = async (): Promise<SignedCall> => {
      const body = nextBody();
      const headers = {
        'x-api-key': apiKey,
        'x-api-signature': await signature(options.credentials, body),
      };
      return { ...expectation, method: 'POST', path: tokenPath, body, headers };
    };
    const answer = await attempts(expectation, prepare, worthAnother(expectation));
    const { status } = answer.response;
    if (status === 401)
      await tokens.forget().catch(() => options.log?.('the token could not be removed'));
    if (!isSuccess(answer.response)) throw serviceError(answer, clock.now(), signInAdvice(answer));
    const token = valueOf(answer, expectation, readToken(clock.now()), clock.now());
    await options.tokens.save(token).catch(() => options.log?.('the token could not be kept'));
    return token;
  }

  /**
   * Sends a request with the token, and after a 401 again with a new one, because a refused request has changed nothing. In some
   * services a new token invalidates the previous one, so the request is retried more often if others use the key.
   */
  async function signedIn(call: Call, again: (answer: Answer) => boolean): Promise<Answer> {
    const attempt = ({ accessToken }: Token): Promise<Answer> =>
      attempts(
        call,
        async () => ({ ...call, headers: { authorization: `Bearer ${accessToken}` } }),
        again,
      );
    throwIfInterrupted(signalOf(call, options));
    // Others may wait for the same sign-in, so it continues without this request.
    let token = await unlessInterrupted(tokens.current, call.signal);
    // A confirmation is not retried repeatedly.
    let hasOthers = wasAccepted && call.effect !== 'payment';
    for (let refusals = 1; ; refusals += 1) {
      const answer = await attempt(token);
      const isRefused = isTokenRefused(answer, call);
      wasAccepted ||= !isRefused;
      if (refusals > mostSuccessors || !isRefused) return answer;
      // Another process that invalidated a new token is active now.
      const pauseMs = tokens.isNew(token)
        ? Math.round(options.random() * othersTakeMs * refusals)
        : 0;
      if (pauseMs > 0) await options.sleep(pauseMs, signalOf(call, options)).catch(() => undefined);
      const successor = await tokens.successor(token);
      if (successor === undefined && refusals > 1 && !hasOthers) return answer;
      hasOthers ||= successor !== undefined;
      token = successor ?? (await unlessInterrupted(tokens.renew, call.signal));
    }
  }

  return serviceUntil(undefined, { clock, tokens, signedIn, options });
}

interface Parts {
  readonly clock: ReturnType<typeof createServiceClock>;
  readonly tokens: ReturnType<typeof createTokenKeeper>;
  readonly signedIn: (call: Call, again: (answer: Answer) => boolean) => Promise<Answer>;
  readonly options: ClientOptions;
}

function serviceUntil(signal: AbortSignal | undefined, parts: Parts): Service {
  const { clock, tokens, signedIn, options } = parts;
  const stopped = (call: Call): Call =>
    signal === undefined ? call : { ...call, signal: anyOf(call.signal, signal) };
  return {
    now: clock.now,
    confirmedNow: clock.confirmedNow,
    authenticate: () => unlessInterrupted(tokens.renew, signal),
    accountId: () => unlessInterrupted(tokens.accountId, signal),
    async call(given, read) {
      const call = stopped(given);
      const answer = await signedIn(call, worthAnother(call));
      const json = fromMaker(answer.json, options.maker);
      return valueOf(
        { ...answer, json },
        call,
        (value) => read(value, (words) => options.onUnrecognized?.(withoutTokens(words))),
        clock.now(),
      );
    },
    async raw(call, retry) {
      return (await signedIn(stopped(call), (answer) => retry && isTemporary(answer))).response;
    },
    until: (another) => serviceUntil(anyOf(signal, another), parts),
  };
}

/** Most token changes during one request. */
const mostSuccessors = 4;
/** Time in which another process signs in and uses its token. */
const othersTakeMs = 800;

/** Separates a slow network, a slow handshake and a slow service. */
function timingText(timing: Timing | undefined): string {
  if (timing === undefined) return '';
  const { connect, tls, firstByte, total } = timing;
  const parts = Object.entries({ connect, TLS: tls, 'first byte': firstByte, total });
  return ` (${parts.flatMap(([name, ms]) => (ms === undefined ? [] : `${name} ${ms.toFixed(0)}`)).join(', ')})`;
}

function httpRequest(call: SignedCall, options: ClientOptions, timeoutMs: number): HttpRequest {
  const { method, path, query = [], body } = call;
  const headers: Record<string, string> = { accept: 'application/json', ...call.headers };
  if (options.userAgent !== undefined) headers['user-agent'] = options.userAgent;
  if (body !== undefined || method === 'PUT') headers['content-type'] = 'application/json';
  const search = query.length === 0 ? '' : `?${new URLSearchParams([...query])}`;
  return {
    method,
    url: options.baseUrl + path + search,
    headers,
    body,
    signal: signalOf(call, options),
    timeoutMs,
  };
}

/** A confirmation that a gateway refuses may have reached the service, so only the service's own refusal counts. */
const isTokenRefused = (answer: Answer, { effect }: Expectation): boolean =>
  effect === 'payment'
    ? serviceError(answer, 0).isOwnRefusal && refusesToken(answer)
    : refusesToken(answer);

/** By status, or by the code of an expired token. */
const refusesToken = (answer: Answer): boolean => {
  const { status } = answer.response;
  return (
    status === 401 ||
    (codeOf(answer) === '1003' && ((status >= 400 && status < 500) || reportsError(answer)))
  );
};

const isTemporary = ({ response: { status } }: Answer): boolean => status === 429 || status >= 500;

const worthAnother =
  (expectation: Expectation) =>
  (answer: Answer): boolean =>
    isTemporary(answer) || (isSuccess(answer.response) && !isReadable(answer, expectation));

function signInAdvice({ response: { status, body } }: Answer): Advice {
  if (status === 401 && isRepeated.test(body.slice(0, 4_000))) {
    return { hint: 'The signature was used before; each request needs a new one.' };
  }
  if (status === 401 || status === 403) {
    return {
      hint: 'Check the API key and the API secret, then sign in again',
      next: { do: 'sign-in' },
    };
  }
  return status === 404 || status === 405
    ? { hint: 'There is no sign-in at this address: check the base URL.' }
    : {};
}

/** Texts of services for a used signature. */
const isRepeated =
  /signature[^"]*(?:used|repeat|replay|seen|again)|(?:reused|repeated|replayed)[^"]*signature/i;

/** The signals of the request and of the client, combined. */
const signalOf = ({ signal }: Expectation, options: ClientOptions): AbortSignal | undefined =>
  anyOf(signal, options.signal);

const anyOf = (
  one: AbortSignal | undefined,
  other: AbortSignal | undefined,
): AbortSignal | undefined =>
  one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);

function noAnswer(error: NetworkError, expectation: Expectation, options: ClientOptions): NoAnswer {
  const { effect, txnId } = expectation;
  const mayHaveArrived = effect !== 'read' && error.requestSent;
  const interrupted = signalOf(expectation, options)?.aborted === true;
  const message = interrupted
    ? 'Interrupted.'
    : `No answer from ${options.baseUrl}: ${error.message}.`;
  if (mayHaveArrived && effect === 'payment')
    return unknownOutcome(message, { effect, txnId }, { cause: error });
  return new NoAnswer(interrupted ? 'interrupted' : 'temporary', message, {
    mayHaveArrived,
    txnId,
    hint: interrupted ? undefined : 'Check the network and the base URL, then try again.',
    cause: error,
  });
}
