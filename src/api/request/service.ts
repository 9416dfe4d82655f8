// Sends every request of a client through the same steps: authorize, explain, retry, log, observe,
// redact, send.
import { valueOf } from '../answer.js';
import { authorize, checkKey, createTokenKeeper, requestToken, sign } from './auth.js';
import type { Call, CallLimits, Send, Step } from './call.js';
import { fromMaker } from '../maker.js';
import type { ClientOptions } from '../options.js';
import { trackRateLimit } from './rate-limit.js';
import { withoutTokens } from '../redact.js';
import type { AnswerReader } from '../reading/readers.js';
import { retry, unlessInterrupted } from './retry.js';
import { createServiceClock, explain, log, observe, redact, send } from './send.js';
import type { HttpResponse } from '../transport.js';
import type { Token } from '../types.js';

/** Terms of single calls, which replace the client's terms. */
export interface CallTerms extends CallLimits {
  readonly signal?: AbortSignal | undefined;
  /** Called with each response. */
  readonly observe?: ((response: HttpResponse) => void) | undefined;
}

export interface Service {
  now(): number;
  datedNow(): number | undefined;
  authenticate(): Promise<Token>;
  accountId(): Promise<string>;
  /** Sends a request, and returns what the reader reads from the response. */
  call<T>(call: Call, read: AnswerReader<T>): Promise<T>;
  /** Sends a request, and returns the unchanged response, whatever its status. */
  raw(call: Call, retries: boolean): Promise<HttpResponse>;
  /** A service whose requests also stop at this signal, and keep to these limits. */
  within(terms: CallTerms): Service;
  /** A service whose requests stop at no signal. */
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
        const json = fromMaker(answer.json, options.maker);
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

/** The first step is the outermost. */
const through = (steps: readonly Step[], last: Send): Send =>
  steps.reduceRight((next, step) => step(next), last);

const anyOf = (
  one: AbortSignal | undefined,
  other: AbortSignal | undefined,
): AbortSignal | undefined =>
  one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);
