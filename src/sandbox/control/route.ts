// What all `/_sandbox/` endpoints share: their prefix, and that anyone on this machine may use them.
import type { Call, Route } from '../http/routing.js';
import { badRequest } from '../wire/refusal.js';

export const controlPrefix = '/_sandbox/';

export function route(method: Route['method'], path: string, answer: (call: Call) => unknown): Route {
  return { method, path: controlPrefix + path, access: 'open', answer };
}

/** A whole number of the query, if it is given. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name);
  if (given !== null && !/^\d{1,6}$/.test(given)) throw badRequest(`${name}: a whole number is needed`);
  return given === null ? undefined : Number(given);
}

/** The number of the path that stands for an id; one that cannot be is answered as unknown by whoever looks it up. */
export const idParam = ({ params }: Call): number => (/^\d{1,15}$/.test(params['id'] ?? '') ? Number(params['id']) : 0);
