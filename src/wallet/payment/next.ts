// The only file that decides the next step of a payment, from its attempts and the data of this
// run. Pure. Each attempt state has its own rule, which is a function. docs/payments.md lists the
// rules with their reasons.
import type { Transaction } from '../../api/types.js';
import { Failure, isUnknown } from '../../formats/failure.js';
import { policies, staleForMs, stalePause, pauseAfter } from '../../formats/poll.js';
import { knownStates } from '../../formats/states.js';
import { mayHaveMoved, outcomeOf, type Attempt } from '../../store/journal/payment.js';
import { paceOf, pauseBefore } from '../transaction/read.js';
import {
  readsOf,
  resultOf,
  txnOf,
  type RunMemory,
  type Now,
  type Outcome,
  type Ended,
  type Quoted,
  type Reads,
  type Requesting,
  type Run,
  type Settling,
  type Step,
  type Submitting,
  type RunGoal,
} from './model.js';
import * as outcomes from './outcomes.js';
import { referenceUse } from './outcomes.js';

/** A run at one moment, with the data of its phase. */
type Situation<K extends RunMemory = RunMemory> = Omit<Run, 'memory'> &
  K & { readonly goal: RunGoal; readonly now: Now };

/** The next step, or the failure that ends the run. */
type Decision = Step | Failure;

export function next({ memory, ...run }: Run, goal: RunGoal, now: Now): Step {
  const situation: Situation = { ...memory, ...run, goal, now };
  const decision = decide(situation);
  const step = decision instanceof Failure ? fail(situation, decision) : decision;
  if (memory.isInterrupted !== true || concludes.has(step.do)) return step;
  const { attempt, payment } = run;
  if (!mayHaveMoved(attempt)) return fail(situation, outcomes.interrupted());
  return fail(
    situation,
    outcomeOf(attempt) === 'unknown'
      ? outcomes.unresolved(payment.ref, attempt)
      : stopWatching(situation, outcomes.sent),
  );
}

/** The steps that send no request, which an interrupted run completes before it ends. */
const concludes: ReadonlySet<Step['do']> = new Set(['stop', 'lapse', 'withdraw']);

function decide(situation: Situation): Decision {
  const { payment, attempt, goal, earlierRead } = situation;
  const isUnderWay = underWay.has(attempt.state);
  const earlier = payment.attempts.filter(({ number }) => number < attempt.number);
  const paidBefore = earlier.find((each) => outcomeOf(each) === 'paid');
  if (paidBefore !== undefined && !isUnderWay) return reportPaid(situation, paidBefore);
  if (goal.onlyTxnId !== undefined && attempt.txnId !== goal.onlyTxnId)
    return outcomes.differentPayment(payment);
  const unresolved = earlier.filter(
    (each) => outcomeOf(each) === 'unknown' || underWay.has(each.state),
  );
  const unread = unresolved.find(({ number }) => !earlierRead.includes(number));
  if (unread !== undefined && !isUnderWay) return { do: 'read', attempt: unread };
  // If a payment was abandoned after an unresolved attempt, only a new `--retry` reopens the
  // payment.
  const [first] = unresolved;
  if (first !== undefined && payment.abandoned && !isUnderWay)
    return outcomes.unresolved(payment.ref, first);
  switch (situation.phase) {
    case 'requesting':
      return requested(situation);
    case 'quoted':
      return quoted(situation);
    case 'submitting':
      return submitting(situation);
    case 'settling':
      return attempt.state === 'unknown' ? unknown(situation) : inFlight(situation);
    case 'ended':
      if (outcomeOf(attempt) === 'paid') return reportPaid(situation, attempt);
      return attempt.state === 'lapsed' ? lapsed(situation) : failed(situation);
  }
}

const underWay: ReadonlySet<Attempt['state']> = new Set(['submitting', 'in-flight']);

/**
 * Whether this run replaces the stored terms with its own terms, and reopens the payment if it was
 * abandoned. The stored terms of a payment stay unchanged if money may have moved. A run that only
 * shows a quote does not change the stored terms.
 */
