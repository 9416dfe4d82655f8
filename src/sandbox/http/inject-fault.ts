// Applies a fault to a request, so that the client gets a different, late, partial or missing
// response.
import { STATUS_CODES } from 'node:http';
import type { AnswerFault } from '../world/faults.js';
import { jsonAnswer, type Outgoing } from './routing.js';
import { otherError } from '../unspecified.js';

export interface FaultTarget {
  readonly respond: () => Outgoing;
  /** Makes the service process the request `after` ms after the response. */
  readonly respondLater: (after: number) => void;
  /** Returns a response with the unchanged transaction. */
  readonly show: () => Outgoing;
}

export function injectFault(
  fault: AnswerFault,
  { respond, respondLater, show }: FaultTarget,
): Outgoing {
  switch (fault.kind) {
    case 'latency':
      return { ...respond(), delay: fault.delay };
    case 'truncate':
      return { ...respond(), connectionFault: 'cut-within' };
    case 'drop-after-commit':
      return { ...respond(), connectionFault: 'cut-before' };
    case 'drop-before-commit':
      return { ...nothing, connectionFault: 'cut-before' };
    case 'late-effect':
      respondLater(fault.delay);
      return show();
    case 'no-answer':
      return { ...(effect(fault) ?? nothing), connectionFault: 'silence' };
    case 'html':
      effect(fault);
      return htmlPage(fault.status);
    case 'status':
      effect(fault);
      return otherAnswer(fault);
  }

  function effect({
    commit,
    commitAfter,
  }: {
    commit: boolean;
    commitAfter?: number | undefined;
  }): Outgoing | undefined {
    if (commitAfter === undefined) return commit ? respond() : undefined;
    return void respondLater(commitAfter);
  }
}

/** The log entry of a request that the service did not process. */
const nothing: Outgoing = { status: 0, headers: {}, body: '' };

function otherAnswer(fault: Extract<AnswerFault, { kind: 'status' }>): Outgoing {
  const { status, body, error = otherError(status), message, retryAfter } = fault;
  const outgoing = jsonAnswer(status, body ?? { error, message });
  return retryAfter === undefined
    ? outgoing
    : { ...outgoing, headers: { ...outgoing.headers, 'retry-after': String(retryAfter) } };
}

function htmlPage(status: number): Outgoing {
  const title = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body:
      '<!doctype ' +
      `html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`,
  };
}
