// What a reference stands for: one payment for ever, whatever number of attempts it takes.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import type { Intent } from '../../store/journal/journal.js';
import { wasConfirmedAs } from '../../store/journal/rules.js';

/** The reference of what can be paid once only, the same wherever it is tried: `bolt11:HASH` gives `bolt11-HASH`. */
export const onceRef = (onceKey: string): string => onceKey.replace(':', '-');

/** A reference stands for one payment for ever: another one under it is refused before anything is sent. */
export function differentPayment(ref: string, txnId: string | null): Failure {
  const which = txnId === null ? 'not created yet' : `transaction ${txnId}`;
  return new Failure('usage', `Not sent: the reference ${ref} belongs to a different payment (${which}).`, {
    next: txnId === null ? { do: 'see-open-payments' } : { do: 'show', id: txnId },
    txnId: txnId ?? undefined,
  });
}

/** What can be paid once only is refused when it was let go, or is open, as another payment. */
export function alreadyPaid({ ref, step, txnId, txnState }: Pick<Intent, 'ref' | 'step' | 'txnId' | 'txnState'>): Failure {
  const isOver = txnState === 'completed' || txnState === 'error';
  const how =
    txnState === 'completed' ? 'was already paid'
    : txnState === 'error' ? 'was tried before, and ended as error'
    : step === 'intent' || step === 'created' ? 'is already to be paid'
    : 'is already on its way';
  const which = txnId === null ? '' : ` (transaction ${txnId})`;
  return new Failure('usage', `Not sent: this invoice ${how}, under the reference ${ref}${which}.`, {
    next: isOver && txnId !== null ? { do: 'show', id: txnId } : { do: 'resume', id: ref },
    txnId: txnId ?? undefined,
  });
}

/** The same, of a transaction that another machine made: the journal here does not know it. */
export function paidElsewhere({ txnId, txnState, extRefId }: Transaction, ref: string): Failure {
  const how = txnState === 'completed' ? 'was already paid' : `is already being paid (${txnState})`;
  return new Failure('usage', `Not sent: this invoice ${how}, under the reference ${extRefId ?? ref} (transaction ${txnId}).`, {
    next: { do: 'show', id: txnId },
    txnId,
  });
}

/** The service refuses the reference as used, and its list does not show by what: another machine may be paying. */
export function usedButNotSeen(ref: string, cause: unknown): Failure {
  const message = `Not known yet: the service says that the reference ${ref} was used, and does not show by which transaction.`;
  return new Failure('pending', message, { next: { do: 'resume', id: ref }, cause });
}

/** The service lists a transaction under the reference, and does not find it: another machine may have paid with it. */
export function listedButNotFound({ ref }: Pick<Intent, 'ref'>, txnId: string, cause: unknown): Failure {
  const message = `Not known yet: the service lists transaction ${txnId} for the reference ${ref}, and does not find it.`;
  return new Failure('pending', message, { next: { do: 'resume', id: ref }, txnId, cause });
}

/** The service says that a quote lapsed whose confirmation was sent: a read may lag, and only a person goes on from there. */
export function inDoubt({ ref }: Pick<Intent, 'ref'>, { txnId, txnState }: { readonly txnId: string | undefined; readonly txnState: string }): Failure {
  const message = `Not known yet: the service says ${txnState}, and the payment had been confirmed. It may still have paid.`;
  return new Failure('pending', message, {
    hint: 'Ask the service what became of it; if nothing was paid, try once more',
    next: { do: 'retry', id: ref },
    txnId,
  });
}

/** The doubt that a lapsed transaction of a payment leaves: of its present attempt, or of one that another was made after. */
export function doubtAbout(intent: Intent | undefined, txn: Transaction): Failure | undefined {
  if (intent === undefined || !wasConfirmedAs(intent, txn.txnId)) return undefined;
  if (intent.txnId === txn.txnId) return inDoubt(intent, txn);
  const message = `Not known yet: the service says ${txn.txnState}, and it had been confirmed. The payment was tried again after it.`;
  return new Failure('pending', message, {
    hint: 'Ask the service what became of it. What became of the payment',
    next: { do: 'resume', id: intent.ref },
    txnId: txn.txnId,
  });
}