export function isReopened(
  { payment, attempt }: Run,
  { until, leaveOpen, retryUpTo, terms }: RunGoal,
): boolean {
  const isUnknown = payment.attempts.some((each) => outcomeOf(each) === 'unknown');
  if (isUnknown && retryUpTo === 0) return false;
  const isChanged = terms !== undefined || payment.abandoned;
  return (
    isChanged && until !== 'quoted' && leaveOpen !== 'if-recoverable' && !mayHaveMoved(attempt)
  );
}

/**
 * Sends the create request before any search. svcpay searches the service's list only if the
 * service may have refused the request because its reference is already used.
 */
function requested(situation: Situation<Requesting>): Decision {
  const { sending, stopped, lookup, funds, now, payment, goal } = situation;
  const { tries, refusal, error, isUnanswered, atMs } = sending;
  const use = refusal && referenceUse(refusal, isUnanswered, goal.reference === 'generated');
  if (stopped !== undefined) {
    // The money may have moved, because the service reports the reference as used and svcpay cannot
    // read its transaction.
    const isUnknown = use?.isCertain === true && readFailures.has(stopped.kind);
    const why = `svcpay cannot read the transaction with this reference: ${stopped.message}`;
    return isUnknown ? outcomes.usedButUnread(payment.ref, why, stopped) : stopped;
  }
  if (tries === 0) return { do: 'create' };
  if (refusal === undefined) {
    const pause = pauseBefore(tries, error);
    if (tries >= policies.createRequest.turns || pause === undefined)
      return outcomes.noQuote(error);
    return waitUntil(atMs + pause, now, { do: 'create' });
  }
  if (use !== undefined && lookup === undefined) return { do: 'find', depth: use.depth };
  if (use === undefined || lookup === undefined || !use.isCertain)
    return outcomes.refused('quote', refusal, funds?.available);
  if (now.ms - lookup.sinceMs >= staleForMs) {
    const why = "the service's list does not show the transaction.";
    return outcomes.usedButUnread(payment.ref, why, refusal);
  }
  return waitUntil(lookup.atMs + stalePause(lookup.count), now, { do: 'find', depth: use.depth });
}

const readFailures: ReadonlySet<Failure['kind']> = new Set([
  'temporary',
  'refused',
  'authentication',
  'not-found',
]);

/** Handles a `quoted` attempt: shows the quote, and then submits it or lets it lapse. */
function quoted(situation: Situation<Quoted>): Decision {
  const { reads, txn, approval, cancel, stopped, attempt, goal, payment } = situation;
  if (stopped !== undefined) return stopped;
  const isFresh =
    reads === undefined && approval !== 'asked' && cancel === undefined && txn !== undefined;
  const result = isFresh ? resultOf(txn.txnState) : reads?.result;
  if (result === 'quoted') return validQuote(situation);
  if (reads === undefined) return { do: 'read', attempt };
  if (result === 'unreadable' || result === 'unanswered')
    return reads.error ?? outcomes.interrupted();
  if (goal.onlyTxnId !== undefined) {
    const end = { txnId: goal.onlyTxnId, txnState: txn?.txnState ?? '' };
    return reads.error ?? outcomes.ended(payment.ref, end, false);
  }
  // If svcpay did not cancel the quote, it reads a lapsed quote again for 8 s, in case a different
  // program submitted the quote and the read was stale.
  return cancel === 'done' || hasHeld(reads) ? { do: 'lapse' } : readAgain(situation, reads);
}

/**
 * Shows and submits a quote that the service still reports as `quoted`, or cancels an expired
 * quote.
 */
function validQuote(situation: Situation<Quoted>): Step {
  const { approval, cancel, reads, txn, shown, isMisdated, goal, now, attempt } = situation;
  if (goal.until === 'quoted' && shown === true && txn !== undefined)
    return stop({ txn }, goal.leaveOpen !== 'always');
  if (approval === undefined) return { do: 'approve' };
  const expiresAt = txn?.sourceReq.expiresAt ?? Number.POSITIVE_INFINITY;
  const hasExpired =
    approval === 'prompt-expired' || (expiresAt <= now.service && isMisdated !== true);
  if (!hasExpired || (goal.onlyTxnId !== undefined && approval !== 'prompt-expired'))
    return { do: 'submit' };
  if (cancel === undefined) return { do: 'cancel' };
  if (reads === undefined) return { do: 'read', attempt };
  // If the service reports `quoted` for 8 s after the expiry time, the quote is still valid,
  // because the service's clock decides whether a quote has expired.
  if (!hasHeld(reads)) return readAgain(situation, reads);
  return approval === 'prompt-expired' ? { do: 'approve' } : { do: 'submit' };
}

