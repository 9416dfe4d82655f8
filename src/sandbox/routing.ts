// Finds the route of a request, authenticates the caller by signature or JWT, reads bodies, and
// logs requests.
import * as v from 'valibot';
import { type Account, findAccount } from './accounts.js';
import type { ReadFault } from './faults.js';
import {
  complaint,
  badRequest,
  notFound,
  readJson,
  writeJson,
  Refusal,
  unauthorized,
} from './wire.js';
import { type Context, randomHex } from './world.js';
import { maxBodyLength, durations, reusedSignature } from './unspecified.js';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { requireSetting, type Store } from './database.js';
import { requestAnswer, type LoggedRequest } from '../formats/sandbox/answers.js';

export interface Incoming {
  /** The HTTP method in capitals. */
  readonly method: string;
  /** The path and the query of the request. */
  readonly target: string;
  /** The request headers, keyed by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

export interface Outgoing {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** A note about the response for the request log. */
  readonly note?: string | undefined;
  /** The delay before the response, in milliseconds. */
  readonly delay?: number | undefined;
  /**
   * The injected failure of the connection: a cut before the response, a cut within the response,
   * or silence.
   */
  readonly connectionFault?: 'cut-before' | 'cut-within' | 'silence' | undefined;
}

/** A request with its route, and readers of its parts. */
export interface Call {
  readonly ctx: Context;
  readonly incoming: Incoming;
  readonly query: URLSearchParams;
  readonly readFault?: ReadFault | undefined;
  /** Returns a parameter of the path. */
  readonly param: (name: string) => string;
  /** Reads the JSON body, with every number as an exact decimal. */
  readonly read: <T>(shape: v.GenericSchema<unknown, T>) => T;
}

/** A call with a valid access token. */
export interface AccountCall extends Call {
  readonly account: Account;
}

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly answer: (call: Call) => Outgoing;
}

/**
 * Functions that answer calls, by method and path, such as `GET transaction/:txnId`. `:name` in a
 * path matches one segment, and a trailing slash is significant. If several routes match, the first
 * route answers.
 */
type Answers<C, A = unknown> = Readonly<Record<string, (call: C) => A>>;

function routeOf(name: string, prefix: string, answer: Route['answer']): Route {
  const [method = '', path = ''] = name.split(' ');
  return { method, path: prefix + path, answer };
}

/** Pages and other endpoints outside the specification. */
export const pages = (answers: Answers<Call, Outgoing>): Route[] =>
  Object.entries(answers).map(([name, answer]) => routeOf(name, '', answer));

/** Endpoints that answer JSON to the calls that `admit` accepts. */
const jsonEndpoints = <C>(prefix: string, answers: Answers<C>, admit: (call: Call) => C): Route[] =>
  Object.entries(answers).map(([name, answer]) =>
    routeOf(name, prefix, (call) => {
      const admitted = admit(call);
      assertContentType(call.incoming);
      return jsonAnswer(200, answer(admitted));
    }),
  );

/** Endpoints that every program may call. */
export const openEndpoints = (prefix: string, answers: Answers<Call>): Route[] =>
  jsonEndpoints(prefix, answers, (call) => call);

/** Endpoints for callers with an access token. */
export const endpointsOf = (prefix: string, answers: Answers<AccountCall>): Route[] =>
  jsonEndpoints(prefix, answers, (call) => ({
    ...call,
    account: authenticate(call.ctx, call.incoming.headers['authorization']),
  }));

/**
 * The length at which the service cuts an error message, because an error message may quote a long
 * request.
 */
const maxMessageLength = 200;

/** Returns a function that answers a request by its route, or throws a 404 if no route matches. */
export function router(routes: readonly Route[]) {
  const compiled = routes.map(({ method, path, answer }) => ({
    pattern: new RegExp(
      `^${method} ${path.replaceAll('.', '\\.').replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`,
    ),
    answer,
  }));
  return (ctx: Context, incoming: Incoming, readFault?: ReadFault): Outgoing => {
    const { method, target } = incoming;
    const [path = ''] = target.split('?', 1);
    // The sandbox answers HEAD like GET, and Node's HTTP server omits the body of the response.
    const name = `${method === 'HEAD' ? 'GET' : method} ${path}`;
    for (const { pattern, answer } of compiled) {
      const match = pattern.exec(name);
      if (match === null) continue;
      return answer({
        ctx,
        incoming,
        query: new URLSearchParams(target.slice(path.length)),
        readFault,
        param: (key) => decoded(match.groups?.[key] ?? ''),
        read: (shape) => readBody(incoming, shape),
      });
    }
    throw notFound();
  };
}

export const controlPrefix = '/_sandbox/';

export function jsonAnswer(status: number, body: unknown): Outgoing {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: writeJson(body),
  };
}

/**
 * Checks the content type of a request. POST and PUT requests must have the content type even
 * without a body.
 */
function assertContentType({ method, headers, body }: Incoming): void {
  const needed = method === 'POST' || method === 'PUT' || (method !== 'GET' && body.length > 0);
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (needed && type.trim().toLowerCase() !== 'application/json') {
    throw badRequest('Content-Type must be application/json');
  }
}

/**
 * Returns the body of a request as text. Throws a `Refusal` if the body is too long or not UTF-8.
 */
