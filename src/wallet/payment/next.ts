// Decides what a payment does next, from its attempts and from what this run knows. Pure, and the only place that decides.
// Each attempt state has one rule. design: The payment core; docs/payments.md lists the rules with their reasons.
import { retryPolicy } from '../../api/retry-policy.js';
import type { Failure } from '../../formats/failure.js';
import { knownStates } from '../../formats/states.js';
import {
  latest,
  mayHaveMoved,
  type Attempt,
  type AttemptState,
  type Payment,
} from '../../store/journal/payment.js';
import { pauseBefore } from '../transaction/backoff.js';
import { pauseMs } from '../transaction/poll.js';
import { paceOf } from '../transaction/wait.js';
import {
  resultOf,
  type Known,
  type Now,
  type Outcome,
  type Reads,
  type Run,
  type Step,
  type Wish,
} from './model.js';
import * as outcomes from './outcomes.js';
import { isDefined, referenceUse } from './refusals.js';

/** The latest attempt with what is known of it. */
interface Situation extends Run {
  readonly attempt: Attempt;
  readonly wish: Wish;
  readonly now: Now;
}

type Rule = (situation: Situation) => Step;

export function next(run: Run, wish: Wish, now: Now): Step {
  const attempt = latest(run.payment);
  const situation: Situation = { ...run, attempt, wish, now };
  const step = decide(situation);
  if (run.known.isInterrupted !== true || step.do === 'stop' || step.do === 'conclude') return step;
  return mayHaveMoved(attempt)
    ? stopWatching(situation, 'you interrupted')
    : fail(situation, outcomes.interrupted());
}

function decide(situation: Situation): Step {
  const { payment, known, attempt, wish } = situation;
  const paid = payment.attempts.find(({ state }) => state === 'paid');
  if (paid !== undefined && paid.number !== attempt.number && !mayMove(attempt))
    return reportPaid(situation, paid);
  if (wish.expect !== undefined && attempt.txnId !== wish.expect)
    return fail(situation, outcomes.differentPayment(payment.ref, attempt.txnId));
  const unread = payment.attempts.find(
    (each) =>
      each.number < attempt.number &&
      isUnresolved(each) &&
      !known.earlierRead.includes(each.number),
  );
  if (unread !== undefined && !mayMove(attempt)) return { do: 'read', attempt: unread };
  // A further attempt that was abandoned needs another `--retry`, which reopens it.
  const unknown = payment.attempts.find(
    (each) => each.number < attempt.number && isUnresolved(each),
  );
  if (unknown !== undefined && payment.abandoned && !mayMove(attempt))
    return fail(situation, outcomes.unresolved(payment.ref, unknown));
  return rules[attempt.state](situation);
}

/** This run's terms and consent apply unless money may have moved under the earlier ones; a quote to look at changes nothing. */
export function isReopened(
  { payment }: Run,
  { until, renew, leaveOpen, retryUpTo }: Wish,
): boolean {
  const isChanged = renew.terms !== undefined || renew.consent !== undefined || payment.abandoned;
  if (payment.attempts.some(({ state }) => state === 'unknown') && retryUpTo === 0) return false;
  return (
    isChanged && until !== 'quoted' && leaveOpen !== 'if-passing' && !mayHaveMoved(latest(payment))
  );
}

const mayMove = ({ state }: Attempt): boolean => state === 'submitting' || state === 'in-flight';
const isUnresolved = (attempt: Attempt): boolean => attempt.state === 'unknown' || mayMove(attempt);

const rules: Readonly<Record<AttemptState, Rule>> = {
  requested: create,
  quoted: agree,
  submitting: confirm,
  'in-flight': settle,
  unknown: resolve,
  paid: (situation) => reportPaid(situation, situation.attempt),
  failed: reportFailed,
  error: reportFailed,
  lapsed: startAgain,
};

