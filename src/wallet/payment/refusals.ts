// What the words and codes of a refusal mean: a used reference, a confirmation that certainly did nothing. Pure.
import { ServiceError } from '../../api/errors.js';
import type { Failure } from '../../formats/failure.js';

/** Specification: code of a confirmation that came too late to change anything. It only asks for a read. */
const alreadyFinal = '2005';

/** Refused because of another confirmation, perhaps from elsewhere, which may take effect. */
const underWayWords =
  /\b(?:already|pending|in progress|processing|process(?:ed)?|being|under ?way|lock(?:ed)?|conflict)\b/i;

/** The service's own refusal of a confirmation; a gateway's answer in its place refuses nothing. */
export const isOwnRefusal = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  error.isOwnRefusal &&
  error.code !== alreadyFinal &&
  !underWayWords.test(error.reason);

/** Codes of live services for what the specification names: insufficient balance, an expired quote. */
const definedCodes: ReadonlySet<string> = new Set(['2001', '2006']);

/** Of the money and of the quote. An expired token, insufficient permissions and a rate limit are about the request instead. */
const definedWords =
  /\binsufficient (?:\w+ )?(?:balance|funds)\b|\b(?:quote|transaction|invoice)(?: has| is| was)? expired\b|^expired$|\b(?:amount|daily|account|balance|spending) limit\b/i;

/**
 * A refusal in the words that the specification defines: insufficient balance, an expired quote, a limit. One read of `quoted`
 * confirms it. A retry in front of the service may have been carried out and then refused in other words (`bad request`, `duplicate
 * request`, 403, 404), so that any other refusal needs 8 s of such reads.
 */
export const isDefined = (refusal: Failure): boolean =>
  refusal instanceof ServiceError &&
  (definedCodes.has(refusal.code ?? '') ||
    (refusal.status <= 400 && definedWords.test(refusal.reason)));

/** The specification has no words for a used reference: services use their own. */
const isAboutUsedReference = ({ reason, status }: ServiceError): boolean =>
  status === 409 ||
  (/\b(ext\w*ref\w*|ref(erence)?s?\b.*|duplicate\w*)/i.test(reason) &&
    /(use|exist|duplicate|unique|already|taken|twice)/i.test(reason));

/** Some services have no words for any refusal. */
const isUnspecific = ({ reason }: ServiceError): boolean =>
  /^(?:bad request|conflict|invalid request|no explanation)$/i.test(reason);

export interface ReferenceUse {
  readonly depth: 'every page' | 'newest page';
  /** The reference is certainly in use: if the list does not show it, the list is stale. */
  readonly isCertain: boolean;
}

/** How far the list must be searched after a refused creation; undefined if the refusal cannot be about the reference. */
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
