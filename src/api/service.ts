// Sends every request of a client through the same steps: authorize, retry, and one exchange with
// the service.
import {
  factsOf,
  isSuccess,
  readAnswer,
  reportsError,
  unknownOutcome,
  valueOf,
  type Call,
  type CallLimits,
  type Send,
  type Step,
  isReadable,
  resetMs,
  waitAskedFor,
  type Answer,
} from './answer.js';
import { authorize, checkKey, createTokenKeeper, requestToken, sign, tokenPath } from './auth.js';
import { fromWireNames } from './wire.js';
import type { ClientOptions, LogFacts, Token } from './types.js';
import { createRedactor, withoutTokens } from './redact.js';
import { type AnswerReader, decimal } from './reading.js';
import { interrupted, unlessInterrupted, throwIfInterrupted } from './timers.js';
import { NetworkError, type HttpResponse, type Timing, NoAnswer } from './errors.js';
import { policies, pauseAfter, poll, type PollNext } from '../formats/poll.js';

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
  const exchange = createExchange(options, clock, rateLimit);
  const repeated = retry(options, rateLimit, clock.now);
  const signed = repeated(sign(options, clock.now)(exchange));
  const signIn = () => requestToken(signed, options.signal, clock.now);
  const tokens = createTokenKeeper(options, signIn, clock.now);
  const request = authorize(tokens, options)(repeated(exchange));

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

const anyOf = (
  one: AbortSignal | undefined,
  other: AbortSignal | undefined,
): AbortSignal | undefined =>
  one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);

/**
 * Returns the function that sends a request once. It logs the exchange without secrets, reads the
 * service's clock and rate limit from the response, and removes secrets from the response, because
 * messages quote responses. Rejects with {@link NetworkError} if the response is missing or
 * incomplete.
 */
function createExchange(
  { baseUrl, userAgent, transport, credentials, clock, log, onFacts }: ClientOptions,
  serviceClock: ServiceClock,
  rateLimit: RateLimit,
): Send {
  const redactor = createRedactor(credentials.apiSecret);
  return async ({ method, path, query = [], body, headers: own = {}, signal, timeoutMs }) => {
    const headers: Record<string, string> = { accept: 'application/json', ...own };
    if (userAgent !== undefined) headers['user-agent'] = userAgent;
    if (body !== undefined || method === 'PUT') headers['content-type'] = 'application/json';
    const search = query.length === 0 ? '' : `?${new URLSearchParams([...query])}`;
    const url = baseUrl + path + search;
    redactor.note(own, body);
    const sentAt = clock();
    const write = (outcome: string, facts: LogFacts = {}, timing = ''): void => {
      const what = `${method} ${path.split('?', 1)[0]} ${outcome}`;
      log?.(`${what} ${clock() - sentAt} ms${timing}`, facts);
    };
    let response: HttpResponse;
    try {
      response = await transport({ method, url, headers, body, signal, timeoutMs });
    } catch (error) {
      rateLimit.observe({ status: 0, headers: {} }, serviceClock.now());
      write(error instanceof NetworkError ? (error.code ?? error.message) : 'failed');
      throw error;
    }
    serviceClock.observe(response.headers['date'], sentAt);
    rateLimit.observe(response, serviceClock.now());
    const received = readAnswer(response);
    const isData = isSuccess(response) && received.content === 'json' && !reportsError(received);
    const shown = isData ? redactor.data(response, path === tokenPath) : redactor.error(response);
    const answer =
      shown.body === response.body ? { ...received, response: shown } : readAnswer(shown);
    const facts = factsOf(answer);
    onFacts?.(facts);
    write(`${response.status}`, facts, timingText(response.timing));
    return answer;
  };
}

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

/** The failure of a call whose exchange failed. */
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

type Outcome = { readonly answer: Answer } | { readonly error: unknown };

/**
 * Repeats a read after a lost exchange or a temporary failure. Repeats a change of settings only if
 * the service had most likely closed the connection before the request arrived. Rate limits delay
 * every request except a confirmation. The outcome of the request is the outcome of its last
 * attempt, as a failure of the call.
 * @param now the service's clock
 */
export const retry =
  (options: ClientOptions, rateLimit: RateLimit, now: () => number): Step =>
  (next) =>
  async (call) => {
    const { signal } = call;
    throwIfInterrupted(signal);
    const budget = openBudget(options, call.limits);
    const hold = (): number | undefined => {
      if (call.effect !== 'payment') return budget.holdFor(rateLimit.before(now()));
      rateLimit.sent();
      return undefined;
    };
    const attempt = async (): Promise<PollNext<Outcome>> => {
      const holdMs = hold();
      if (holdMs !== undefined) return { afterMs: holdMs };
      const outcome = await outcomeOf(next({ ...call, timeoutMs: budget.leftMs() }));
      const reason = signal?.aborted === true ? undefined : reasonToRepeat(outcome, call, now());
      const pauseMs = reason && budget.pauseFor(reason);
      return pauseMs === undefined ? { done: outcome } : { afterMs: pauseMs };
    };
    const { pauses } = policies.read;
    const { clock, sleep } = options;
    const end = await poll({ pauses }, attempt, { now: clock, sleep, signal });
    if (!('done' in end)) throw interrupted(signal);
    if ('answer' in end.done) return end.done.answer;
    const { error } = end.done;
    throw error instanceof NetworkError ? noAnswer(error, call, options.baseUrl) : error;
  };

