// Describes the outcomes of a run in messages: first what happened to the money, then why, then the
// next step. Also the only place where the text of a service's refusal decides something. Pure.
import { ownReference, paymentName, entryOf, messageOf } from '../../formats/text.js';
import { NoAnswer, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { formatAmount, formatNumber, type Money } from '../../formats/amount.js';
import { Failure, isUnknown, notSent, invalid } from '../../formats/failure.js';
import { hasLapsed, isFinal } from '../../formats/states.js';
import { instructionOf, type Instruction } from '../instruction/instruction.js';
import { commandOf, bothInWords, inWords } from '../instruction/words.js';
import { transactionConcerned } from '../transaction/read.js';
import {
  attemptOf,
  decisive,
  latest,
  mayHaveMoved,
  mayHavePaid,
  outcomeOf,
  type Attempt,
  type Payment,
  type Resolution,
} from '../../store/journal/payment.js';

export const interrupted = (): Failure =>
  new Failure('interrupted', 'nothing moved.', { money: 'Interrupted' });

/**
 * The refusal of a reference that belongs to a different payment. A reference belongs to a payment
 * while the payment is open, and forever after its first submission. svcpay refuses a different
 * instruction under that reference before any request.
 */
export function differentPayment(payment: Payment, asked?: Instruction): Failure {
  const { ref } = payment;
  const attempt = latest(payment);
  const { txnId } = attempt;
  const stored = instructionOf(payment);
  const [earlier, now] = bothInWords(stored, asked ?? stored);
  return notSent(
    `the reference ${ref} belongs to a different payment: ${earlier}` +
      `${asked === undefined ? '' : `, and this is ${now}`}`,
    {
      next: txnId === null ? { do: 'see-open-payments' } : { do: 'show', id: txnId },
      ...concerned(payment, attempt),
    },
  );
}

/**
 * The refusal of a reference that the service has given to another transaction, which differs from
 * what was asked.
 */
export const differentTransaction = (payment: Payment, txnId: string): Failure =>
  invalid(
    `at the service, the reference ${payment.ref} belongs to transaction ${txnId}, ` +
      `which is not ${inWords(instructionOf(payment))}.`,
    { money: 'Not sent', next: { do: 'show', id: txnId }, ref: payment.ref, txnId },
  );

/** The refusal if another payment with this idempotency key was submitted or paid. */
export function alreadyPaid(payment: Payment): Failure {
  const attempt = decisive(payment);
  const outcome = outcomeOf(attempt);
  const isOver = outcome === 'paid' || outcome === 'error';
  const how = {
    paid: 'was already paid',
    error: 'already has a payment that ended in the state error',
    unknown: 'already has a payment whose outcome is unknown',
  };
  const what = entryOf(how, outcome) ?? 'is already being paid';
  return new Failure(
    'already-paid',
    `this invoice ${what}, ${namedText(payment.ref, attempt.txnId)}.`,
    {
      money: 'Not sent',
      next:
        isOver && attempt.txnId !== null
          ? { do: 'show', id: attempt.txnId }
          : { do: 'resume', id: paymentName(payment.ref, attempt.txnId) },
      ...concerned(payment, attempt),
    },
  );
}

/** Names a payment by the reference that a person gave and the id, each with its label. */
function namedText(ref: string, txnId: string | null): string {
  if (txnId === null) return `under the reference ${ref}`;
  const reference = ownReference(ref);
  return reference === ''
    ? `in transaction ${txnId}`
    : `under the reference ${reference} (transaction ${txnId})`;
}

/** The payment and the transaction that a failure concerns. */
export const concerned = (
  { ref }: Pick<Payment, 'ref'>,
  { txnId, txnState }: Pick<Attempt, 'txnId' | 'txnState'>,
) => ({ ref, txnId: txnId ?? undefined, txnState: txnState ?? undefined });

/** The failure if the user declined the payment, but another process had already submitted it. */
export const declinedTooLate = (payment: Payment): Failure =>
  pending(
    unknown,
    'you declined, but another process had already submitted this payment.',
    'resume',
    decisive(payment).txnId ?? payment.ref,
  );

/**
 * The refusal of an invoice that was already paid at the service, in a transaction that this home's
 * journal lacks.
 */
export const paidElsewhere = ({ txnId, txnState, extRefId }: Transaction, ref: string): Failure =>
  new Failure(
    'already-paid',
    `this invoice was already paid, ${namedText(extRefId ?? ref, txnId)}.`,
    {
      money: 'Not sent',
      next: { do: 'show', id: txnId },
      ...concerned({ ref: extRefId ?? ref }, { txnId, txnState }),
    },
  );

export const usedButUnread = (ref: string, why: string, cause: unknown): Failure =>
  new Failure('pending', `the service reports that the reference ${ref} was used, but ${why}`, {
    money: unknown,
    next: { do: 'resume', id: ref },
    cause,
  });

type Reported = Pick<Attempt, 'txnId' | 'txnState'> & Partial<Pick<Attempt, 'resolution'>>;

/**
 * The failure for a submitted payment in state `expired` or `usercanceled`, which does not prove
 * that no money moved.
 */
export const unresolved = (ref: string, { txnId, txnState }: Reported): Failure =>
  new Failure(
    'outcome-unknown',
    `the service reports ${txnState ?? 'nothing'}, but the payment had been ` +
      'submitted, so money may have moved.',
    {
      money: unknown,
      hint: 'Ask the service whether the payment was made. If it was not made, try again',
      next: { do: 'retry', id: paymentName(ref, txnId) },
      ...concerned({ ref }, { txnId, txnState }),
    },
  );

/**
 * The failure for a lapsed transaction that this home submitted. The outcome of a submitted
 * transaction is unknown even if the transaction lapsed. Returns undefined if this home did not
 * submit the transaction, or has a recorded answer about it.
 */
export function unresolvedTransaction(
  payment: Payment | undefined,
  { txnId, txnState }: Transaction,
): Failure | undefined {
  const attempt = attemptOf(payment, txnId);
  if (payment === undefined || attempt === undefined || !mayHaveMoved(attempt)) return undefined;
  if (attempt.resolution !== null) return undefined;
  if (attempt.number === latest(payment).number)
    return unresolved(payment.ref, { ...attempt, txnState });
  return new Failure(
    'outcome-unknown',
    `the service reports ${txnState}, but this attempt had been submitted. ` +
      'A later attempt followed.',
    {
      money: unknown,
      hint: 'Ask the service whether this attempt moved money. To follow the payment',
      next: { do: 'resume', id: paymentName(payment.ref, txnId) },
      ...concerned(payment, { txnId, txnState }),
    },
  );
}

/**
 * The failure if the service answered the create request with a started transaction that differs
 * from the order.
 */
export const notOrdered = (txn: Transaction): Failure =>
  new Failure(
    'outcome-unknown',
    `the service answered the request for a quote with transaction ${txn.txnId} ` +
      `(${txn.txnState}), which differs from the order.`,
    { money: unknown, next: { do: 'show', id: txn.txnId }, ...transactionConcerned(txn) },
  );

/**
 * The failure for a transaction that ended unpaid. The specification does not define whether a
 * transaction in state `error` moved money.
 */
export function ended(
  ref: string,
  { txnId, txnState, resolution = null }: Reported,
  canRetry: boolean,
): Failure {
  const id = txnId ?? ref;
  if (txnState === 'error' && resolution === null)
    return new Failure('outcome-unknown', 'the transaction ended in the state error.', {
      money: unknown,
      hint: 'Ask the service what happened to the money, then record its answer',
      next: { do: 'resolve', id },
      ...concerned({ ref }, { txnId, txnState }),
    });
  const recorded = resolution === null ? '' : ` ${resolutionText(resolution)}`;
  return new Failure('payment-failed', `the transaction ended as ${txnState ?? ''}.${recorded}`, {
    money: 'Not paid',
    next: canRetry ? { do: 'retry', id: paymentName(ref, txnId) } : { do: 'show', id },
    ...concerned({ ref }, { txnId, txnState }),
  });
}

/** What is known about the money of a transaction that ended. */
export interface EndOfTransaction {
  /** The failure, or undefined if the transaction is paid. */
  readonly failure?: Failure | undefined;
  /** The recorded answer of `tx resolve`, if the state does not tell whether money moved. */
  readonly recorded?: Resolution | undefined;
}

/**
 * What is known about the money of a transaction, which is empty if the transaction goes on or
 * completed.
 * @param payment the payment of this home that the transaction belongs to
 */
export function endOf(payment: Payment | undefined, txn: Transaction): EndOfTransaction {
  const { txnId, txnState, extRefId } = txn;
  if (!isFinal(txnState) || txnState === 'completed') return {};
  const attempt = attemptOf(payment, txnId);
  if (payment === undefined || attempt === undefined) {
    const failure = ended(extRefId ?? txnId, { txnId, txnState }, false);
    const hint = 'Ask the service what happened to the money. To see it';
    const next = { do: 'show', id: txnId } as const;
    // Only the home that made a payment can record what happened to its money.
    return {
      failure: txnState === 'error' ? failure.saying(failure.why, { hint, next }) : failure,
    };
  }
  // The answer is about the state that the journal records.
  const recorded = attempt.txnState === txnState ? attempt.resolution : null;
  if (recorded?.moved === true) return { recorded };
  const unresolved = hasLapsed(txnState) ? unresolvedTransaction(payment, txn) : undefined;
  const failure =
    unresolved ?? ended(payment.ref, { txnId, txnState, resolution: recorded }, false);
  return { failure, recorded: recorded ?? undefined };
}

const unknown = 'Outcome unknown';

/** Describes the recorded result of an attempt: whether the money moved, and the person's note. */
export const resolutionText = ({ moved, note, at }: Resolution): string =>
  `Recorded on ${new Date(at).toISOString().slice(0, 10)}: the money ` +
  `${moved ? 'moved' : 'did not move'} (${note}).`;

/** The failure if svcpay cannot read now whether a confirmation took effect. */
export function confirmationUnknown(
  { txnId }: Pick<Attempt, 'txnId'>,
  error: unknown,
  wasRepeated: boolean,
): Failure {
  const reason = error instanceof ServiceError ? ` (the service answered: ${error.reason})` : '';
  // The cause is a Failure if the service refused the token, and the new sign-in or the repeated
  // confirmation then failed.
  const cause =
    error instanceof NoAnswer && error.cause instanceof Failure ? error.cause : undefined;
  const why =
    cause !== undefined
      ? 'the service refused the token that was sent with the confirmation, ' +
        'and svcpay could not sign in and confirm again'
      : error instanceof NoAnswer
        ? 'the service did not answer the confirmation'
        : `svcpay could not read whether the confirmation took effect${reason}`;
  const repeated = wasRepeated ? 'svcpay repeated the confirmation. ' : '';
  const tried = `${repeated}No second attempt was made.`;
  const detail = cause === undefined ? '' : ` ${cause.message}`;
  return pending(unknown, `${why}.${detail} ${tried}`, 'resume', txnId, error);
}

/**
 * The failure for a payment that the service accepted, if this run stops waiting for its
 * settlement.
 */
export const sent = ({ txnId }: Pick<Attempt, 'txnId'>, cause?: Failure): Failure =>
  pending('Sent, not settled yet. It goes on without you', '', 'watch', txnId, cause);

/**
 * The failure for a payment that the service accepted, if this run can no longer read its state.
 */
export const unread = ({ txnId }: Pick<Attempt, 'txnId'>, cause?: Failure): Failure =>
  pending(
    'Sent, not settled yet',
    `the transaction's state cannot be read now: ${messageOf(cause)}`,
    'resume',
    txnId,
    cause,
  );

/** The failure if the user interrupted svcpay while the confirmation was in flight. */
export const leftUnanswered = ({ txnId }: Pick<Attempt, 'txnId'>): Failure =>
  pending('You left before the service answered', 'paid or not is not known yet.', 'resume', txnId);

const pending = (
  money: string,
  why: string,
  what: 'resume' | 'watch',
  txnId: string | null,
  cause?: unknown,
): Failure =>
  new Failure('pending', why, {
    money,
    next: { do: what, id: txnId ?? '' },
    txnId: txnId ?? undefined,
    cause,
  });

/** The failure for a submitted payment that cannot be read. */
export function unreadable(payment: Payment, cause: unknown): Failure {
  if (cause instanceof Failure && isUnknown(cause)) return cause;
  const { ref } = payment;
  const attempt = decisive(payment);
  const { txnId, txnState } = attempt;
  const isPaid = outcomeOf(attempt) === 'paid';
  const last = txnState === null || isPaid ? '' : `, last reported as ${txnState}`;
  const what = isPaid ? 'the transaction' : `the payment was submitted${last}, but`;
  return new Failure('pending', `${what} cannot be read now: ${messageOf(cause)}`, {
    money: isPaid ? `Paid earlier ${namedText(ref, txnId)}` : unknown,
    next: { do: isPaid ? 'show' : 'resume', id: txnId ?? ref },
    ...concerned(payment, attempt),
    cause,
  });
}

/** The failure for several submitted payments that cannot be read. */
export const allUnreadable = (count: number, cause: Failure): Failure =>
  new Failure(
    'pending',
    `${count} payments were submitted but cannot be read now: ${cause.message}`,
    { money: unknown, next: { do: 'see-open-payments' }, cause },
  );

/** The failure for a create request to which the service returned no quote. No money moved. */
export function noQuote(error: unknown): Failure {
  if (error instanceof Failure && error.kind === 'temporary' && !(error instanceof NoAnswer))
    return error;
  return new Failure('temporary', 'the service did not answer the request for a quote.', {
    money: 'Nothing moved',
    hint: 'Run the same command again.',
    status: error instanceof Failure ? error.status : undefined,
    cause: error,
  });
}

export const everyQuoteExpired = (): Failure =>
  new Failure('temporary', 'every quote expired before it was confirmed.', {
    money: 'Nothing moved',
    hint: 'Run the command again with --yes, which confirms the quote immediately.',
  });

/**
 * The refusal of a further attempt for a payment that was imported after a restore. A further
 * attempt for an imported payment could differ from the original order, because the service reports
 * only a part of an order.
 */
export const importedInPart = ({ ref }: Payment, txnId: string | null): Failure =>
  invalid(
    `svcpay cannot repeat the payment ${ref}, because some of its details were missing ` +
      'when svcpay imported the payment from the service.',
    { money: 'Not sent', hint: 'Pay under a new reference.', txnId: txnId ?? undefined },
  );

/**
 * The refusal to resume an abandoned payment. To reopen an abandoned payment, the user must give
 * the instruction again.
 */
export function isAbandoned(payment: Payment): Failure {
  const { txnId } = latest(payment);
  const name = paymentName(payment.ref, txnId);
  return invalid(`the payment ${name} was abandoned before any money moved.`, {
    money: 'Not sent',
    hint: 'To pay after all',
    next: commandOf(instructionOf(payment), payment.ref, payment.terms),
    ...concerned(payment, latest(payment)),
  });
}

/** The failure for a refusal by the service, with exit code 7 if the balance is too low. */
export function refused(
  what: 'quote' | 'confirmation',
  error: Failure,
  available?: Money,
  txnId?: string,
): Failure {
  if (!(error instanceof ServiceError) || (error.kind !== 'refused' && error.kind !== 'limit'))
    return error;
  const isPoor = error.kind === 'limit' || isInsufficient(error);
  const isNamed = available !== undefined && error.reason.includes(formatNumber(available));
  const have =
    isPoor && available !== undefined && !isNamed ? ` You have ${formatAmount(available)}.` : '';
  const where = error.code === undefined ? error.status : `${error.status}, code ${error.code}`;
  return new Failure(
    isPoor ? 'limit' : 'refused',
    `the service refused the ${what}: ${error.reason} (${where}).${have}`,
    { money: 'Nothing moved', status: error.status, code: error.code, txnId, cause: error },
  );
}

/**
 * Reports an unknown outcome if an earlier attempt may have paid, because the failure's "nothing
 * moved" is then true only for the latest attempt.
 */
export function truthful(payment: Payment, failure: Failure): Failure {
  const earlier = payment.attempts.slice(0, -1).find(mayHaveMoved);
  if (isUnknown(failure) || earlier === undefined) return failure;
  const why =
    'an earlier attempt may have moved money (the service reports ' +
    `${earlier.txnState ?? 'nothing'}). ${failure.message}`;
  const isUnresolved = outcomeOf(earlier) === 'unknown';
  const id = paymentName(payment.ref, earlier.txnId);
  const next = { do: isUnresolved ? 'retry' : 'resume', id } as const;
  return new Failure(isUnresolved ? 'outcome-unknown' : 'pending', why, {
    money: unknown,
    next,
    ...concerned(payment, earlier),
    cause: failure,
  });
}

/**
 * The failure to report if the journal fails after svcpay submitted the payment, which may have
 * moved money.
 */
export function journalLost(payment: Payment, cause: unknown): unknown {
  if (!(cause instanceof Failure) || !mayHavePaid(payment)) return cause;
  const attempt = decisive(payment);
  const { txnId, txnState } = attempt;
  const last = txnState === null ? '' : `, last reported as ${txnState}`;
  return new Failure('pending', `the payment was submitted${last}. ${cause.message}`, {
    money: unknown,
    next: { do: 'resume', id: txnId ?? payment.ref },
    ...concerned(payment, attempt),
    cause,
  });
}

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
