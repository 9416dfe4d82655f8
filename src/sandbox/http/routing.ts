// Requests, responses and routes.
import * as v from 'valibot';
import type { Account } from '../world/accounts.js';
import type { ReadFault } from '../world/faults.js';
import { complaint, badRequest, notFound } from '../wire/refusal.js';
import type { Context } from '../world/context.js';
import { readJson, writeJson } from '../wire/json.js';
import { maxBodyLength } from '../unspecified.js';

export interface Incoming {
  /** In capitals. */
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Undefined if the body was too long to keep. */
  readonly body: Uint8Array | undefined;
}

export interface Outgoing {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** A note for the request log. */
  readonly note?: string | undefined;
  /** Milliseconds. */
  readonly delay?: number | undefined;
  /** How the connection fails: it is cut before or within the response, or stays silent. */
  readonly connectionFault?: 'cut-before' | 'cut-within' | 'silence' | undefined;
}

export interface RoutedRequest {
  readonly ctx: Context;
  readonly incoming: Incoming;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly readFault?: ReadFault | undefined;
}

/** An authenticated call. */
export interface AccountCall extends RoutedRequest {
  readonly account: Account;
}

/**
 * A path pattern has `:name` for a segment. A trailing slash counts. The first matching route wins.
 */
export type Route = RoutePattern &
  (
    | { readonly access: 'open'; readonly answer: (call: RoutedRequest) => unknown }
    | { readonly access: 'token'; readonly answer: (call: AccountCall) => unknown }
    /** A page or another protocol, outside the specification. */
    | { readonly access: 'public'; readonly answer: (call: RoutedRequest) => Outgoing }
  );

interface RoutePattern {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
}

/** The longest message, because messages may quote the request. */
const maxMessageLength = 200;

/** Finds the endpoint of a request, or throws a 404. */
export function router(routes: readonly Route[]) {
  const compiled = routes.map((route) => ({
    route,
    pattern: new RegExp(
      `^${route.path.replaceAll('.', '\\.').replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`,
    ),
  }));
  return ({ method, target }: Incoming) => {
    const [path = ''] = target.split('?', 1);
    // For HEAD, the server sends only the head of the response.
    const asked = method === 'HEAD' ? 'GET' : method;
    for (const { route, pattern } of compiled) {
      const match = route.method === asked ? pattern.exec(path) : null;
      if (match === null) continue;
      return {
        route,
        params: decodeParams(match.groups ?? {}),
        query: new URLSearchParams(target.slice(path.length)),
      };
    }
    throw notFound();
  };
}

export const controlPrefix = '/_sandbox/';

/** A control endpoint. Everyone on this machine may use it. */
export function control(
  method: Route['method'],
  path: string,
  answer: (call: RoutedRequest) => unknown,
): Route {
  return { method, path: controlPrefix + path, access: 'open', answer };
}

export function jsonAnswer(status: number, body: unknown): Outgoing {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: writeJson(body),
  };
}

/** POST and PUT need the content type even without a body. */
export function assertContentType({ method, headers, body }: Incoming): void {
  const needed = method === 'POST' || method === 'PUT' || (method !== 'GET' && body?.length !== 0);
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (needed && type.trim().toLowerCase() !== 'application/json') {
    throw badRequest('Content-Type must be application/json');
  }
}

/** The body as text. Refuses a body that is too long or not UTF-8. */
export function bodyText({ body }: Incoming): string {
  if (body === undefined || body.length > maxBodyLength)
    throw badRequest(`the body is longer than ${maxBodyLength} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw badRequest('the body is not UTF-8');
  }
}

/** Reads the JSON body, with numbers as exact decimals. */
export function readBody<T>(incoming: Incoming, shape: v.GenericSchema<unknown, T>): T {
  const parsed = v.safeParse(shape, parseJson(bodyText(incoming)), { abortEarly: true });
  if (parsed.success) return parsed.output;
  throw badRequest(complaint(parsed.issues[0]).slice(0, maxMessageLength));
}

export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given !== null && !/^\d{1,6}$/.test(given))
    throw badRequest(`${name}: a whole number is needed`);
  return given === null ? undefined : Number(given);
}

/** The id in the path, or 0, which no row has. */
export const idParam = ({ params }: RoutedRequest): number =>
  /^\d{1,15}$/.test(params['id'] ?? '') ? Number(params['id']) : 0;

function parseJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    throw badRequest('the body cannot be read as JSON');
  }
}

function decodeParams(groups: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, value]) => [name, decodeParam(value)]),
  );
}

/** Decodes a parameter. Undecodable text stays unchanged, and finds nothing. */
function decodeParam(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