const outcomeOf = (answer: Promise<Answer>): Promise<Outcome> =>
  answer.then(
    (given) => ({ answer: given }),
    (error: unknown) => ({ error }),
  );

interface Reason {
  /** The wait in ms that the service requests before a repetition. */
  readonly waitMs?: number | undefined;
  /** Whether the failure is a rate limit, which justifies a longer wait than other failures. */
  readonly isLimited?: boolean | undefined;
}

function reasonToRepeat(outcome: Outcome, call: Call, now: number): Reason | undefined {
  const { effect } = call;
  if ('error' in outcome) {
    const { error } = outcome;
    const isHarmless =
      error instanceof NetworkError &&
      (effect === 'read' || (effect === 'setting' && error.wasClosed));
    return isHarmless ? {} : undefined;
  }
  if (effect !== 'read' || !isWorthRepeating(outcome.answer, call)) return undefined;
  const { response } = outcome.answer;
  return { waitMs: waitAskedFor(response, now), isLimited: response.status === 429 };
}

function isWorthRepeating(answer: Answer, call: Call): boolean {
  const { repeatAfter } = call;
  const { status } = answer.response;
  if (repeatAfter === 'nothing') return false;
  if (status === 429 || status >= 500) return true;
  return repeatAfter === undefined && isSuccess(answer.response) && !isReadable(answer, call);
}

/**
 * Limits the time and the number of attempts of one request. A wait of more than `recheckMs` for a
 * rate limit extends the request's time limit. Every wait for a rate limit must end at most
 * `rateLimitWaitMs` after the start of the request.
 */
function openBudget(options: ClientOptions, limits: CallLimits = {}) {
  const { clock, random, onWait } = options;
  const timeoutMs = limits.timeoutMs ?? options.timeoutMs;
  const rateLimitWaitMs = limits.timeoutMs ?? options.rateLimitWaitMs ?? timeoutMs;
  const most = limits.retries ?? options.retries ?? policies.read.turns - 1;
  const lastWaitEnds = clock() + rateLimitWaitMs;
  let deadline = clock() + timeoutMs;
  let [retries, waits] = [0, 0];
  const wait = (ms: number): number => {
    deadline += ms;
    onWait?.(ms);
    return ms;
  };
  return {
    leftMs: () => Math.min(timeoutMs, Math.max(1, deadline - clock())),
    /**
     * Returns the wait in ms for a rate limit before an attempt, or undefined if the attempt starts
     * at once. The attempt also starts at once if the wait would end too late, and the service may
     * then refuse the attempt.
     */
    holdFor(limitedMs: number): number | undefined {
      if (limitedMs === 0 || clock() + limitedMs > lastWaitEnds) return undefined;
      return limitedMs > recheckMs ? wait(limitedMs) : limitedMs;
    },
    /**
     * Returns the pause in ms before a further attempt, or undefined if the request may have no
     * further attempt.
     */
    pauseFor({ waitMs, isLimited }: Reason): number | undefined {
      const isWait = waitMs !== undefined || isLimited === true;
      const turn = { number: retries + waits + 1, waitedMs: 0 };
      // If the service requests no wait or a wait of zero, svcpay waits for its own back-off time.
      const ms = waitMs || (pauseAfter(policies.read, turn, random()) ?? 0);
      const end = clock() + ms;
      const isSpent = isWait
        ? waits >= policies.limitedRead.turns - 1 || end > lastWaitEnds
        : retries >= most || end >= deadline;
      if (isSpent) return undefined;
      if (isWait) waits += 1;
      else retries += 1;
      options.log?.(`retry ${isWait ? waits : `${retries} of ${most}`} in ${ms} ms`);
      return isWait ? wait(ms) : ms;
    },
  };
}

/**
 * The interval in ms at which waiting requests check whether the first request after a reset of the
 * rate limit has a response.
 */
const recheckMs = 100;

export type RateLimit = ReturnType<typeof trackRateLimit>;

/**
 * Delays requests only while the rate limit of the service is used up. A request in flight already
 * counts towards the limit. After a reset of the rate limit, svcpay sends one request, and all
 * other requests wait for its response.
 */
export function trackRateLimit() {
  let left = Infinity;
  let resetAt = 0;
  let underway = 0;
  let closedUntil = 0;
  function sent(): void {
    left -= 1;
    underway += 1;
  }
  return {
    /** Returns the wait in ms before the next request, or 0 to send the next request now. */
    before(now: number): number {
      const untilCounted = underway > 0 ? Math.max(resetAt - now, recheckMs) : resetAt - now;
      const ms = Math.max(0, closedUntil - now, left > 0 ? 0 : untilCounted);
      if (ms === 0) sent();
      return ms;
    },
    sent,
    /**
     * Reads the rate limit from the headers of a response. The wait in a 429 response delays all
     * further requests.
     */
    observe({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, now: number): void {
      underway = Math.max(0, underway - 1);
      if (status === 429)
        closedUntil = Math.max(closedUntil, now + (waitAskedFor({ status, headers }, now) ?? 0));
      const remaining = decimal.read(
        headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'],
      );
      const reset = resetMs(headers, now);
      if (typeof remaining !== 'number' || reset === undefined) {
        left = Infinity;
        return;
      }
      left = remaining - underway;
      resetAt = now + reset;
    },
  };
}
