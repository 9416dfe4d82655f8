// The only place where the text of a service's refusal decides something: whether the reference was
// already used, whether a confirmation was refused, and whether the balance is too low. Pure.
import { ServiceError } from '../../api/errors.js';
import type { Failure } from '../../formats/failure.js';

/**
 * The error code of a confirmation that came too late to change the transaction (specification).
 * After the error code 2005, svcpay only reads the transaction.
 */
const alreadyFinal = '2005';

/**
 * Words in a refusal that show that another confirmation, possibly from a different program, is
 * under way and may still succeed.
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
 * Whether the text of a refusal reports that the reference is already used. The patterns match the
 * texts of known services, because the specification does not define the wording.
 */
const isAboutUsedReference = ({ reason, status }: ServiceError): boolean =>
  status === 409 ||
  (/\b(ext\w*ref\w*|ref(erence)?s?\b.*|duplicate\w*)/i.test(reason) &&
    /(use|exist|duplicate|unique|already|taken|twice)/i.test(reason));

/** Whether a refusal gives no reason. */
const isUnspecific = ({ reason }: ServiceError): boolean =>
  /^(?:bad request|conflict|invalid request|no explanation)$/i.test(reason);

export interface ReferenceUse {
  readonly depth: 'every page' | 'newest page';
  /** Whether the reference is certainly in use. A list that lacks a reference in use is stale. */
  readonly isCertain: boolean;
}

/**
 * Returns how much of the list svcpay must search after a refused create request, or undefined if
 * the refusal cannot concern the reference.
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

/**
 * Whether the service refused a payment because the balance is too low. Some error codes never mean
 * a low balance, because live services use these codes for other reasons. With any other error
 * code, the text of the refusal shows whether the balance is too low.
 */
export const isInsufficient = ({ code, reason }: ServiceError): boolean =>
  !/^(?:100[1-3]|200[1-7]|300[12])$/.test(code ?? '') && /insufficient/i.test(reason);
