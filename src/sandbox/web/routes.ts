// What the sandbox serves besides the interface of the specification: its description, payment pages, LNURL-pay.
import { jsonAnswer, type Route } from '../http/routing.js';
import { openApiDocument } from '../openapi/document.js';
import { lnurlRoutes } from './lnurl-pay.js';
import { pageRoutes } from './payment-page.js';

/** Paths here that no client of the service asks for. */
export const webPrefix = '/(?:openapi\\.json|pay/)';

export function webRoutes(): Route[] {
  return [
    {
      method: 'GET', path: '/openapi.json', access: 'public',
      answer: ({ ctx }) => jsonAnswer(200, openApiDocument(ctx.maker)),
    },
    ...pageRoutes,
    ...lnurlRoutes,
  ];
}
