// What a fault makes of a request: another answer, a late one, part of one, or none.
import { STATUS_CODES } from 'node:http';
import type { RequestFault } from '../control/faults.js';
import { jsonAnswer, type Outgoing } from './http.js';
import { otherErrors } from '../unspecified.js';

/** `carryOut` does what was asked and gives the answer; a fault that does not call it leaves everything as it was. */
export function disturb(fault: RequestFault, carryOut: () => Outgoing): Outgoing {
  switch (fault.kind) {
    case 'latency': return { ...carryOut(), delay: fault.delay };
    case 'truncate': return { ...carryOut(), mishap: 'cut-within' };
    case 'drop-after-commit': return { ...carryOut(), mishap: 'cut-before' };
    case 'drop-before-commit': return { ...nothing, mishap: 'cut-before' };
    case 'no-answer': return { ...(fault.commit ? carryOut() : nothing), mishap: 'silence' };
    case 'html':
      if (fault.commit) carryOut();
      return htmlPage(fault.status);
    case 'status':
      if (fault.commit) carryOut();
      return otherAnswer(fault);
  }
}

/** How a request that nobody carried out shows in the log. */
const nothing: Outgoing = { status: 0, headers: {}, body: '' };

function otherAnswer(fault: Extract<RequestFault, { kind: 'status' }>): Outgoing {
  const { status, body, error = otherErrors[status] ?? nameOf(status).toLowerCase(), message, retryAfter } = fault;
  const outgoing = jsonAnswer(status, body ?? { error, message });
  return retryAfter === undefined
    ? outgoing
    : { ...outgoing, headers: { ...outgoing.headers, 'retry-after': String(retryAfter) } };
}

/** The page of a proxy in between, as it stands before many a service. */
function htmlPage(status: number): Outgoing {
  const title = `${status} ${nameOf(status)}`;
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: `<!doctype html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`,
  };
}

const nameOf = (status: number): string => STATUS_CODES[status] ?? 'Unknown';
