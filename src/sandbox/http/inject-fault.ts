// Applies a fault to a request: another response, a late, partial or missing one.
import { STATUS_CODES } from 'node:http';
import type { AnswerFault } from '../world/faults.js';
import { jsonAnswer, type Outgoing } from './routing.js';
import { otherError } from '../unspecified.js';

export interface FaultTarget {
  readonly carryOut: () => Outgoing;
  /** Carries the request out this many ms after the response. */
  readonly carryOutLater: (after: number) => void;
  /** Shows the transaction unchanged. */
  readonly show: () => Outgoing;
}

export function injectFault(
  fault: AnswerFault,
  { carryOut, carryOutLater, show }: FaultTarget,
): Outgoing {
  switch (fault.kind) {
    case 'latency':
      return { ...carryOut(), delay: fault.delay };
    case 'truncate':
      return { ...carryOut(), mishap: 'cut-within' };
    case 'drop-after-commit':
      return { ...carryOut(), mishap: 'cut-before' };
    case 'drop-before-commit':
      return { ...nothing, mishap: 'cut-before' };
    case 'late-effect':
      carryOutLater(fault.delay);
      return show();
    case 'no-answer':
      return { ...(effect(fault) ?? nothing), mishap: 'silence' };
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
    if (commitAfter === undefined) return commit ? carryOut() : undefined;
    return void carryOutLater(commitAfter);
  }
}

/** The log entry of a request that was not carried out. */
const nothing: Outgoing = { status: 0, headers: {}, body: '' };

function otherAnswer(fault: Extract<AnswerFault, { kind: 'status' }>): Outgoing {
  const { status, body, error = otherError(status), message, retryAfter } = fault;
  const outgoing = jsonAnswer(status, body ?? { error, message });
  return retryAfter === undefined
    ? outgoing
    : { ...outgoing, headers: { ...outgoing.headers, 'retry-after': String(retryAfter) } };
}

/** A gateway's error page. */
function htmlPage(status: number): Outgoing {
  const title = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: `<!doctype html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`,
  };
}
