// A proxy between svcpay and the sandbox that injects faults on demand, before or after the service
// has acted.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Sandbox } from '../../src/sandbox/server.js';

/** The kinds of request in a payment, in the order in which svcpay sends them. */
export type Exchange = 'sign-in' | 'list' | 'wallets' | 'create request' | 'confirmation' | 'read';

export type Fault =
  /** The proxy closes the connection before the request reaches the service. */
  | 'dropped before'
  /** The proxy closes the connection after the service has acted, without a response. */
  | 'dropped after'
  | '500 before'
  | '500 after'
  /**
   * The proxy answers 429 with a Retry-After of one second, and the service never gets the request.
   */
  | '429'
  /** The proxy replaces the response with the HTML page of a gateway. */
  | 'html after'
  | 'truncated after'
  /**
   * The proxy never answers. With `silence after`, the service has acted; with `silence before`,
   * the service never gets the request.
   */
  | 'silence before'
  | 'silence after'
  /** The token is no longer valid when the request arrives. */
  | 'token expired'
  /** The response reports an expired token, although the service has acted. */
  | '401 after'
  /** The response is valid JSON without any field. */
  | 'empty object after'
  /** A field of the response is nested more deeply than the call stack allows. */
  | 'deep after'
  /** The response has the id of another transaction. */
  | 'another transaction';

export interface FaultyProxy extends Pick<Sandbox, 'url' | 'apiKey' | 'apiSecret'> {
  /** Injects a fault into the next `times` requests of this kind. */
  break(exchange: Exchange, fault: Fault, times?: number): void;
  /**
   * Holds the next request of this kind (`before`) or the response to the request (`after`), and
   * resolves when the proxy holds it.
   */
  hold(exchange: Exchange, when: 'before' | 'after'): Promise<Held>;
  /**
   * For the next `times` requests, runs an action after the service has answered and before the
   * proxy returns the response.
   */
  afterwards(exchange: Exchange, action: () => Promise<void>, times?: number): void;
  /** Removes every fault and every hold that still waits for a request. */
  mend(): void;
  stop(): Promise<void>;
}

export interface Held {
  /** Forwards the held request or response, even if the client has disconnected. */
  release(): Promise<void>;
}

interface Rule {
  readonly exchange: Exchange;
  readonly fault: Fault;
  left: number;
}

