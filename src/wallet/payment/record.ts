// Changes a payment of the journal outside its runs: records what other code has read, records a
// person's answer whether money moved, and cancels a quote. A recorded answer neither permits a new
// payment nor changes the amounts that count against limits.
import { Failure, invalid } from '../../formats/failure.js';
import { underClaim, type Claim, type Journal } from '../../store/journal/journal.js';
import {
  attemptOf,
  type Attempt,
  differsFromOrder,
  latest,
  needsAnswer,
  type Payment,
  type Resolution,
  mayHaveMoved,
} from '../../store/journal/payment.js';
import type { Transaction } from '../../api/types.js';
import { decodeOrder } from '../order/orders.js';
import { apply } from './apply.js';
import { emptyMemory, resultOf } from './model.js';
import { CancelNotOffered, ServiceError } from '../../api/errors.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';
import { unresolvedTransaction } from './outcomes.js';
import { transactionConcerned } from '../transaction/read.js';

/**
 * Finds the attempt with the transaction id `name`, otherwise the only attempt whose outcome no
 * person has reported. Throws Failure `usage` if no attempt or several attempts match the name.
 */
export function attemptToResolve(payment: Payment, name: string): Attempt {
  const candidates = payment.attempts.filter(needsAnswer);
  const begins = ({ txnId }: Attempt): boolean => txnId?.startsWith(name.toLowerCase()) === true;
  const named = name === payment.ref ? undefined : payment.attempts.find(begins);
  const open = candidates.filter(({ resolution }) => resolution === null);
  const [first, ...others] = named === undefined ? (open.length > 0 ? open : candidates) : [named];
  if (first === undefined || !needsAnswer(first)) throw nothingToResolve(payment, first);
  if (others.length === 0) return first;
  const ids = [first, ...others].map(({ txnId }) => txnId).join(', ');
  throw invalid(
    `Several attempts of ${payment.ref} have no reported outcome. ` +
      `Name one of the transactions: ${ids}.`,
    { next: { do: 'resolve', id: first.txnId ?? payment.ref } },
  );
}

/** Rejects with Failure `temporary` while another process is working on the payment. */
export async function recordResolution(
  { id, ref }: Payment,
  number: number,
  resolution: Resolution,
  journal: Journal,
  owner: string,
): Promise<void> {
  const written = await underClaim(journal, id, owner, (claim) => {
    const attempt = claim.payment.attempts.find((each) => each.number === number);
    if (attempt === undefined || !needsAnswer(attempt))
      throw nothingToResolve(claim.payment, attempt);
    return journal.write(claim, { attempt: { ...attempt, resolution } });
  });
  if (written !== undefined) return;
  throw new Failure('temporary', `Nothing was recorded: another process is working on ${ref}.`, {
    hint: 'Run the command again when the other process has ended.',
  });
}

function nothingToResolve(payment: Payment, attempt: Attempt | undefined): Failure {
  const { ref } = payment;
  const { state, txnId, txnState } = attempt ?? latest(payment);
  const is = txnState ?? state;
  return invalid(
    `Nothing to record: ${ref} is ${is}. ` +
      'You can record a result only for an attempt with the outcome error or unknown.',
    { next: { do: 'show', id: txnId ?? ref }, txnId: txnId ?? undefined },
  );
}

/**
 * Records that a transaction is under way or has ended, and resolves with the payment as recorded.
 * A quoted, expired or cancelled transaction changes nothing in the journal, because only a run of
 * the payment records these states. If another process is working on the payment, that process
 * records the state itself.
 */
export async function recordRead(
  payment: Payment,
  txn: Transaction,
  journal: Journal,
  owner: string,
): Promise<Payment> {
  if (['quoted', 'lapsed'].includes(resultOf(txn.txnState)) || change(payment, txn) === undefined)
    return payment;
  const after = await underClaim(journal, payment.id, owner, async (claim) => {
    const news = change(claim.payment, txn);
    return news === undefined ? claim : journal.write(claim, news);
  });
  return after?.payment ?? payment;
}

function change(payment: Payment, txn: Transaction) {
  const attempt = attemptOf(payment, txn.txnId);
  if (attempt === undefined || differsFromOrder(attempt)) return undefined;
  const last = latest(payment);
  const memory = emptyMemory(last.state, false);
  const at = { ms: 0, service: 0 };
  return apply(
    { payment, attempt: last, order: decodeOrder(last.request), memory },
    { is: 'read', number: attempt.number, txn, at },
  ).change;
}

