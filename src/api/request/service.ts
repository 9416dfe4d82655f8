// Sends every request of a client through the same steps: authorize, explain, retry, log, observe,
// redact and send.
import {
  factsOf,
  isSuccess,
  readAnswer,
  reportsError,
  unknownOutcome,
  valueOf,
} from '../answer.js';
import { authorize, checkKey, createTokenKeeper, requestToken, sign, tokenPath } from './auth.js';
import type { Call, CallLimits, Send, Step } from './call.js';
import { fromWireNames } from '../wire.js';
import type { ClientOptions, LogFacts } from '../options.js';
import { createRedactor, withoutTokens } from '../redact.js';
import type { AnswerReader } from '../reading/readers.js';
import { interrupted, retry, trackRateLimit, unlessInterrupted, type RateLimit } from './retry.js';
import { NetworkError, type HttpResponse, type Timing } from '../transport.js';
import type { Token } from '../types.js';
import { NoAnswer } from '../errors.js';

/** The options of single calls, which replace the client's options. */
export interface CallTerms extends CallLimits {
  readonly signal?: AbortSignal | undefined;
  /** Called with the final response of each call. */
  readonly observe?: ((response: HttpResponse) => void) | undefined;
}

export interface Service {
  now(): number;
  datedNow(): number | undefined;
  authenticate(): Promise<Token>;
  accountId(): Promise<string>;
  /** Sends a request, and returns the value that `read` reads from the response. */
  call<T>(call: Call, read: AnswerReader<T>): Promise<T>;
  /** Sends a request, and returns the unchanged response, whatever its status. */
  raw(call: Call, retries: boolean): Promise<HttpResponse>;
  /**
   * Returns a service whose requests also stop at the given signal, and keep within the given
   * limits.
   */
  within(terms: CallTerms): Service;
  /** Returns a service whose requests ignore the client's signal. */
  afterwards(): Service;
}

export function createService(options: ClientOptions): Service {
  checkKey(options.credentials);
  const clock = createServiceClock(options.clock);
  const rateLimit = trackRateLimit();
  const exchange = through(
    [log(options), observe(options, clock, rateLimit), redact(options)],
    send(options),
  );
  const repeated = [explain(options), retry(options, rateLimit, clock.now)];
  const signed = through([...repeated, sign(options, clock.now)], exchange);
  const signIn = () => requestToken(signed, options.signal, clock.now);
  const tokens = createTokenKeeper(options, signIn, clock.now);
  const request = through([authorize(tokens, options), ...repeated], exchange);

  function within(terms: CallTerms): Service {
    const { signal, observe: seen, ...limits } = terms;
    const stopped = (call: Call): Call => ({
      ...call,
      signal: anyOf(call.signal, signal),
      limits,
    });
    return {
      now: clock.now,
      datedNow: clock.datedNow,
      authenticate: () => unlessInterrupted(tokens.renew, signal),
      accountId: () => unlessInterrupted(tokens.accountId, signal),
      async call(call, read) {
        const answer = await request(stopped(call));
        seen?.(answer.response);
        const json = fromWireNames(answer.json, options.maker);
        return valueOf(
          { ...answer, json },
          call,
          (value) => read(value, (words) => options.onUnrecognized?.(withoutTokens(words))),
          clock.now(),
        );
      },
      async raw(call, retries) {
        const repeatAfter = retries ? 'failures' : 'nothing';
        return (await request(stopped({ ...call, repeatAfter }))).response;
      },
      within: (more) => within({ ...terms, ...more, signal: anyOf(signal, more.signal) }),
      afterwards: () => within({ ...terms, signal: undefined }),
    };
  }
  return within({ signal: options.signal });
}

/**
 * Returns a function that passes a request through the steps in their order, and then to `last`.
 */
const through = (steps: readonly Step[], last: Send): Send =>
  steps.reduceRight((next, step) => step(next), last);

const anyOf = (
  one: AbortSignal | undefined,
  other: AbortSignal | undefined,
): AbortSignal | undefined =>
  one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);

/**
 * Sends a request through the transport, which is the last step of every request. Rejects with
 * {@link NetworkError} if the response is missing or incomplete.
 */
const send =
  ({ baseUrl, userAgent, transport }: ClientOptions): Send =>
  async ({ method, path, query = [], body, headers: own, signal, timeoutMs }) => {
    const headers: Record<string, string> = { accept: 'application/json', ...own };
    if (userAgent !== undefined) headers['user-agent'] = userAgent;
    if (body !== undefined || method === 'PUT') headers['content-type'] = 'application/json';
    const search = query.length === 0 ? '' : `?${new URLSearchParams([...query])}`;
    const url = baseUrl + path + search;
    return readAnswer(await transport({ method, url, headers, body, signal, timeoutMs }));
  };