interface Trap {
  readonly exchange: Exchange;
  readonly when: 'before' | 'after';
  readonly caught: (held: Held) => void;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export async function startFaultyProxy(
  sandbox: Pick<Sandbox, 'url' | 'apiKey' | 'apiSecret'>,
): Promise<FaultyProxy> {
  let rules: Rule[] = [];
  let traps: Trap[] = [];
  const actions: { exchange: Exchange; action: () => Promise<void>; left: number }[] = [];

  const take = <T extends { readonly exchange: Exchange }>(
    list: T[],
    wanted: (each: T) => boolean,
  ): T | undefined => {
    const index = list.findIndex(wanted);
    return index < 0 ? undefined : list.splice(index, 1)[0];
  };
  const faultFor = (exchange: Exchange): Fault | undefined => {
    const rule = rules.find((each) => each.exchange === exchange && each.left > 0);
    if (rule !== undefined) rule.left -= 1;
    return rule?.fault;
  };
  const trapped = async (exchange: Exchange, when: Trap['when']): Promise<() => void> => {
    const trap = take(traps, (each) => each.exchange === exchange && each.when === when);
    if (trap === undefined) return () => undefined;
    return new Promise((goOn) => {
      trap.caught({ release: () => new Promise((passed) => goOn(passed)) });
    });
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    const exchange = exchangeOf(request.method ?? '', request.url ?? '');
    const fault = faultFor(exchange);
    const early = fault === undefined ? undefined : answerBefore(fault);
    if (early !== undefined) return early === 'none' ? undefined : reply(response, early);
    const passedBefore = await trapped(exchange, 'before');
    const answer = await forward(sandbox.url, request, body, fault === 'token expired');
    passedBefore();
    for (const each of actions) {
      if (each.exchange !== exchange || each.left <= 0) continue;
      each.left -= 1;
      await each.action();
    }
    const passedAfter = await trapped(exchange, 'after');
    reply(response, fault === undefined ? answer : answerAfter(fault, answer));
    passedAfter();
  };

  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    apiKey: sandbox.apiKey,
    apiSecret: sandbox.apiSecret,
    break: (exchange, fault, times = 1) => void rules.push({ exchange, fault, left: times }),
    hold: (exchange, when) => new Promise((caught) => traps.push({ exchange, when, caught })),
    afterwards: (exchange, action, times = 1) =>
      void actions.push({ exchange, action, left: times }),
    mend: () => {
      rules = [];
      traps = [];
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function exchangeOf(method: string, url: string): Exchange {
  const [path = ''] = url.split('?', 1);
  if (path.endsWith('/token-signature')) return 'sign-in';
  if (path.endsWith('/wallet/')) return 'wallets';
  if (path.endsWith('/confirm')) return 'confirmation';
  if (/\/transaction\/?$/.test(path)) return method === 'POST' ? 'create request' : 'list';
  return 'read';
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

async function forward(
  base: string,
  request: IncomingMessage,
  body: string,
  spoilToken: boolean,
): Promise<Answer> {
  const headers: Record<string, string> = {};
  for (const name of ['authorization', 'content-type', 'x-api-key', 'x-api-signature']) {
    const value = request.headers[name];
    if (typeof value === 'string')
      headers[name] = name === 'authorization' && spoilToken ? `${value}x` : value;
  }
  const method = request.method ?? 'GET';
  const response = await fetch(base + (request.url ?? ''), {
    method,
    headers,
    ...(body !== '' && { body }),
  });
  const passed = ['content-type', 'date', 'retry-after'].flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    status: response.status,
    headers: Object.fromEntries(passed),
    body: await response.text(),
  };
}

type Broken = Answer | 'drop' | 'none';

/**
 * Returns the proxy's own response if the fault keeps the request from the service, or undefined if
 * the proxy forwards the request.
 */
function answerBefore(fault: Fault): Broken | undefined {
  if (fault === 'dropped before') return 'drop';
  if (fault === 'silence before') return 'none';
  if (fault === '500 before') return { status: 500, headers: {}, body: '{"error":"internal"}' };
  if (fault === '429')
    return { status: 429, headers: { 'retry-after': '1' }, body: '{"error":"too many requests"}' };
  return undefined;
}

function answerAfter(fault: Fault, answer: Answer): Broken {
  if (fault === 'dropped after') return 'drop';
  if (fault === 'silence after') return 'none';
  if (fault === '500 after') return { status: 500, headers: {}, body: '{"error":"internal"}' };
  if (fault === '401 after')
    return { ...answer, status: 401, body: '{"error":"invalid token or token expired"}' };
  if (fault === 'empty object after') return { ...answer, body: '{}' };
  if (fault === 'html after') {
    return {
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<!doctype html><h1>Gateway</h1>',
    };
  }
  if (fault === 'truncated after')
    return { ...answer, body: answer.body.slice(0, answer.body.length / 2) };
  if (fault === 'deep after')
    return { ...answer, body: answer.body.replace(/^\{/, `{"deep":${nested(20_000)},`) };
  if (fault === 'another transaction') {
    return {
      ...answer,
      body: answer.body.replace(
        /"txnId":"[^"]*"/,
        '"txnId":"00000000-0000-4000-8000-000000000000"',
      ),
    };
  }
  return answer;
}

const nested = (levels: number): string => '{"a":['.repeat(levels) + ']}'.repeat(levels);

function reply(response: ServerResponse, answer: Broken): void {
  if (answer === 'none') return;
  if (answer === 'drop') return void response.destroy();
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
}