/**
 * Handles a `submitting` attempt: confirms the quote, and reads the transaction after an unanswered
 * confirmation. svcpay repeats a confirmation only for the same transaction.
 */
function submitting(situation: Situation<Submitting>): Decision {
  const { sending, reads, txn, stopped, isInterrupted, submittedHere } = situation;
  const { attempt, now, goal, payment } = situation;
  const { tries, isUnanswered, refusal, error, atMs } = sending;
  // If svcpay withdrew the submission but could not record the withdrawal in the journal, the run
  // reports an unknown outcome.
  if (stopped !== undefined) return outcomes.unreadable(payment, stopped);
  // A run that only shows a quote reads the submitted payment without changing it.
  if (goal.until === 'quoted') {
    if (reads === undefined) return { do: 'read', attempt };
    return txn === undefined ? outcomes.unreadable(payment, reads.error) : stop({ txn }, false);
  }
  const isSent = isUnanswered || refusal !== undefined;
  if (isInterrupted === true) {
    if (isSent && submittedHere !== true) return confirmationUnknown(situation);
    return isSent
      ? outcomes.leftUnanswered(attempt)
      : { do: 'withdraw', failure: outcomes.interrupted() };
  }
  if (refusal !== undefined) return judgeRefusal(situation);
  const pause = tries === 0 ? 0 : pauseBefore(tries, error);
  if (isUnanswered && reads === undefined)
    return waitUntil(atMs + (pause ?? 0), now, { do: 'read', attempt });
  if (isUnanswered && reads !== undefined && reads.result !== 'quoted') {
    const isLast =
      reads.count >= policies.confirmation.turns || reads.error?.kind === 'authentication';
    return isLast ? confirmationUnknown(situation) : readAgain(situation, reads);
  }
  if (tries < policies.confirmation.turns && pause !== undefined)
    return waitUntil(atMs + pause, now, { do: 'confirm' });
  return isUnanswered || error === undefined
    ? confirmationUnknown(situation)
    : { do: 'withdraw', failure: error };
}

/**
 * Decides whether the refusal of a confirmation is final, whatever the text of the refusal. The
 * refusal of a confirmation is final if no other confirmation can have taken effect and all reads
 * in a period of 8 s report `quoted`. The service may refuse a confirmation because an earlier copy
 * of the confirmation took effect. Until the refusal of its confirmation is final, the attempt
 * stays `submitting`.
 */
function judgeRefusal(situation: Situation<Submitting>): Decision {
  const { reads, sending, attempt, now } = situation;
  if (reads === undefined) return { do: 'read', attempt };
  const { isUnanswered, atMs } = sending;
  if (reads.result === 'quoted' && !isUnanswered && hasHeld(reads)) return { do: 'lapse' };
  const isTooLong = now.ms - atMs >= 2 * staleForMs;
  return isTooLong || (isUnanswered && hasHeld(reads))
    ? confirmationUnknown(situation)
    : readAgain(situation, reads);
}

const confirmationUnknown = ({ attempt, sending, reads }: Situation<Submitting>): Failure =>
  outcomes.confirmationUnknown(attempt, sending.error ?? reads?.error, sending.tries > 1);

/** Handles a payment that is under way, whose outcome only the service can report. */
function inFlight(situation: Situation<Settling>): Decision {
  const { reads, txn, sinceMs, attempt, goal, now } = situation;
  if (txn === undefined && reads === undefined) return { do: 'read', attempt };
  if (reads?.error !== undefined && endsWait(situation, reads))
    return stopWatching(situation, outcomes.unread, reads.error);
  if (goal.until !== 'settled' && txn !== undefined) return acknowledged(situation, txn);
  const waited = now.ms - sinceMs;
  if (waited >= goal.waitMs) return stopWatching(situation, outcomes.sent);
  const last = Math.max(reads?.atMs ?? sinceMs, sinceMs);
  const pace = policies[txn === undefined ? 'steady' : paceOf(txn)];
  const pause = pauseAfter(pace, { number: 1, waitedMs: last - sinceMs }) ?? 0;
  return waitUntil(Math.min(last + pause, sinceMs + goal.waitMs), now, { do: 'read', attempt });
}

