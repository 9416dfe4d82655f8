// Defines a request to the service, the possible effects of the request, and the steps that every
// request goes through. Each step calls the next step, and can act before and after that call.
import type { Answer, Expectation } from '../answer.js';

/** The time limit and the number of retries of a call. */
export interface CallLimits {
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

/** A request, whose path begins with `/` and contains only encoded ids. */
export interface Call extends Expectation {
  readonly method: string;
  readonly path: string;
  readonly query?: readonly [string, string][] | undefined;
  /** JSON text. */
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The time left for the exchange, in ms. */
  readonly timeoutMs?: number | undefined;
  /** The limits of this call, which replace the client's limits. */
  readonly limits?: CallLimits | undefined;
  /**
   * The results after which the client repeats a read. By default, the client repeats a read after
   * a temporary failure and after an unreadable response.
   */
  readonly repeatAfter?: 'nothing' | 'failures' | undefined;
}

export type Send = (call: Call) => Promise<Answer>;

export type Step = (next: Send) => Send;

const id = '[A-Za-z0-9._~-]+';
const confirmation = new RegExp(`^PUT /api/v2/transaction/(${id})/confirm$`);
const settings = new RegExp(
  '^(?:POST /api/v2/(?:webhook|authentication/token-signature)|(?:PUT|DELETE) ' +
    `/api/v2/webhook/${id}|PUT /api/v2/transaction/${id}/cancel)$`,
);

/**
 * Determines the possible effect of a request, such as `read` or `payment`. An unspecified path, or
 * a different spelling of a path, counts as a payment, because it could move money.
 */
export function effectOf(method: string, path: string): Expectation {
  if (method === 'GET' || method === 'HEAD') return { effect: 'read' };
  const route = `${method} ${path.replace(/[?#].*$/s, '').replace(/\/$/, '')}`;
  if (route === 'POST /api/v2/transaction') return { effect: 'quote' };
  if (settings.test(route)) return { effect: 'setting' };
  return { effect: 'payment', txnId: confirmation.exec(route)?.[1] };
}