/** Creates first: the service refuses a used reference, and only then is the list searched. */
function create(situation: Situation): Step {
  const { known, now, payment, wish } = situation;
  const { tries, refusal, error, mayExist, atMs } = known.creation;
  const use = refusal && referenceUse(refusal, mayExist, wish.reference === 'own');
  if (known.stopped !== undefined) {
    // The reference was used, and its transaction cannot be read: it may have paid.
    const isUnknown = use?.isCertain === true && readFailures.has(known.stopped.kind);
    return fail(
      situation,
      isUnknown
        ? outcomes.usedButUnread(
            payment.ref,
            `its transaction cannot be read: ${known.stopped.message}`,
            known.stopped,
          )
        : known.stopped,
    );
  }
  if (tries === 0) return { do: 'create' };
  if (refusal === undefined) {
    const pause = pauseBefore(tries, error);
    if (tries >= retryPolicy.creations || pause === undefined)
      return fail(situation, outcomes.noQuote(error));
    return waitUntil(atMs + pause, now, { do: 'create' });
  }
  const { lookup } = known;
  if (use !== undefined && lookup === undefined) return { do: 'find', depth: use.depth };
  if (use === undefined || lookup === undefined || !use.isCertain)
    return fail(situation, outcomes.refused('quote', refusal, known.funds?.available));
  if (now.ms - lookup.sinceMs >= retryPolicy.staleForMs)
    return fail(
      situation,
      outcomes.usedButUnread(payment.ref, 'its list does not show the transaction.', refusal),
    );
  return waitUntil(lookup.atMs + stalePause(lookup.count), now, { do: 'find', depth: use.depth });
}

const readFailures: ReadonlySet<Failure['kind']> = new Set([
  'temporary',
  'refused',
  'authentication',
  'not-found',
]);

/** Until it is submitted, a quote is only shown, approved, or left to expire. */
function agree(situation: Situation): Step {
  const { known, attempt, wish } = situation;
  const { reads, txn, approval } = known;
  if (known.stopped !== undefined) return fail(situation, known.stopped);
  const isFresh =
    reads === undefined && approval !== 'asked' && known.cancel === undefined && txn !== undefined;
  const result = isFresh ? resultOf(txn.txnState) : reads?.result;
  if (result === 'quoted') return offer(situation);
  if (reads === undefined) return { do: 'read', attempt };
  if (result === 'unreadable' || result === 'unanswered')
    return fail(situation, reads.error ?? outcomes.interrupted());
  // Another home may have submitted it and this read be stale, unless nobody else knows the reference or svcpay cancelled it.
  const isProven = known.cancel === 'done' || wish.reference === 'own' || isOld(reads);
  if (wish.expect !== undefined)
    return fail(
      situation,
      reads.error ??
        outcomes.ended(
          situation.payment.ref,
          { txnId: wish.expect, txnState: txn?.txnState ?? '' },
          false,
        ),
    );
  return isProven ? { do: 'conclude', state: 'lapsed' } : readAgain(situation, reads);
}

/** The service still calls it a quote. */
function offer(situation: Situation): Step {
  const { known, wish, now, attempt } = situation;
  const { approval, cancel, reads, txn } = known;
  if (wish.until === 'quoted' && known.shown === true && txn !== undefined)
    return stop({ txn }, wish.leaveOpen !== 'always');
  if (approval === undefined) return { do: 'approve' };
  const expiresAt = txn?.sourceReq.expiresAt ?? Number.POSITIVE_INFINITY;
  const isOver =
    approval === 'prompt-expired' || (expiresAt <= now.service && known.isMisdated !== true);
  if (!isOver || (wish.expect !== undefined && approval !== 'prompt-expired'))
    return { do: 'submit' };
  if (cancel === undefined) return { do: 'cancel' };
  if (reads === undefined) return { do: 'read', attempt };
  // The service does not cancel, and still reports a quote: its clock decides, not svcpay's.
  if (!isOld(reads)) return readAgain(situation, reads);
  return approval === 'prompt-expired' ? { do: 'approve' } : { do: 'submit' };
}

