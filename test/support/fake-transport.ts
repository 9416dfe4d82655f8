// A service made of stubs: an unexpected request fails the test, and so does an unused stub.
import { onTestFinished } from 'vitest';
import type { HttpRequest, HttpResponse, Transport } from '../../src/api/errors.js';

/** A complete response, or the error with which the transport rejects. */
export type FakeAnswer = HttpResponse | Error;

export interface FakeService {
  transport: Transport;
  /**
   * Answers the next requests to `method path` (including the query) with these answers, in order.
   */
  on(method: string, path: string, ...answers: FakeAnswer[]): void;
  /** Returns all requests in order, or only those with this method and path. */
  requests(method?: string, path?: string): HttpRequest[];
}

/** Returns a response whose body is the given value as JSON, or the given text unchanged. */
export function answer(
  status: number,
  body: unknown = '',
  headers: Record<string, string> = {},
): HttpResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: text };
}

export function fakeService(baseUrl: string): FakeService {
  const stubs = new Map<string, FakeAnswer[]>();
  const seen: { key: string; request: HttpRequest }[] = [];
  const unexpected: string[] = [];

  onTestFinished(() => {
    const unused = [...stubs].flatMap(([key, answers]) => answers.map(() => key));
    if (unexpected.length > 0) throw new Error(`Requests without a stub: ${unexpected.join('; ')}`);
    if (unused.length > 0) throw new Error(`Stubs without a request: ${unused.join('; ')}`);
  });

  return {
    async transport(request) {
      const path = request.url.startsWith(baseUrl)
        ? request.url.slice(baseUrl.length)
        : request.url;
      const key = `${request.method} ${path}`;
      seen.push({ key, request });
      const next = stubs.get(key)?.shift();
      if (next === undefined) {
        unexpected.push(key);
        throw new Error(`No stub for ${key}`);
      }
      if (next instanceof Error) throw next;
      return next;
    },
    on(method, path, ...answers) {
      const key = `${method} ${path}`;
      stubs.set(key, [...(stubs.get(key) ?? []), ...answers]);
    },
    requests: (method, path) =>
      seen
        .filter(({ key }) => method === undefined || key.startsWith(`${method} `))
        .filter(({ key }) => path === undefined || key.endsWith(` ${path}`))
        .map(({ request }) => request),
  };
}
