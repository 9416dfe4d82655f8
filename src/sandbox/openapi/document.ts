// The OpenAPI 3.1 description of the service, with the maker's name in it.
import { base } from '../endpoints/endpoints.js';
import { jsonAnswer, type Route } from '../http/routing.js';
import type { Maker } from '../wire/maker.js';
import { paths } from './operations.js';
import { schemas } from './schemas.js';
import { ref, text, type Schema } from './shape.js';

export const openApiRoute: Route = {
  method: 'GET', path: '/openapi.json', access: 'public', answer: ({ ctx }) => jsonAnswer(200, openApiDocument(ctx.maker)),
};

export function openApiDocument(maker: Maker): Schema {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Wallet payments',
      version: '2',
      description: 'Wallets, Lightning, on-chain Bitcoin and USDT, swaps and fiat payouts, as the sandbox serves them.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths: paths(base),
    webhooks: { transactionState: { post: event(maker) } },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: schemas(maker),
    },
  };
}

function event({ signatureHeader }: Maker): Schema {
  return {
    operationId: 'transactionState',
    summary: 'A transaction has changed its state',
    security: [],
    parameters: [{
      name: signatureHeader,
      in: 'header',
      required: true,
      description: 'Lower-case hex HMAC-SHA256 of the raw body, keyed with the secret of the webhook.',
      schema: text,
    }],
    requestBody: { required: true, content: { 'application/json': { schema: ref('Event') } } },
    responses: { 200: { description: 'Taken.' } },
  };
}
