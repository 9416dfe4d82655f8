// Interprets a refusal: a used reference, or a refused confirmation. Pure.
import { ServiceError } from '../../api/errors.js';
import type { Failure } from '../../formats/failure.js';

/**
 * The code of a confirmation that came too late to change anything (specification). svcpay then
 * only reads the transaction.
 */
const alreadyFinal = '2005';

/**
 * Words of a refusal that another confirmation causes, possibly from a different program. The other
 * confirmation may take effect.
 */
const underWayWords =
  /\b(?:already|pending|in progress|process(?:ing|ed)?|being|under ?way|lock(?:ed)?|conflict)\b/i;

/** Whether the service itself refused a confirmation. A gateway's error page is not a refusal. */
export const refusesConfirmation = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  error.isOwnRefusal &&
  error.code !== alreadyFinal &&
  !underWayWords.test(error.reason);

/**
 * Whether a refusal is about a used reference, by the words of services, because the specification
 * does not define the wording.
 */
const isAboutUsedReference = ({ reason, status }: ServiceError): boolean =>
  status === 409 ||
  (/\b(ext\w*ref\w*|ref(erence)?s?\b.*|duplicate\w*)/i.test(reason) &&
    /(use|exist|duplicate|unique|already|taken|twice)/i.test(reason));

/** Whether a refusal names no reason. */
const isUnspecific = ({ reason }: ServiceError): boolean =>
  /^(?:bad request|conflict|invalid request|no explanation)$/i.test(reason);

export interface ReferenceUse {
  readonly depth: 'every page' | 'newest page';
  /** Whether the reference is certainly in use, so that a list without the reference is stale. */
  readonly isCertain: boolean;
}

/**
 * How far the list must be searched after a refused create request. Undefined if the refusal cannot
 * concern the reference.
 */
export function referenceUse(
  refusal: Failure,
  mayExist: boolean,
  isOwnReference: boolean,
): ReferenceUse | undefined {
  if (!(refusal instanceof ServiceError) || refusal.kind !== 'refused') return undefined;
  if (isOwnReference && !mayExist) return undefined;
  if (isAboutUsedReference(refusal)) return { depth: 'every page', isCertain: true };
  return mayExist || isUnspecific(refusal)
    ? { depth: 'newest page', isCertain: mayExist && isUnspecific(refusal) }
    : undefined;
}
