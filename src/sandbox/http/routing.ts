// Requests and answers between the server (or the embedded handler) and the service, and the table of endpoints.
import * as v from 'valibot';
import type { Account } from '../world/accounts.js';
import type { Sight } from '../world/faults.js';
import { complaint } from '../wire/complaint.js';
import type { Context } from '../world/context.js';
import { readJson, writeJson } from '../wire/json.js';
import { badRequest, notFound } from '../wire/refusal.js';
import { maxBodyLength } from '../unspecified.js';

export interface Incoming {
  /** In capitals. */
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Undefined when it was so much longer than the service takes that it was not kept. */
  readonly body: Uint8Array | undefined;
}

export interface Outgoing {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the log of requests says of it. */
  readonly note?: string | undefined;
  /** Milliseconds that the answer is held back. */
  readonly delay?: number | undefined;
  /** What becomes of the answer on its way: the connection is cut before it or within it, or nothing ever comes. */
  readonly mishap?: 'cut-before' | 'cut-within' | 'silence' | undefined;
}

export interface Call {
  readonly ctx: Context;
  readonly incoming: Incoming;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** How a fault lets it see transactions. */
  readonly sight?: Sight | undefined;
}

/** A call whose token was checked. */
export interface AccountCall extends Call {
  readonly account: Account;
}

/** Path patterns have `:name` for a segment; a trailing slash counts. The first match wins. */
export type Route = Place & (
  | { readonly access: 'open'; readonly answer: (call: Call) => unknown }
  | { readonly access: 'token'; readonly answer: (call: AccountCall) => unknown }
  /** Outside the interface of the specification: a page, or a protocol with answers of its own. */
  | { readonly access: 'public'; readonly answer: (call: Call) => Outgoing }
);

interface Place {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
}

/** A message may quote what was sent, but not at any length. */
const maxMessageLength = 200;

/** Makes the look-up from a request to its endpoint. Throws the 404 of the service when there is none. */
export function router(routes: readonly Route[]) {
  const compiled = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
  }));
  return ({ method, target }: Incoming) => {
    const [path = ''] = target.split('?', 1);
    // As HTTP has it; the server sends the head of the answer alone.
    const asked = method === 'HEAD' ? 'GET' : method;
    for (const { route, pattern } of compiled) {
      const match = route.method === asked ? pattern.exec(path) : null;
      if (match === null) continue;
      return { route, params: decodeParams(match.groups ?? {}), query: new URLSearchParams(target.slice(path.length)) };
    }
    throw notFound();
  };
}

export const controlPrefix = '/_sandbox/';

/** An endpoint of the sandbox's own, which anyone on this machine may use. */
export function control(method: Route['method'], path: string, answer: (call: Call) => unknown): Route {
  return { method, path: controlPrefix + path, access: 'open', answer };
}

export function jsonAnswer(status: number, body: unknown): Outgoing {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: writeJson(body) };
}

/** Refuses a body without its content type; on POST and PUT the type is needed even without a body. */
export function assertContentType({ method, headers, body }: Incoming): void {
  const needed = method === 'POST' || method === 'PUT' || (method !== 'GET' && body?.length !== 0);
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (needed && type.trim().toLowerCase() !== 'application/json') {
    throw badRequest('Content-Type must be application/json');
  }
}

/** The body as text. Refuses a body that is too long or not UTF-8. */
export function bodyText({ body }: Incoming): string {
  if (body === undefined || body.length > maxBodyLength) throw badRequest(`the body is longer than ${maxBodyLength} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw badRequest('the body is not UTF-8');
  }
}

/** The body read as JSON of the given shape, numbers as exact decimals. */
export function readBody<T>(incoming: Incoming, shape: v.GenericSchema<unknown, T>): T {
  const parsed = v.safeParse(shape, parseJson(bodyText(incoming)), { abortEarly: true });
  if (parsed.success) return parsed.output;
  throw badRequest(complaint(parsed.issues[0]).slice(0, maxMessageLength));
}

export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given !== null && !/^\d{1,6}$/.test(given)) throw badRequest(`${name}: a whole number is needed`);
  return given === null ? undefined : Number(given);
}

/** The number of the path that stands for an id; one that cannot be is answered as unknown by whoever looks it up. */
export const idParam = ({ params }: Call): number => (/^\d{1,15}$/.test(params['id'] ?? '') ? Number(params['id']) : 0);

function parseJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    throw badRequest('the body cannot be read as JSON');
  }
}

function decodeParams(groups: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeParam(value)]));
}

/** Undecodable text stays unchanged; the endpoint then does not find it. */
function decodeParam(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
