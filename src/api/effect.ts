// Classifies raw requests by what they can change.
import type { Expectation } from './answer.js';

const id = '[A-Za-z0-9._~-]+';
const confirmation = new RegExp(`^PUT /api/v2/transaction/(${id})/confirm$`);
const settings = new RegExp(
  '^(?:POST /api/v2/(?:webhook|authentication/token-signature)|(?:PUT|DELETE) ' +
    `/api/v2/webhook/${id}|PUT /api/v2/transaction/${id}/cancel)$`,
);

/** An unspecified path, or another spelling of a path, could move money. */
export function effectOf(method: string, path: string): Expectation {
  if (method === 'GET' || method === 'HEAD') return { effect: 'read' };
  const route = `${method} ${path.replace(/[?#].*$/s, '').replace(/\/$/, '')}`;
  if (route === 'POST /api/v2/transaction') return { effect: 'quote' };
  if (settings.test(route)) return { effect: 'setting' };
  return { effect: 'payment', txnId: confirmation.exec(route)?.[1] };
}
