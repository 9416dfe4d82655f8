// The one way to the service: sign-in, headers, retries, its clock and the debug log; every request passes here.
import type { GenericSchema } from 'valibot';
import { isReadable, isSuccess, readAnswer, serviceError, valueOf } from './answer.js';
import type { Answer, Expectation } from './answer.js';
import { createBodies, createTokenKeeper, signature, tokenPath, tokenSchema } from './auth.js';
import { NoAnswer } from './errors.js';
import { fromMaker } from './maker.js';
import type { ClientOptions } from './options.js';
import { retryAfterMs, withRetries } from './retry.js';
import type { Again } from './retry.js';
import { createServiceClock } from './service-clock.js';
import { NetworkError } from './transport.js';
import type { HttpRequest, HttpResponse } from './transport.js';
import type { Token } from './types.js';

/** A request before it is signed in. The path begins with `/`, ids in it are encoded. */
export interface Call extends Expectation {
  method: string;
  path: string;
  query?: readonly [string, string][] | undefined;
  /** JSON text. */
  body?: string | undefined;
}

export interface Service {
  /** The service's clock, epoch ms. */
  now(): number;
  authenticate(): Promise<Token>;
  /** The account that the token speaks for. */
  accountId(): Promise<string>;
  /** The checked value of the answer. */
  call<T>(call: Call, schema: GenericSchema<unknown, T>): Promise<T>;
  /** The answer as it came, whatever its status. */
  raw(call: Call, retry: boolean): Promise<HttpResponse>;
}

const loginHint = 'Check the API key and the API secret, then sign in again: svcpay login';

export function createService(options: ClientOptions): Service {
  const clock = createServiceClock(options.clock);
  const nextBody = createBodies(clock.now, options.random);
  const tokens = createTokenKeeper(options.tokens, signIn, clock.now);

  /** One exchange over the wire. The log line is made here alone, of nothing that could be secret. */
  async function exchange(call: Call, extra: Record<string, string>, timeoutMs: number): Promise<Answer> {
    const sentAt = options.clock();
    const logged = (outcome: string): void =>
      options.log?.(`${call.method} ${call.path} ${outcome} ${options.clock() - sentAt} ms`);
    try {
      const response = await options.transport(httpRequest(call, extra, timeoutMs));
      clock.observe(response.headers['date'], sentAt);
      logged(`${response.status}`);
      return readAnswer(response);
    } catch (error) {
      logged(error instanceof NetworkError ? (error.code ?? error.message) : 'failed');
      throw error;
    }
  }

  function httpRequest(call: Call, extra: Record<string, string>, timeoutMs: number): HttpRequest {
    const query = call.query === undefined || call.query.length === 0 ? '' : `?${new URLSearchParams([...call.query])}`;
    const headers: Record<string, string> = { accept: 'application/json', ...extra };
    if (options.userAgent !== undefined) headers['user-agent'] = options.userAgent;
    if (call.body !== undefined || call.method === 'PUT') headers['content-type'] = 'application/json';
    const { body, method } = call;
    return { method, url: options.baseUrl + call.path + query, headers, body, signal: options.signal, timeoutMs };
  }

  /** Attempts of one request: `prepare` makes each of them, `again` says which answers call for another one. */
  async function attempts(
    call: Call,
    prepare: () => { call: Call; headers: Record<string, string> },
    again: (answer: Answer) => boolean,
  ): Promise<Answer> {
    const attempt = (timeoutMs: number): Promise<Answer> => {
      const prepared = prepare();
      return exchange(prepared.call, prepared.headers, timeoutMs);
    };
    const reason = (outcome: { value: Answer } | { error: unknown }): Again | undefined => {
      if (call.effect !== 'read') return undefined;
      if ('error' in outcome) return outcome.error instanceof NetworkError ? {} : undefined;
      const { response } = outcome.value;
      return again(outcome.value) ? { retryAfterMs: retryAfterMs(response.headers['retry-after'], clock.now()) } : undefined;
    };
    try {
      return await withRetries(options, attempt, reason);
    } catch (error) {
      throw error instanceof NetworkError ? noAnswer(error, call) : error;
    }
  }

  function noAnswer(error: NetworkError, { effect, txnId }: Expectation): NoAnswer {
    const mayHaveArrived = effect !== 'read' && error.requestSent;
    const unknown = mayHaveArrived && effect === 'payment';
    const stopped = options.signal?.aborted === true;
    const kind = unknown ? 'pending' : stopped ? 'interrupted' : 'temporary';
    const message = stopped ? 'Interrupted.' : `No answer from ${options.baseUrl}: ${error.message}.`;
    const resume = txnId === undefined ? undefined : `svcpay tx resume ${txnId}`;
    const hint = unknown ? resume : stopped ? undefined : 'Check the network and the base URL, then try again.';
    return new NoAnswer(kind, message, { mayHaveArrived, txnId, hint, cause: error });
  }

  /** A token request moves nothing, so it is repeated like a read, each time with a signature of its own. */
  async function signIn(): Promise<Token> {
    const call: Call = { method: 'POST', path: tokenPath, effect: 'read' };
    const prepare = () => {
      const body = nextBody();
      const headers = {
        'x-api-key': options.credentials.apiKey,
        'x-api-signature': signature(options.credentials, body),
      };
      return { call: { ...call, body }, headers };
    };
    const answer = await attempts(call, prepare, (each) => isTemporary(each) || isUnreadable(each, call));
    if (answer.response.status === 401) {
      await options.tokens.clear();
      throw serviceError(answer, clock.now(), loginHint);
    }
    const token = valueOf(answer, call, tokenSchema, clock.now());
    await options.tokens.save(token).catch(() => options.log?.('the token could not be kept'));
    return token;
  }

  /** A request with the token; after a 401 once more with a new one, since a refused request has changed nothing. */
  async function signedIn(call: Call, again: (answer: Answer) => boolean): Promise<Answer> {
    const attempt = ({ accessToken }: Token): Promise<Answer> =>
      attempts(call, () => ({ call, headers: { authorization: `Bearer ${accessToken}` } }), again);
    const token = await tokens.current();
    const answer = await attempt(token);
    return answer.response.status === 401 ? attempt(await tokens.replace(token)) : answer;
  }

  return {
    now: clock.now,
    authenticate: tokens.renew,
    accountId: async () => (await tokens.current()).accountId,
    async call(call, schema) {
      const answer = await signedIn(call, (each) => isTemporary(each) || isUnreadable(each, call));
      return valueOf({ ...answer, json: fromMaker(answer.json, options.maker) }, call, schema, clock.now());
    },
    async raw(call, retry) {
      return (await signedIn(call, (answer) => retry && isTemporary(answer))).response;
    },
  };
}

const isTemporary = ({ response: { status } }: Answer): boolean => status === 429 || status >= 500;

const isUnreadable = (answer: Answer, call: Call): boolean => isSuccess(answer.response) && !isReadable(answer, call);