/** After an unanswered confirmation the state is read, and only the same transaction is ever confirmed again. */
function confirm(situation: Situation): Step {
  const { known, attempt, now, wish } = situation;
  const { confirmation, reads } = known;
  const { tries, isUnanswered, refusal, error, atMs } = confirmation;
  if (wish.until === 'quoted') return look(situation);
  if (known.isInterrupted === true) {
    return isUnanswered || refusal !== undefined
      ? fail(situation, confirmationUnknown(situation))
      : neverSent(situation, outcomes.interrupted());
  }
  if (refusal !== undefined) return weigh(situation, refusal);
  const read: Step = { do: 'read', attempt };
  const pause = tries === 0 ? 0 : pauseBefore(tries, error);
  if (isUnanswered && reads === undefined) return waitUntil(atMs + (pause ?? 0), now, read);
  if (isUnanswered && reads !== undefined && reads.result !== 'quoted') {
    const isLast =
      reads.count >= retryPolicy.confirmations || reads.error?.kind === 'authentication';
    return isLast ? fail(situation, confirmationUnknown(situation)) : readAgain(situation, reads);
  }
  if (tries < retryPolicy.confirmations && pause !== undefined)
    return waitUntil(atMs + pause, now, { do: 'confirm' });
  return isUnanswered || error === undefined
    ? fail(situation, confirmationUnknown(situation))
    : neverSent(situation, error);
}

/** No confirmation left this machine. A home that shares the reference may have the quote too: then only this quote is tried again. */
const neverSent = (situation: Situation, failure: Failure): Step =>
  situation.wish.reference === 'own'
    ? { do: 'conclude', state: 'lapsed' }
    : fail(situation, failure);

/** Only a quote is wanted of a payment that was submitted: it is read, and otherwise left alone. */
function look(situation: Situation): Step {
  const {
    known: { reads, txn },
    attempt,
    payment,
  } = situation;
  if (reads === undefined) return { do: 'read', attempt };
  return txn === undefined
    ? fail(situation, outcomes.unreadable(payment, reads.error))
    : stop({ txn }, false);
}

/**
 * A refused confirmation. It is accepted if no other confirmation can have taken effect and the service still reports `quoted`: in
 * one read if the specification defines the refusal, otherwise in every read over 8 s. Until then the attempt stays submitting.
 */
function weigh(situation: Situation, refusal: Failure): Step {
  const { known, attempt, now } = situation;
  const { reads, confirmation } = known;
  if (reads === undefined) return { do: 'read', attempt };
  const isQuoted = reads.result === 'quoted' && !confirmation.isUnanswered;
  if (isQuoted && (isDefined(refusal) || isOld(reads))) return { do: 'conclude', state: 'lapsed' };
  const isTooLong = now.ms - confirmation.atMs >= 2 * retryPolicy.staleForMs;
  const isHopeless = confirmation.isUnanswered && isOld(reads);
  return isTooLong || isHopeless
    ? fail(situation, confirmationUnknown(situation))
    : readAgain(situation, reads);
}

const confirmationUnknown = ({ attempt, known: { confirmation, reads } }: Situation): Failure =>
  outcomes.confirmationUnknown(
    attempt.txnId ?? '',
    confirmation.error ?? reads?.error,
    confirmation.tries > 1,
  );

/** On its way: only the service can report how it ends. */
function settle(situation: Situation): Step {
  const { known, attempt, wish, now } = situation;
  const { reads, txn, settlingSinceMs: since = 0 } = known;
  if (txn === undefined && reads === undefined) return { do: 'read', attempt };
  if (reads?.error !== undefined && isLastWord(situation, reads))
    return stopWatching(situation, 'its state cannot be read', reads.error);
  if (wish.until !== 'settled' && txn !== undefined) return accepted(situation);
  const waited = now.ms - since;
  if (waited >= wish.waitMs) return stopWatching(situation, 'the wait is over');
  const last = Math.max(reads?.atMs ?? since, since);
  const pause = pauseMs(last - since, txn === undefined ? 'steady' : paceOf(txn));
  return waitUntil(Math.min(last + pause, since + wish.waitMs), now, { do: 'read', attempt });
}