export function bodyText({ body }: Incoming): string {
  if (body.length > maxBodyLength)
    throw badRequest(`the body is longer than ${maxBodyLength} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw badRequest('the body is not UTF-8');
  }
}

function readBody<T>(incoming: Incoming, shape: v.GenericSchema<unknown, T>): T {
  const parsed = v.safeParse(shape, parseJson(bodyText(incoming)), { abortEarly: true });
  if (parsed.success) return parsed.output;
  throw badRequest(complaint(parsed.issues[0]).slice(0, maxMessageLength));
}

/** Reads a whole number above zero. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(given)) throw badRequest(`${name} must be a whole number above zero`);
  return Number(given);
}

/**
 * Reads the numeric id in the path. Returns 0 for a text that is not a valid id, because no row has
 * the id 0.
 */
export const idParam = ({ param }: Call): number =>
  /^\d{1,15}$/.test(param('id')) ? Number(param('id')) : 0;

function parseJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    throw badRequest('the body cannot be read as JSON');
  }
}

/**
 * Decodes a parameter of the path. If the parameter cannot be decoded, returns its text unchanged,
 * so that the lookup finds no record.
 */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

const keyRow = v.object({ apiSecret: v.string(), id: v.string() });
const claims = v.object({ sub: v.string(), exp: v.number() });

const jwtHeader = encodePart({ alg: 'HS256', typ: 'JWT' });

/**
 * Checks a signature over the exact body bytes and issues a token. The service accepts each
 * signature once, unless `allowSignatureReuse` is set.
 */
export function issueToken(ctx: Context, { headers }: Incoming, body: string) {
  const { 'x-api-key': apiKey, 'x-api-signature': signature } = headers;
  const account = apiKey === undefined ? apiKey : ctx.store.find(keyRow, 'account', { apiKey });
  if (signature === undefined || account === undefined)
    throw unauthorized('invalid API key or signature');
  const expected = createHmac('sha256', account.apiSecret)
    .update(`${apiKey}&payload=`)
    .update(body)
    .digest('hex');
  if (!sameText(signature, expected)) throw unauthorized('invalid api signature');
  const fresh = ctx.store.run(
    'INSERT INTO used_signature (signature) VALUES (?) ON CONFLICT DO NOTHING',
    signature,
  );
  if (fresh === 0 && !ctx.allowSignatureReuse)
    throw new Refusal(401, reusedSignature, 'repeated signature');
  return newToken(ctx, account.id);
}

function authenticate(ctx: Context, authorization: string | undefined): Account {
  const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (token === undefined) throw unauthorized();
  const claimed = readToken(ctx.store, token);
  const account =
    claimed && claimed.exp * 1000 > ctx.now ? findAccount(ctx.store, claimed.sub) : undefined;
  if (account === undefined) throw unauthorized('invalid token or token expired');
  return account;
}

function newToken(ctx: Context, accountId: string) {
  // Uses whole seconds for the time of issue and for the expiry, because JWT readers expect whole
  // seconds, and the response and the token must state the same expiry.
  const issuedAt = Math.floor(ctx.now / 1000);
  const expiredAt = issuedAt * 1000 + durations.token;
  const payload = {
    sub: accountId,
    iat: issuedAt,
    exp: expiredAt / 1000,
    jti: randomHex(ctx.random, 16),
  };
  const signed = `${jwtHeader}.${encodePart(payload)}`;
  const signature = tokenSignature(requireSetting(ctx.store, 'tokenKey'), signed);
  return { accessToken: `${signed}.${signature}`, expiredAt, accountId };
}

/** Reads the claims of a token that this service signed, even if the token has expired. */
function readToken(store: Store, token: string): v.InferOutput<typeof claims> | undefined {
  const end = token.lastIndexOf('.');
  const signed = token.slice(0, end);
  // The signature of the token covers the JWT header, so the function accepts only the header that
  // this service writes.
  if (!sameText(token.slice(end + 1), tokenSignature(requireSetting(store, 'tokenKey'), signed)))
    return undefined;
  const payload = Buffer.from(signed.split('.')[1] ?? '', 'base64url').toString();
  return v.parse(claims, JSON.parse(payload));
}

function tokenSignature(key: string, signed: string): string {
  return createHmac('sha256', key).update(signed).digest('base64url');
}

function encodePart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const kept = 10_000;
const trimEvery = 500;
const maxLoggedBody = 8_192;

interface LogFilter {
  readonly method?: string | undefined;
  /** The exact path to match, with or without the query. */
  readonly path?: string | undefined;
  readonly limit?: number | undefined;
}

/** Logs a request, and returns its number. */
export function logRequest(
  ctx: Context,
  incoming: Incoming,
  outgoing: Outgoing,
  fault: string | undefined,
): number {
  const { store, now } = ctx;
  const lastId = store.insert('request_log', {
    at: now,
    method: incoming.method,
    path: incoming.target,
    status: outgoing.status,
    requestBody: Buffer.from(incoming.body).toString().slice(0, maxLoggedBody),
    responseBody: outgoing.body.slice(0, maxLoggedBody),
    fault: fault ?? outgoing.note ?? null,
  });
  if (lastId % trimEvery === 0) store.run('DELETE FROM request_log WHERE id <= ?', lastId - kept);
  return lastId;
}

/** Returns the newest matching requests, sorted from the oldest to the newest. */
export function readLog(
  store: Store,
  { method, path, limit = kept }: LogFilter = {},
): LoggedRequest[] {
  const newestFirst = store.all(
    requestAnswer,
    `SELECT * FROM request_log
     WHERE (?1 IS NULL OR method = ?1)
       AND (?2 IS NULL OR path = ?2 OR substr(path, 1, length(?2) + 1) = ?2 || '?')
     ORDER BY id DESC LIMIT ?3`,
    method ?? null,
    path ?? null,
    limit,
  );
  return newestFirst.toReversed();
}
