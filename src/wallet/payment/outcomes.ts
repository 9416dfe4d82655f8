// How a run ends, in words: what happened to the money first, then why, then what to do next. Pure.
import { NoAnswer, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { formatAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { messageOf } from '../../formats/unknown.js';
import { latest, mayHaveMoved, type Payment } from '../../store/journal/payment.js';

/** An invoice is paid under the same reference wherever it is paid: `bolt11:HASH` gives `bolt11-HASH`. */
export const ownRef = (idempotencyKey: string): string => idempotencyKey.replace(':', '-');

export const interrupted = (): Failure => new Failure('interrupted', 'Interrupted: nothing moved.');

/** A reference stands for one payment for ever: another order under it is refused before anything is sent. */
export function differentPayment(ref: string, txnId: string | null): Failure {
  const which = txnId === null ? 'not created yet' : `transaction ${txnId}`;
  return new Failure(
    'usage',
    `Not sent: the reference ${ref} belongs to a different payment (${which}).`,
    {
      next: txnId === null ? { do: 'see-open-payments' } : { do: 'show', id: txnId },
      txnId: txnId ?? undefined,
    },
  );
}

/** What can be paid only once was submitted by another payment, or is paid. */
export function alreadyPaid(payment: Payment): Failure {
  const attempt = payment.attempts.find(mayHaveMoved) ?? latest(payment);
  const isOver = attempt.state === 'paid' || attempt.state === 'error';
  const how =
    attempt.state === 'paid'
      ? 'was already paid'
      : isOver
        ? 'was tried before and ended as error'
        : 'is already being paid';
  const which = attempt.txnId === null ? '' : ` (transaction ${attempt.txnId})`;
  return new Failure(
    'usage',
    `Not sent: this invoice ${how}, under the reference ${payment.ref}${which}.`,
    {
      next:
        isOver && attempt.txnId !== null
          ? { do: 'show', id: attempt.txnId }
          : { do: 'resume', id: payment.ref },
      txnId: attempt.txnId ?? undefined,
    },
  );
}

/** The same for a transaction of another home. */
export const paidElsewhere = ({ txnId, extRefId }: Transaction, ref: string): Failure =>
  new Failure(
    'usage',
    `Not sent: this invoice was already paid, under the reference ${extRefId ?? ref} (transaction ${txnId}).`,
    {
      next: { do: 'show', id: txnId },
      txnId,
    },
  );

export const usedButUnread = (ref: string, why: string, cause: unknown): Failure =>
  new Failure(
    'pending',
    `Outcome unknown: the service reports that the reference ${ref} was used, and ${why}`,
    {
      next: { do: 'resume', id: ref },
      cause,
    },
  );

/** `expired` or `usercanceled` after submission proves nothing. */
export const unresolved = (
  ref: string,
  { txnId, txnState }: { readonly txnId: string | null; readonly txnState: string | null },
): Failure =>
  new Failure(
    'pending',
    `Outcome unknown: the service reports ${txnState ?? 'nothing'}, but the payment had been submitted. It may still have paid.`,
    {
      hint: 'Ask the service what happened to it. If nothing was paid, try again',
      next: { do: 'retry', id: ref },
      txnId: txnId ?? undefined,
    },
  );

/** Why a transaction that lapsed is no end: it was submitted here. Undefined if it was not. */
export function unresolvedTransaction(
  payment: Payment | undefined,
  { txnId, txnState }: Transaction,
): Failure | undefined {
  const attempt = payment?.attempts.find((each) => each.txnId === txnId);
  if (payment === undefined || attempt === undefined || !mayHaveMoved(attempt)) return undefined;
  if (attempt.number === latest(payment).number)
    return unresolved(payment.ref, { txnId, txnState });
  return new Failure(
    'pending',
    `Outcome unknown: the service reports ${txnState}, but this attempt had been submitted. A later attempt followed it.`,
    {
      hint: 'Ask the service what happened to it. To see the payment',
      next: { do: 'resume', id: payment.ref },
      txnId,
    },
  );
}

/** The service answered the creation with another transaction, which is past its quote. */
export const notOrdered = ({ txnId, txnState }: Transaction): Failure =>
  new Failure(
    'pending',
    `Outcome unknown: the service answered the request for a quote with transaction ${txnId} (${txnState}), which is not what was asked for.`,
    {
      next: { do: 'show', id: txnId },
      txnId,
    },
  );

/** The specification leaves open what `error` means for the money. */
export function ended(
  ref: string,
  { txnId, txnState }: Pick<Transaction, 'txnId' | 'txnState'>,
  canRetry: boolean,
): Failure {
  const message =
    txnState === 'error'
      ? 'The transaction ended as error. Ask the service what happened to the money.'
      : `Not paid: the transaction ended as ${txnState}.`;
  return new Failure('payment-failed', message, {
    next: canRetry ? { do: 'retry', id: ref } : { do: 'show', id: txnId },
    txnId,
  });
}

/** A confirmation whose effect cannot be read now. */
export function confirmationUnknown(txnId: string, error: unknown, wasRepeated: boolean): Failure {
  const why =
    error instanceof NoAnswer
      ? 'the service did not answer the confirmation'
      : `the effect of the confirmation could not be read${reasonOf(error)}`;
  const tried = wasRepeated
    ? 'The same transaction was confirmed again. No second attempt was made.'
    : 'No second attempt was made.';
  return new Failure('pending', `Outcome unknown: ${why}. ${tried}`, {
    next: { do: 'resume', id: txnId },
    txnId,
    cause: error,
  });
}

const reasonOf = (error: unknown): string =>
  error instanceof ServiceError ? ` (the service answered: ${error.reason})` : '';

/** A payment that is on its way, and that this run stops watching. */
export function stillOnItsWay(
  { txnId, txnState }: Pick<Transaction, 'txnId' | 'txnState'>,
  why: string,
  cause?: Failure,
): Failure {
  const reason = cause === undefined ? why : `${why}: ${cause.message.replace(/\.$/, '')}`;
  return new Failure(
    'pending',
    `Outcome unknown: ${reason}. The payment continues (${txnState}).`,
    { next: { do: 'resume', id: txnId }, txnId, cause },
  );
}

/** A payment that was submitted and cannot be read. */
export function unreadable({ ref, attempts }: Payment, cause: unknown): Failure {
  if (cause instanceof Failure && cause.kind === 'pending') return cause;
  const { txnId, txnState, state } = attempts.findLast(mayHaveMoved) ?? {
    txnId: null,
    txnState: null,
    state: 'unknown',
  };
  const what =
    state === 'paid'
      ? `Paid before, under the reference ${ref}`
      : 'Outcome unknown: the payment was submitted';
  const last = txnState === null || state === 'paid' ? '' : `, last reported as ${txnState}`;
  return new Failure('pending', `${what}${last}, and cannot be read now: ${messageOf(cause)}`, {
    next: { do: state === 'paid' ? 'show' : 'resume', id: txnId ?? ref },
    txnId: txnId ?? undefined,
    cause,
  });
}

/** Nothing was quoted, and nothing moved. */
export function noQuote(error: unknown): Failure {
  if (error instanceof Failure && error.kind === 'temporary' && !(error instanceof NoAnswer))
    return error;
  return new Failure(
    'temporary',
    'Nothing moved: the service did not answer the request for a quote.',
    {
      hint: 'Run the same command again.',
      status: error instanceof Failure ? error.status : undefined,
      cause: error,
    },
  );
}

export const everyQuoteExpired = (): Failure =>
  new Failure('temporary', 'Nothing moved: every quote expired before it was confirmed.', {
    hint: 'Run it again with a standing yes: without a question the quote is confirmed at once.',
  });

/** Imported after a restore: another attempt could ask for something other than the first. */
export const importedInPart = ({ ref }: Payment, txnId: string | null): Failure =>
  new Failure(
    'usage',
    `Not sent: the payment ${ref} was imported from the service, which does not return enough to try it again.`,
    {
      hint: 'Pay it under a new reference.',
      txnId: txnId ?? undefined,
    },
  );

/** Only a command that asks for it again reopens an abandoned payment. */
export const isAbandoned = (payment: Payment): Failure =>
  new Failure(
    'usage',
    `Not sent: the payment ${payment.ref} was abandoned before anything moved.`,
    {
      hint: `If you still want it, run its command again with the reference ${payment.ref}.`,
      txnId: latest(payment).txnId ?? undefined,
    },
  );

/** Codes of live services: a code that is known decides, otherwise the specification's words do. */
const isInsufficient = ({ code, reason }: ServiceError): boolean =>
  !/^(?:100[1-3]|200[1-7]|300[12])$/.test(code ?? '') && /insufficient/i.test(reason);

/** A refusal of the service; exit 7 if the funds are too small. */
export function refused(
  what: 'quote' | 'confirmation',
  error: Failure,
  available?: Money,
  txnId?: string,
): Failure {
  if (!(error instanceof ServiceError) || (error.kind !== 'refused' && error.kind !== 'limit'))
    return error;
  const isPoor = error.kind === 'limit' || isInsufficient(error);
  const have = isPoor && available !== undefined ? ` You have ${formatAmount(available)}.` : '';
  const where = error.code === undefined ? error.status : `${error.status}, code ${error.code}`;
  return new Failure(
    isPoor ? 'limit' : 'refused',
    `Nothing moved: the service refused the ${what}: ${error.reason} (${where}).${have}`,
    {
      status: error.status,
      code: error.code,
      txnId,
      cause: error,
    },
  );
}

/** That nothing moved is true of the latest attempt alone while an earlier one may have paid. */
export function truthful(payment: Payment, failure: Failure): Failure {
  const earlier = payment.attempts.slice(0, -1).find(mayHaveMoved);
  if (failure.kind === 'pending' || earlier === undefined) return failure;
  const message = `Outcome unknown: an earlier attempt may have paid (the service reports ${earlier.txnState ?? 'nothing'}). ${failure.message}`;
  const next = { do: earlier.state === 'unknown' ? 'retry' : 'resume', id: payment.ref } as const;
  return new Failure('pending', message, {
    next,
    txnId: earlier.txnId ?? undefined,
    cause: failure,
  });
}

/** A journal that fails proves nothing about a payment that was submitted. */
export function journalLost(payment: Payment, cause: unknown): unknown {
  if (!(cause instanceof Failure) || !payment.attempts.some(mayHaveMoved)) return cause;
  const { txnId, txnState } = payment.attempts.findLast(mayHaveMoved) ?? latest(payment);
  const last = txnState === null ? '' : `, last reported as ${txnState}`;
  return new Failure(
    'pending',
    `Outcome unknown: the payment was submitted${last}. ${cause.message}`,
    {
      next: { do: 'resume', id: txnId ?? payment.ref },
      txnId: txnId ?? undefined,
      cause,
    },
  );
}