/** Removes secrets from a response, because messages quote responses. */
function redact({ credentials }: ClientOptions): Step {
  const redactor = createRedactor(credentials.apiSecret);
  return (next) => async (call) => {
    redactor.note(call.headers ?? {}, call.body);
    const answer = await next(call);
    const isData = isSuccess(answer.response) && answer.content === 'json' && !reportsError(answer);
    const response = isData
      ? redactor.data(answer.response, call.path === tokenPath)
      : redactor.error(answer.response);
    return response.body === answer.response.body ? { ...answer, response } : readAnswer(response);
  };
}

/** Reads the service's clock and rate limit from the headers of a response. */
const observe =
  ({ clock }: ClientOptions, serviceClock: ServiceClock, rateLimit: RateLimit): Step =>
  (next) =>
  async (call) => {
    const sentAt = clock();
    try {
      const answer = await next(call);
      serviceClock.observe(answer.response.headers['date'], sentAt);
      rateLimit.observe(answer.response, serviceClock.now());
      return answer;
    } catch (error) {
      rateLimit.observe({ status: 0, headers: {} }, serviceClock.now());
      throw error;
    }
  };

/** Logs a line for each exchange with the service, without secrets. */
const log =
  (options: ClientOptions): Step =>
  (next) =>
  async (call) => {
    const sentAt = options.clock();
    const write = (outcome: string, facts: LogFacts = {}, timing = ''): void => {
      const what = `${call.method} ${call.path.split('?', 1)[0]} ${outcome}`;
      options.log?.(`${what} ${options.clock() - sentAt} ms${timing}`, facts);
    };
    try {
      const answer = await next(call);
      const facts = factsOf(answer);
      options.onFacts?.(facts);
      write(`${answer.response.status}`, facts, timingText(answer.response.timing));
      return answer;
    } catch (error) {
      write(error instanceof NetworkError ? (error.code ?? error.message) : 'failed');
      throw error;
    }
  };

/**
 * Returns the times of an exchange as text, from which a reader can distinguish a slow network, a
 * slow handshake and a slow service.
 */
function timingText(timing: Timing | undefined): string {
  if (timing === undefined) return '';
  const { connect, tls, firstByte, total } = timing;
  const parts = Object.entries({ connect, TLS: tls, 'first byte': firstByte, total }).flatMap(
    ([name, ms]) => (ms === undefined ? [] : `${name} ${ms.toFixed(0)}`),
  );
  return ` (${parts.join(', ')})`;
}

/** Converts a {@link NetworkError} to the failure of the call. */
const explain =
  ({ baseUrl }: ClientOptions): Step =>
  (next) =>
  async (call) => {
    try {
      return await next(call);
    } catch (error) {
      throw error instanceof NetworkError ? noAnswer(error, call, baseUrl) : error;
    }
  };

function noAnswer(error: NetworkError, call: Call, baseUrl: string): NoAnswer {
  const { effect, txnId, signal } = call;
  const mayHaveArrived = effect !== 'read' && error.requestSent;
  const stopped = signal?.aborted === true ? interrupted(signal) : undefined;
  const message = stopped?.message ?? `No answer from ${baseUrl}: ${error.message}.`;
  if (mayHaveArrived && effect === 'payment')
    return unknownOutcome(message, { effect, txnId }, { cause: error });
  return new NoAnswer(stopped?.kind ?? 'temporary', message, {
    mayHaveArrived,
    txnId,
    hint: stopped ? undefined : 'Check the network and the base URL, then try again.',
    cause: error,
  });
}

type ServiceClock = ReturnType<typeof createServiceClock>;

/**
 * The longest time, in ms, that svcpay measures with the machine's clock. If the machine's clock
 * advances further during a request or after a response, svcpay counts only `longestMoveMs`,
 * because someone may have set the clock.
 */
const longestMoveMs = 60_000;

/**
 * Estimates the service's clock. Before the first response, svcpay uses the machine's clock as the
 * service's clock. A `Date` header is in whole seconds and is delayed by the transfer, so it
 * defines only a range of times. svcpay keeps its estimate of the service's clock if the estimate
 * is within the range of the latest `Date` header, so that countdowns do not jump with every
 * response.
 */
export function createServiceClock(clock: () => number) {
  let offset = 0;
  let latest: { readonly at: number; readonly machine: number } | undefined;
  return {
    /** Epoch ms. */
    now: (): number => clock() + offset,
    /**
     * The service's time in epoch ms, or undefined before the first response with a date.
     * `datedNow` advances by at most a minute after the last response, because spending limits must
     * not follow the machine's clock if someone sets it.
     */
    datedNow: (): number | undefined =>
      latest && latest.at + Math.min(Math.max(0, clock() - latest.machine), longestMoveMs),
    /**
     * Reads the `Date` header of a response. `sentAt` is the time by the machine's clock at which
     * the request left.
     */
    observe(date: string | undefined, sentAt: number): void {
      const at = Date.parse(date ?? '');
      if (Number.isNaN(at)) return;
      const received = clock();
      const onTheWay = Math.min(Math.max(0, received - sentAt), longestMoveMs);
      offset = Math.min(Math.max(offset, at - received), at + 999 + onTheWay - received);
      latest = { at: received + offset, machine: received };
    },
  };
}
