// Serves the OpenAPI description, which build/openapi generates, with the configured service name.
import { jsonAnswer, type Route } from '../http/routing.js';
import description from '../openapi.json' with { type: 'json' };

export const openApiRoute: Route = {
  method: 'GET',
  path: '/openapi.json',
  access: 'public',
  answer({ ctx: { wireNames } }) {
    const answer = jsonAnswer(200, description);
    const { method } = wireNames;
    const capital = method.charAt(0).toUpperCase() + method.slice(1);
    const body = answer.body.replaceAll('servicepay', method).replaceAll('Servicepay', capital);
    return { ...answer, body };
  },
};
