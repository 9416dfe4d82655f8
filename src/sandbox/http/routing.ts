// Defines requests, responses and routes, and finds the route of a request.
import * as v from 'valibot';
import type { Account } from '../world/accounts.js';
import type { ReadFault } from '../world/faults.js';
import { complaint, badRequest, notFound } from '../wire/refusal.js';
import type { Context } from '../world/context.js';
import { readJson, writeJson } from '../wire/json.js';
import { maxBodyLength } from '../unspecified.js';

export interface Incoming {
  /** The HTTP method in capitals. */
  readonly method: string;
  /** The path and the query of the request. */
  readonly target: string;
  /** The request headers, keyed by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The bytes of the body, or undefined if the body was longer than the service accepts. */
  readonly body: Uint8Array | undefined;
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

export interface RoutedRequest {
  readonly ctx: Context;
  readonly incoming: Incoming;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly readFault?: ReadFault | undefined;
}

/** A call with a valid access token. */
export interface AccountCall extends RoutedRequest {
  readonly account: Account;
}

/**
 * A route of the service. `:name` in a path pattern matches one segment, and a trailing slash is
 * significant. If several routes match, the first route answers.
 */
export type Route = RoutePattern &
  (
    | { readonly access: 'open'; readonly answer: (call: RoutedRequest) => unknown }
    | { readonly access: 'token'; readonly answer: (call: AccountCall) => unknown }
    /** An endpoint outside the specification, such as a page or an LNURL endpoint. */
    | { readonly access: 'public'; readonly answer: (call: RoutedRequest) => Outgoing }
  );

interface RoutePattern {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
}

/**
 * The length at which the service cuts an error message, because an error message may quote a long
 * request.
 */
const maxMessageLength = 200;

/** Finds the endpoint of a request. Throws a 404 if no route matches. */
export function router(routes: readonly Route[]) {
  const compiled = routes.map((route) => ({
    route,
    pattern: new RegExp(
      `^${route.path.replaceAll('.', '\\.').replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`,
    ),
  }));
  return ({ method, target }: Incoming) => {
    const [path = ''] = target.split('?', 1);
    // The sandbox answers HEAD like GET, and Node's HTTP server omits the body of the response.
    const handledMethod = method === 'HEAD' ? 'GET' : method;
    for (const { route, pattern } of compiled) {
      const match = route.method === handledMethod ? pattern.exec(path) : null;
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

/** A control endpoint, which every program on this machine may call. */
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

/**
 * Checks the content type of a request. POST and PUT requests must have the content type even
 * without a body.
 */
export function assertContentType({ method, headers, body }: Incoming): void {
  const needed = method === 'POST' || method === 'PUT' || (method !== 'GET' && body?.length !== 0);
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (needed && type.trim().toLowerCase() !== 'application/json') {
    throw badRequest('Content-Type must be application/json');
  }
}

/**
 * Returns the body of a request as text. Throws a `Refusal` if the body is too long or not UTF-8.
 */
export function bodyText({ body }: Incoming): string {
  if (body === undefined || body.length > maxBodyLength)
    throw badRequest(`the body is longer than ${maxBodyLength} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw badRequest('the body is not UTF-8');
  }
}

/** Reads the JSON body of a request, with every number as an exact decimal. */
export function readBody<T>(incoming: Incoming, shape: v.GenericSchema<unknown, T>): T {
  const parsed = v.safeParse(shape, parseJson(bodyText(incoming)), { abortEarly: true });
  if (parsed.success) return parsed.output;
  throw badRequest(complaint(parsed.issues[0]).slice(0, maxMessageLength));
}

export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given !== null && !/^\d{1,6}$/.test(given))
    throw badRequest(`${name} must be a whole number`);
  return given === null ? undefined : Number(given);
}

/**
 * Reads the numeric id in the path. Returns 0 for a text that is not a valid id, because no row has
 * the id 0.
 */
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

/**
 * Decodes a parameter of the path. If the parameter cannot be decoded, returns its text unchanged,
 * so that the lookup finds no record.
 */
function decodeParam(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
