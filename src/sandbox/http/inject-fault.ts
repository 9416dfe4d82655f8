// What a fault makes of a request: another answer, a late one, part of one, or none.
import { STATUS_CODES } from 'node:http';
import type { AnswerFault } from '../world/faults.js';
import { jsonAnswer, type Outgoing } from './routing.js';
import { otherError } from '../unspecified.js';

/** What can be done with a request; a fault that does nothing of it leaves everything as it was. */
export interface FaultTarget {
  /** Does what was asked and gives the answer. */
  readonly carryOut: () => Outgoing;
  /** Carries it out this many ms later, after the answer. */
  readonly carryOutLater: (after: number) => void;
  /** The transaction that was asked for, as it stands. */
  readonly show: () => Outgoing;
}

export function injectFault(fault: AnswerFault, { carryOut, carryOutLater, show }: FaultTarget): Outgoing {
  switch (fault.kind) {
    case 'latency': return { ...carryOut(), delay: fault.delay };
    case 'truncate': return { ...carryOut(), mishap: 'cut-within' };
    case 'drop-after-commit': return { ...carryOut(), mishap: 'cut-before' };
    case 'drop-before-commit': return { ...nothing, mishap: 'cut-before' };
    case 'late-effect':
      carryOutLater(fault.delay);
      return show();
    case 'no-answer': return { ...(effect(fault) ?? nothing), mishap: 'silence' };
    case 'html':
      effect(fault);
      return htmlPage(fault.status);
    case 'status':
      effect(fault);
      return otherAnswer(fault);
  }

  function effect({ commit, commitAfter }: { commit: boolean; commitAfter?: number | undefined }): Outgoing | undefined {
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

/** The page of a proxy in between, as it stands before many a service. */
function htmlPage(status: number): Outgoing {
  const title = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: `<!doctype html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`,
  };
}