/**
 * Stops a run that waits only for the service to accept the payment. A state outside the
 * specification does not prove that the service has accepted the payment.
 */
function acknowledged({ attempt, payment }: Situation<Settling>, txn: Transaction): Decision {
  // An attempt that the service once reported as lapsed keeps this state until its final state.
  const { txnState } = attempt.state === 'unknown' ? txn : attempt;
  if (txnState !== null && knownStates.includes(txnState))
    return stop({ txn: { ...txn, txnState } }, false);
  const cause = `the service reports the state ${txnState}, which is not recognized.`;
  return outcomes.unreadable(payment, new Error(cause));
}

/**
 * Whether a failed read ends the wait for the settlement. If no read has succeeded, any failed read
 * ends the wait for the settlement. Once a read has succeeded, a missing response never ends the
 * wait, and `not-found` ends only a wait that has lasted 8 s. The third unreadable response in a
 * row or a refused sign-in also ends the wait for the settlement.
 */
function endsWait({ txn, sinceMs, now }: Situation<Settling>, { result, count, error }: Reads) {
  if (txn === undefined) return true;
  if (result === 'not-found') return now.ms - sinceMs >= staleForMs;
  return result === 'unreadable' && (count >= 3 || error?.kind === 'authentication');
}

const noAnswerYet = (): Error => new Error('the service did not answer before this run ended.');

const stopWatching = (
  situation: Situation,
  inWords: (attempt: Attempt, cause?: Failure) => Failure,
  cause?: Failure,
): Failure =>
  txnOf(situation) === undefined
    ? outcomes.unreadable(situation.payment, cause ?? noAnswerYet())
    : inWords(situation.attempt, cause);

/**
 * Handles `expired` or `usercanceled` after submission. svcpay reads the transaction repeatedly for
 * 8 s. If the transaction is still lapsed after 8 s, the attempt stays `unknown`, and only a person
 * can start a further attempt.
 */
function unknown(situation: Situation<Settling>): Decision {
  const { reads, submittedHere, attempt, payment } = situation;
  if (reads === undefined) return { do: 'read', attempt };
  if (reads.result === 'moving') return inFlight(situation);
  if (reads.error !== undefined)
    return endsWait(situation, reads) || hasHeld(reads)
      ? outcomes.unreadable(payment, reads.error)
      : readAgain(situation, reads);
  const outcome = outcomeOf(attempt);
  if (outcome === 'paid') return reportPaid(situation, attempt);
  if (reads.result === 'lapsed' && submittedHere !== true && mayOpenAttempt(situation))
    return openAttempt(situation);
  if (outcome === 'failed') return outcomes.ended(payment.ref, attempt, true);
  return hasHeld(reads) ? outcomes.unresolved(payment.ref, attempt) : readAgain(situation, reads);
}

/** @param paid the attempt that paid, which need not be the latest attempt */
function reportPaid(situation: Situation, paid: Attempt): Decision {
  const { earlierPaid, earlierRead, payment, attempt } = situation;
  const reads = readsOf(situation);
  const isLatest = paid.number === attempt.number;
  const txn = isLatest ? txnOf(situation) : earlierPaid;
  const recorded = paid.resolution ?? undefined;
  if (txn !== undefined)
    return stop(recorded ? { txn, recorded } : { txn: { ...txn, txnState: 'completed' } }, false);
  const isRead = isLatest ? reads !== undefined : earlierRead.includes(paid.number);
  return isRead
    ? outcomes.unreadable(payment, reads?.error ?? new Error('no answer.'))
    : { do: 'read', attempt: paid };
}

/**
 * Handles a `failed` or `error` attempt. The journal's state alone does not permit a new attempt,
 * so svcpay reads the transaction again. A run that confirmed the attempt only reports how the
 * attempt ended, because a further attempt requires a later run.
 */