/** The service has accepted it, and nothing more was wanted. A state that it does not define proves no acceptance. */
function accepted(situation: Situation): Step {
  const { known, attempt } = situation;
  const reportedState = attempt.txnState ?? '';
  if (known.txn === undefined || !knownStates.includes(reportedState)) {
    return fail(
      situation,
      outcomes.unreadable(
        situation.payment,
        new Error(`the service reports the state ${reportedState}, which is not recognized.`),
      ),
    );
  }
  return stop({ txn: { ...known.txn, txnState: reportedState } }, false);
}

/** Answers that make no sense end the wait; no answer at all does not, unless there was none from the start. */
function isLastWord({ known, now }: Situation, { result, count, error }: Reads): boolean {
  if (known.txn === undefined) return true;
  if (result === 'not-found')
    return now.ms - (known.settlingSinceMs ?? 0) >= retryPolicy.staleForMs;
  return result === 'unreadable' && (count >= 3 || error?.kind === 'authentication');
}

function stopWatching(situation: Situation, why: string, cause?: Failure): Step {
  const {
    known: { txn },
    attempt,
    payment,
  } = situation;
  if (txn === undefined)
    return fail(situation, outcomes.unreadable(payment, cause ?? outcomes.interrupted()));
  return fail(
    situation,
    outcomes.stillOnItsWay(
      { txnId: txn.txnId, txnState: attempt.txnState ?? txn.txnState },
      why,
      cause,
    ),
  );
}

/** `expired` or `usercanceled` after submission: read for 8 s, then it is unknown, and only a person starts another attempt. */
function resolve(situation: Situation): Step {
  const { known, attempt, wish, payment } = situation;
  const { reads } = known;
  if (reads === undefined) return { do: 'read', attempt };
  if (reads.result === 'moving') return settle(situation);
  if (reads.error !== undefined)
    return isLastWord(situation, reads) || isOld(reads)
      ? fail(situation, outcomes.unreadable(payment, reads.error))
      : readAgain(situation, reads);
  if (reads.result === 'lapsed' && !wasSubmittedHere(known) && mayBegin(payment, wish))
    return begin(situation);
  const isEnough = wish.until !== 'settled' || isOld(reads);
  return isEnough
    ? fail(situation, outcomes.unresolved(payment.ref, attempt))
    : readAgain(situation, reads);
}

function reportPaid(situation: Situation, attempt: Attempt): Step {
  const { known, payment } = situation;
  if (known.txn?.txnId === attempt.txnId)
    return stop({ txn: { ...known.txn, txnState: 'completed' } }, false);
  const isRead = known.earlierRead.includes(attempt.number) || known.reads !== undefined;
  return isRead
    ? fail(situation, outcomes.unreadable(payment, known.reads?.error ?? new Error('no answer.')))
    : { do: 'read', attempt };
}

/** How it ended in this run is reported; only a later run repeats it. */
const wasSubmittedHere = ({ confirmation }: Known): boolean => confirmation.tries > 0;

