// Records in the journal what code outside the payment core has read of a payment's transaction,
// and whether the money of an attempt moved, after a person has asked the service. A recorded
// answer about an attempt neither permits a new payment nor changes the amounts that count against
// limits.
import { Failure } from '../../formats/failure.js';
import { type Journal, LostClaim } from '../../store/journal/journal.js';
import {
  type Attempt,
  differsFromOrder,
  latest,
  needsAnswer,
  type Payment,
  type Resolution,
} from '../../store/journal/payment.js';
import type { Transaction } from '../../api/types.js';
import { decodeOrder } from '../order/orders.js';
import { apply } from './apply.js';
import { emptyMemory, resultOf } from './model.js';

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
  throw new Failure(
    'usage',
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
  const claim = await journal.claim(id, owner);
  if (claim === undefined) throw beingWorkedOn(ref);
  try {
    const attempt = claim.payment.attempts.find((each) => each.number === number);
    if (attempt === undefined || !needsAnswer(attempt))
      throw nothingToResolve(claim.payment, attempt);
    await journal.write(claim, { attempt: { ...attempt, resolution } });
  } catch (error) {
    throw error instanceof LostClaim ? beingWorkedOn(ref) : error;
  } finally {
    await journal.release(claim).catch(() => undefined);
  }
}

function nothingToResolve(payment: Payment, attempt: Attempt | undefined): Failure {
  const { ref } = payment;
  const { state, txnId, txnState } = attempt ?? latest(payment);
  const is = txnState ?? state;
  return new Failure(
    'usage',
    `Nothing to record: ${ref} is ${is}. ` +
      'You can record a result only for an attempt with the outcome error or unknown.',
    { next: { do: 'show', id: txnId ?? ref }, txnId: txnId ?? undefined },
  );
}

const beingWorkedOn = (ref: string): Failure =>
  new Failure('temporary', `Nothing was recorded: another process is working on ${ref}.`, {
    hint: 'Run the command again when the other process has ended.',
  });

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
  const claim = await journal.claim(payment.id, owner);
  if (claim === undefined) return payment;
  try {
    const news = change(claim.payment, txn);
    return news === undefined ? claim.payment : (await journal.write(claim, news)).payment;
  } catch (error) {
    if (!(error instanceof LostClaim)) throw error;
    return payment;
  } finally {
    await journal.release(claim);
  }
}

function change(payment: Payment, txn: Transaction) {
  const attempt = payment.attempts.find(({ txnId }) => txnId === txn.txnId);
  if (attempt === undefined || differsFromOrder(attempt)) return undefined;
  const last = latest(payment);
  const memory = emptyMemory(last.state, false);
  const at = { ms: 0, service: 0 };
  return apply(
    { payment, attempt: last, order: decodeOrder(last.request), memory },
    { is: 'read', number: attempt.number, txn, at },
  ).change;
}
