// What the sandbox serves besides the interface of the specification: its description, payment pages, LNURL-pay.
import type { Route } from '../http.js';
import { jsonAnswer } from '../http.js';
import { openApiDocument } from '../openapi/document.js';

/** Paths here that no client of the service asks for. */
export const webPrefix = '/(?:openapi\\.json|pay/)';

export function webRoutes(): Route[] {
  return [
    {
      method: 'GET', path: '/openapi.json', access: 'public',
      answer: ({ ctx }) => jsonAnswer(200, openApiDocument(ctx.maker)),
    },
  ];
}