function failed(situation: Situation<Ended>): Decision {
  const { reads, txn, submittedHere, attempt, payment, goal } = situation;
  if (reads === undefined) return { do: 'read', attempt };
  const { result, error } = reads;
  if (error !== undefined)
    return attempt.state === 'error' ? outcomes.unreadable(payment, error) : error;
  if (result === 'moving' || result === 'completed' || result === 'quoted') {
    const cause = `the service reported ${attempt.txnState}, but now reports ${txn?.txnState}.`;
    return outcomes.unreadable(payment, new Error(cause));
  }
  const hasFailed = outcomeOf(attempt) === 'failed';
  if (hasFailed && submittedHere !== true && mayOpenAttempt(situation))
    return openAttempt(situation);
  const canRetry = hasFailed && goal.leaveOpen !== 'if-recoverable';
  return outcomes.ended(payment.ref, attempt, canRetry);
}

/**
 * Handles a `lapsed` attempt, which moved no money. Opens the next attempt automatically if the run
 * may open another attempt and has no refusal or interruption to report.
 */
function lapsed(situation: Situation<Ended>): Decision {
  const { refusal, isInterrupted, attempt, payment, goal } = situation;
  if (refusal !== undefined)
    return outcomes.refused('confirmation', refusal, undefined, attempt.txnId ?? undefined);
  if (isInterrupted === true) return outcomes.interrupted();
  if (goal.onlyTxnId === undefined && mayOpenAttempt(situation)) return openAttempt(situation);
  const last = payment.attempts.find((each) => outcomeOf(each) === 'failed') ?? attempt;
  return outcomes.ended(payment.ref, last, outcomeOf(last) === 'failed');
}

const mostAttempts = 5;

function openAttempt({ payment, order, attempt, goal, stopped }: Situation): Decision {
  if (stopped !== undefined) return stopped;
  if (order.isImported === true) return outcomes.importedInPart(payment, attempt.txnId);
  if (attempt.number - goal.firstAttempt + 1 >= mostAttempts) return outcomes.everyQuoteExpired();
  return { do: 'open-attempt', number: attempt.number + 1 };
}

/**
 * Whether a new attempt is allowed: either no attempt can have moved money, or a person accepted
 * the risk of repeating the attempts up to `retryUpTo`.
 */
const mayOpenAttempt = ({ payment, goal }: Situation): boolean =>
  payment.attempts.every((attempt) => {
    const outcome = outcomeOf(attempt);
    return (
      outcome === 'lapsed' ||
      outcome === 'requested' ||
      (attempt.number <= goal.retryUpTo && (outcome === 'failed' || outcome === 'unknown'))
    );
  });

/**
 * Whether all reads in a period of 8 s had the same result. A read is stale by at most 8 s, so a
 * result that has held for 8 s is current.
 */
const hasHeld = ({ sinceMs, atMs }: Reads): boolean => atMs - sinceMs >= staleForMs;

const readAgain = ({ attempt, now }: Situation, { atMs, count }: Reads): Step =>
  waitUntil(atMs + stalePause(count), now, { do: 'read', attempt });

const waitUntil = (atMs: number, now: Now, then: Step): Step =>
  now.ms >= atMs ? then : { do: 'wait', ms: atMs - now.ms };

const stop = (outcome: Outcome, abandons: boolean): Step => ({ do: 'stop', outcome, abandons });

/**
 * Kinds of failure that leave the payment open for the next `tx resume`, because these failures are
 * temporary or require an action by a person.
 */
const recoverable: ReadonlySet<Failure['kind']> = new Set([
  'temporary',
  'authentication',
  'interrupted',
  'declined',
]);

function fail({ payment, attempt, goal }: Situation, failure: Failure): Step {
  const isBefore = attempt.state === 'requested' || attempt.state === 'quoted';
  const staysOpen =
    isUnknown(failure) ||
    goal.leaveOpen === 'always' ||
    (goal.leaveOpen === 'if-recoverable' && recoverable.has(failure.kind));
  return stop({ failure: outcomes.truthful(payment, failure) }, isBefore && !staysOpen);
}
