// Simulates the network to the service, which randomly loses, delays, duplicates, reorders or
// damages requests and responses.
import { tokenPath } from '../../src/api/auth.js';
import { NetworkError, type HttpResponse, type Transport } from '../../src/api/errors.js';
import type { Model } from './service-model.js';
import type { Chance, World } from './world.js';

/** The probability of each fault, per request. */
export interface Weather {
  refused: number;
  requestLost: number;
  answerLost: number;
  doubled: number;
  /** The request may arrive long after its sender's timeout. */
  late: number;
  /** The service executes the request, but the response is 500, HTML or cut in half. */
  spoilt: number;
  /** The service answers 429 or 503 without executing the request. */
  busy: number;
  /** A gateway answers with a 4xx, while the service executes the request now, later or never. */
  gateway: number;
}

export const calm: Readonly<Weather> = {
  refused: 0,
  requestLost: 0,
  answerLost: 0,
  doubled: 0,
  late: 0,
  spoilt: 0,
  busy: 0,
  gateway: 0,
};

/**
 * The simulated Ctrl-C that one process receives. The listeners are a plain set, because listeners
 * of an `AbortSignal` would cost more time than the rest of a schedule.
 */
export interface Interruption {
  readonly signal: AbortSignal;
  readonly listeners: Set<() => void>;
}

export const origin = 'https://pay.example';
const usualMs = 200;
const longestDelayMs = 20_000;
const resetAfterMs = 50;

/**
 * @param weatherFor returns the probability of each fault; called for each request, because the
 * faults stop later.
 */
export function createNetwork(
  world: World,
  model: Model,
  weatherFor: (what: string) => Readonly<Weather>,
) {
  const { chance } = world;

  return (sender: string, timeoutMs: number, interruption: Interruption): Transport =>
    (request) =>
      new Promise((resolve, reject) => {
        const [path = ''] = request.url.slice(origin.length).split('?', 1);
        // Requests for rates get no faults, because the audit of a schedule assumes that each
        // signed-in process has read the rates.
        const now = path.endsWith('/rate') ? calm : weatherFor(`${request.method} ${path}`);
        const what = `${sender} ${request.method} ${path}`;
        // Records a process that got no token, because such a process cannot read the rates.
        const lacksAnswer = (): void => void (path === tokenPath && model.signedOut.add(sender));
        const sent = { by: sender, at: world.now() };
        let isOver = false;
        const finish = (settle: () => void): void => {
          if (isOver) return;
          isOver = true;
          stopTimer();
          interruption.listeners.delete(interrupt);
          settle();
        };
        const fail = (message: string, requestSent: boolean): void =>
          finish(() => {
            lacksAnswer();
            reject(new NetworkError(message, { requestSent }));
          });
        const limit = Math.min(timeoutMs, request.timeoutMs ?? timeoutMs);
        const stopTimer = world.after(limit, () => fail('nothing came', true));
        const interrupt = (): void => fail('interrupted', true);

        // With a 429 the service promises that it did not execute the request, so every duplicate
        // of the request must also get the 429.
        const turnedAway = chance.hits(now.busy)
          ? busy(chance.hits(0.5), chance.hits(0.2) ? 45 : 2)
          : undefined;
        const deliver = (delay: number, isAnswerLost: boolean): void => {
          world.after(delay, () => {
            const answer = turnedAway ?? model.answer(request, sent);
            world.note(
              () =>
                `${what} -> ${answer.status} ${answer.body.slice(0, 120)}${isAnswerLost ? ' (lost)' : ''}`,
            );
            const seen = chance.hits(now.spoilt) ? spoilt(answer, chance) : answer;
            if (seen !== answer || turnedAway !== undefined) lacksAnswer();
            if (!isAnswerLost)
              world.after(chance.below(usualMs), () => finish(() => resolve(seen)));
            else if (chance.hits(0.5))
              world.after(resetAfterMs, () => fail('the connection closed', true));
          });
        };

        if (interruption.signal.aborted) return fail('interrupted', false);
        interruption.listeners.add(interrupt);
        if (chance.hits(now.refused))
          return void world.after(1, () => fail('the connection was refused', false));
        model.sent(request, sender);
        if (chance.hits(now.requestLost)) return void world.note(() => `${what} is lost`);
        if (chance.hits(now.gateway)) {
          lacksAnswer();
          const answer = gatewayAnswer(chance);
          world.after(chance.below(usualMs), () => finish(() => resolve(answer)));
          world.note(() => `${what} meets a gateway: ${answer.status}`);
          if (chance.hits(0.6))
            deliver(chance.below(chance.pick([50, usualMs, longestDelayMs])), true);
          return;
        }
        const delay = chance.below(chance.hits(now.late) ? longestDelayMs : usualMs);
        deliver(delay, chance.hits(now.answerLost));
        if (chance.hits(now.doubled)) deliver(chance.below(longestDelayMs), chance.hits(0.5));
      });
}

/** @param seconds the value of Retry-After, which may exceed the longest time that svcpay waits */
const busy = (isLimited: boolean, seconds: number): HttpResponse =>
  isLimited
    ? {
        status: 429,
        headers: { 'retry-after': `${seconds}` },
        body: '{"error":"too many requests"}',
      }
    : { status: 503, headers: {}, body: '<html>unavailable</html>' };

function spoilt(answer: HttpResponse, chance: Chance): HttpResponse {
  const how = chance.below(3);
  if (how === 0) return { status: 500, headers: {}, body: '{"error":"internal"}' };
  if (how === 1) return { ...answer, body: '<!doctype html><title>Gateway</title>' };
  return { ...answer, body: answer.body.slice(0, answer.body.length / 2) };
}

const page = '<!doctype html><title>Gateway</title>';

/** Returns a gateway's response, which does not show whether the service executed the request. */
function gatewayAnswer(chance: Chance): HttpResponse {
  const [status, body] = chance.pick<readonly [number, string]>([
    [408, page],
    [409, '{"error":"conflict"}'],
    [423, '{"error":"locked"}'],
    [425, '{"error":"too early"}'],
    [499, ''],
    [400, page],
    [401, page],
    [403, page],
    [404, page],
    [404, ''],
    [429, ''],
    [429, page],
  ]);
  return {
    status,
    headers: { 'content-type': body.startsWith('{') ? 'application/json' : 'text/html' },
    body,
  };
}

export type Network = ReturnType<typeof createNetwork>;