/** What the journal holds permits no new attempt: the service is asked once more. */
function reportFailed(situation: Situation): Step {
  const { known, attempt, payment, wish } = situation;
  const { reads, txn } = known;
  if (reads === undefined) return { do: 'read', attempt };
  const { result, error } = reads;
  if (error !== undefined)
    return fail(situation, attempt.state === 'error' ? outcomes.unreadable(payment, error) : error);
  const isContradicted = result === 'moving' || result === 'completed' || result === 'quoted';
  if (isContradicted)
    return fail(
      situation,
      outcomes.unreadable(
        payment,
        new Error(`the service reports ${txn?.txnState} after ${attempt.txnState}.`),
      ),
    );
  if (attempt.state === 'failed' && !wasSubmittedHere(known) && mayBegin(payment, wish))
    return begin(situation);
  const canRetry = attempt.state === 'failed' && wish.leaveOpen !== 'if-passing';
  return fail(
    situation,
    outcomes.ended(
      payment.ref,
      { txnId: attempt.txnId ?? '', txnState: attempt.txnState ?? '' },
      canRetry,
    ),
  );
}

/** It moved nothing: the next attempt starts automatically, unless this run has its answer already. */
function startAgain(situation: Situation): Step {
  const {
    known: { confirmation, isInterrupted },
    attempt,
    payment,
    wish,
  } = situation;
  if (confirmation.refusal !== undefined)
    return fail(
      situation,
      outcomes.refused('confirmation', confirmation.refusal, undefined, attempt.txnId ?? undefined),
    );
  if (isInterrupted === true) return fail(situation, outcomes.interrupted());
  if (confirmation.error !== undefined) return fail(situation, confirmation.error);
  if (wish.expect === undefined && mayBegin(payment, wish)) return begin(situation);
  const failed = payment.attempts.find(({ state }) => state === 'failed') ?? attempt;
  return fail(
    situation,
    outcomes.ended(
      payment.ref,
      { txnId: failed.txnId ?? '', txnState: failed.txnState ?? '' },
      failed.state === 'failed',
    ),
  );
}

const mostAttempts = 5;

function begin(situation: Situation): Step {
  const { payment, order, attempt, wish } = situation;
  if (order.isImported === true)
    return fail(situation, outcomes.importedInPart(payment, attempt.txnId));
  if (attempt.number - wish.firstAttempt + 1 >= mostAttempts)
    return fail(situation, outcomes.everyQuoteExpired());
  return { do: 'begin', number: attempt.number + 1 };
}

/** Only if no attempt can have moved money, or a person accepts the risk of those up to `retryUpTo`. */
export function mayBegin({ attempts }: Payment, { retryUpTo }: Wish): boolean {
  return attempts.every(
    ({ number, state }) =>
      state === 'lapsed' ||
      state === 'requested' ||
      (number <= retryUpTo && (state === 'failed' || state === 'unknown')),
  );
}

/** Every read has had this result, and the last one was made 8 s after the first: it cannot show what was before that. */
const isOld = ({ sinceMs, atMs }: Reads): boolean => atMs - sinceMs >= retryPolicy.staleForMs;

const readAgain = ({ attempt, now }: Situation, { atMs, count }: Reads): Step =>
  waitUntil(atMs + stalePause(count), now, { do: 'read', attempt });

const stalePause = (count: number): number =>
  retryPolicy.stalePausesMs[count - 1] ?? retryPolicy.longestPauseMs;

const waitUntil = (atMs: number, now: Now, then: Step): Step =>
  now.ms >= atMs ? then : { do: 'wait', ms: atMs - now.ms };

const stop = (outcome: Outcome, abandons: boolean): Step => ({ do: 'stop', outcome, abandons });

/** Temporary, or waiting for a person: the payment stays open for the next `tx resume`. */
const passing: ReadonlySet<Failure['kind']> = new Set([
  'temporary',
  'authentication',
  'interrupted',
  'declined',
]);

function fail({ payment, attempt, wish }: Situation, failure: Failure): Step {
  const isBefore = attempt.state === 'requested' || attempt.state === 'quoted';
  const staysOpen =
    failure.kind === 'pending' ||
    wish.leaveOpen === 'always' ||
    (wish.leaveOpen === 'if-passing' && passing.has(failure.kind));
  return stop({ failure: outcomes.truthful(payment, failure) }, isBefore && !staysOpen);
}