export interface CancelDeps {
  readonly service: {
    transaction(txnId: string): Promise<Transaction>;
    cancelTransaction(txnId: string): Promise<Transaction>;
  };
  readonly journal: Journal;
  readonly scope: string;
  readonly owner: string;
}

/**
 * Resolves with the transaction, which is `usercanceled` or had already expired. Throws Failure
 * `refused` if the transaction can no longer be cancelled, or if the service does not offer
 * cancellation.
 */
export async function cancelQuote(txnId: string, deps: CancelDeps): Promise<Transaction> {
  const { journal, scope, service, owner } = deps;
  const payment = await journal.find(scope, txnId);
  const txn = await service.transaction(txnId);
  if (hasLapsed(txn.txnState)) return lapsed(txn, payment);
  if (!isQuoted(txn.txnState)) throw tooLate(txn);
  if (payment === undefined || latest(payment).txnId !== txnId) {
    const { txn: ended } = await cancelOrRead(txn, deps);
    return hasLapsed(ended.txnState) ? lapsed(ended, payment) : ended;
  }
  const cancelled = await underClaim(journal, payment.id, owner, (taken) =>
    cancelClaimed(txn, taken, deps),
  );
  if (cancelled !== undefined) return cancelled;
  throw new Failure('refused', 'Not cancelled: another process is working on this payment.', {
    hint: 'Decline the quote in the other svcpay process, or interrupt that process.',
    txnId,
  });
}

/**
 * Cancels the quote of a claimed payment, and abandons the payment, so that `tx resume` does not
 * ask about it again. A payment that may have been submitted stays open. If another process has
 * started the payment's next attempt, the cancellation leaves the payment unchanged.
 */
async function cancelClaimed(
  txn: Transaction,
  taken: Claim,
  deps: CancelDeps,
): Promise<Transaction> {
  const { journal } = deps;
  const attempt = latest(taken.payment);
  const isOwn = attempt.txnId === txn.txnId && attempt.state === 'quoted';
  const claim = isOwn ? await journal.write(taken, { abandoned: true }) : taken;
  const { txn: ended, isCancelled } = await cancelOrRead(txn, deps);
  if (!hasLapsed(ended.txnState)) return ended;
  // The attempt lapses here only if svcpay cancelled the quote, because a single read that reports
  // `expired` may be stale.
  if (isOwn && isCancelled)
    await journal.write(claim, {
      attempt: { ...attempt, state: 'lapsed', txnState: ended.txnState },
    });
  return lapsed(ended, claim.payment);
}

/**
 * Throws if the payment was submitted, because an expired or cancelled state then does not prove
 * that no money moved.
 */
function lapsed(txn: Transaction, payment: Payment | undefined): Transaction {
  const failure = unresolvedTransaction(payment, txn);
  if (failure !== undefined) throw failure;
  const attempt = attemptOf(payment, txn.txnId);
  if (attempt !== undefined && mayHaveMoved(attempt)) throw tooLate(txn);
  return txn;
}

/**
 * Cancels the quote. If the service refuses the cancellation, reads the transaction, which may have
 * lapsed. `isCancelled` is true if the service accepted the cancellation.
 */
async function cancelOrRead(
  txn: Transaction,
  { service }: CancelDeps,
): Promise<{ readonly txn: Transaction; readonly isCancelled: boolean }> {
  try {
    return { txn: await service.cancelTransaction(txn.txnId), isCancelled: true };
  } catch (error) {
    if (error instanceof CancelNotOffered) throw expiresByItself(txn, error);
    if (!(error instanceof ServiceError) || error.kind !== 'refused') throw error;
    const after = await service.transaction(txn.txnId);
    if (hasLapsed(after.txnState)) return { txn: after, isCancelled: false };
    throw isQuoted(after.txnState) ? error : tooLate(after);
  }
}

function tooLate(txn: Transaction): Failure {
  const { txnId, txnState } = txn;
  return new Failure(
    'refused',
    `Not cancelled: this transaction is ${txnState}, and only a quote can be cancelled.`,
    {
      next: { do: 'show', id: txnId },
      ...transactionConcerned(txn),
    },
  );
}

function expiresByItself(txn: Transaction, cause: CancelNotOffered): Failure {
  const { expiresAt } = txn.sourceReq;
  const when = expiresAt == null ? 'soon' : `at ${new Date(expiresAt).toISOString()}`;
  return new Failure(
    'refused',
    `the service cannot cancel quotes. This quote expires unconfirmed ${when}.`,
    { money: 'Nothing moved', status: cause.status, ...transactionConcerned(txn), cause },
  );
}
