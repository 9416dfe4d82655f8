// One exchange: the transport sends the request, and the response is redacted, observed and logged.
// The dates of responses give the service's clock.
import { factsOf, isSuccess, readAnswer, reportsError, unknownOutcome } from '../answer.js';
import { tokenPath } from './auth.js';
import type { Call, Send, Step } from './call.js';
import { NoAnswer } from '../errors.js';
import type { ClientOptions, LogFacts } from '../options.js';
import type { RateLimit } from './rate-limit.js';
import { createRedactor } from '../redact.js';
import { NetworkError, type Timing } from '../transport.js';

/** The last step. Rejects with {@link NetworkError} if the response is missing or incomplete. */
export const send =
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
export function redact({ credentials }: ClientOptions): Step {
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

/** Reads the service's clock and rate limit from the headers. */
export const observe =
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

/** A line per exchange, without secrets. */
export const log =
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
 * The times of an exchange, which tell a slow network, a slow handshake and a slow service apart.
 */
function timingText(timing: Timing | undefined): string {
  if (timing === undefined) return '';
  const { connect, tls, firstByte, total } = timing;
  const parts = Object.entries({ connect, TLS: tls, 'first byte': firstByte, total }).flatMap(
    ([name, ms]) => (ms === undefined ? [] : `${name} ${ms.toFixed(0)}`),
  );
  return ` (${parts.join(', ')})`;
}

/** Turns a {@link NetworkError} into a failure of this call. */
export const explain =
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
  const interrupted = signal?.aborted === true;
  const message = interrupted ? 'Interrupted.' : `No answer from ${baseUrl}: ${error.message}.`;
  if (mayHaveArrived && effect === 'payment')
    return unknownOutcome(message, { effect, txnId }, { cause: error });
  return new NoAnswer(interrupted ? 'interrupted' : 'temporary', message, {
    mayHaveArrived,
    txnId,
    hint: interrupted ? undefined : 'Check the network and the base URL, then try again.',
    cause: error,
  });
}

export type ServiceClock = ReturnType<typeof createServiceClock>;

/**
 * If the machine's clock moves further than this during a request or after it, someone set the
 * clock.
 */
const longestMoveMs = 60_000;

/**
 * A clock that starts as the machine's clock. A Date header has whole seconds and is as old as the
 * way back took, so it defines a range of times. An estimate within that range stays, so countdowns
 * do not jump with every response.
 */
export function createServiceClock(clock: () => number) {
  let offset = 0;
  let latest: { readonly at: number; readonly machine: number } | undefined;
  return {
    /** Epoch ms. */
    now: (): number => clock() + offset,
    /**
     * Epoch ms, or undefined before the first response with a date. Limits use this clock, so it
     * follows the machine's clock at most a minute beyond the last response.
     */
    datedNow: (): number | undefined =>
      latest && latest.at + Math.min(Math.max(0, clock() - latest.machine), longestMoveMs),
    /**
     * Reads the `Date` header of a response. `sentAt` is when the request left, by the machine's
     * clock.
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
