// Drives a payment: performs the step that `next` decides, turns the result into an event, and
// writes the change from `apply` before the next step. Every request and every write of the payment
// core starts here. Only this file confirms a payment.
import { CancelNotOffered, NoAnswer, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { asFailure, Failure, invalid } from '../../formats/failure.js';
import { elapsedClock } from '../../formats/poll.js';
import { isQuoted } from '../../formats/states.js';
import { messageOf } from '../../formats/text.js';
import { LostClaim, type Claim } from '../../store/journal/journal.js';
import type { Detail, Telling } from '../../store/journal/steps.js';
import {
  differsFromOrder,
  latest,
  mayHaveMoved,
  type Attempt,
  type Payment,
} from '../../store/journal/payment.js';
import {
  checkSpend,
  spentIfLimited,
  quotedAmounts,
  checkBudget,
  checkProposed,
  mostCompared,
  payees,
  sameAgain,
} from '../limits/limits.js';
import { instructionOf } from '../instruction/instruction.js';
import { orderFor } from '../instruction/order.js';
import { decodeOrder, encodeOrder } from '../order/orders.js';
import { readTransaction } from '../transaction/read.js';
import { approve, quoteToSubmit, create, amountsOf, isOrdered, find } from './quoting.js';
import {
  apply,
  unwritten,
  withPayment,
  type Applied,
  detailOf,
  isUrgent,
  shownSteps,
  stepsBefore,
  stopOf,
} from './apply.js';
import {
  isInAdvance,
  type PaymentDeps,
  emptyMemory,
  readsOf,
  resultOf,
  txnOf,
  type RunEventBody,
  type Now,
  type Outcome,
  type Run,
  type Step,
  type RunGoal,
} from './model.js';
import { isReopened, next } from './next.js';
import { alreadyPaid, journalLost, notOrdered, refusesConfirmation } from './outcomes.js';

/**
 * The result of a run: its transaction, or the payment if another process took over the payment.
 * `declined` is the failure to report if a person declined the quote before another process took
 * over the payment.
 */
export type DriveResult =
  | { readonly txn: Transaction }
  | { readonly lost: Payment; readonly declined: Failure | undefined };

/** A step of the trail, with its time in ms since the start of the run. */
type TimedStep = Telling & { readonly ms: number };

interface Drive {
  readonly goal: RunGoal;
  readonly deps: PaymentDeps;
  readonly clock: RunClock;
  claim: Claim;
  /** The steps that the next write adds to the trail of the payment, with their times. */
  told: readonly TimedStep[];
  /**
   * The error of a journal write that failed after money may have moved. After a failed journal
   * write, a payment that may have moved money continues, because svcpay can read the payment's
   * state from the service.
   */
  journalError: Failure | undefined;
}

/** Drives a claimed payment to its outcome. Throws Failure if the payment fails. */
export async function drive(claim: Claim, goal: RunGoal, deps: PaymentDeps): Promise<DriveResult> {
  const clock = runClock(deps);
  const drive: Drive = { goal, deps, clock, claim, told: [], journalError: undefined };
  let run = openRun(claim);
  let event: RunEventBody = { is: 'reopened', terms: goal.terms };
  try {
    if (isReopened(run, goal)) run = await take(run, event, drive);
    for (;;) {
      if (deps.signal.aborted && run.memory.isInterrupted !== true)
        run = await take(run, { is: 'interrupted' }, drive);
      const step = next(run, goal, drive.clock.now());
      if (step.do === 'stop') return { txn: await end(run, step, drive) };
      event = await perform(run, step, drive);
      run = await take(run, event, drive);
    }
  } catch (error) {
    if (!(error instanceof LostClaim)) throw error;
    return { lost: run.payment, declined: event.is === 'declined' ? event.failure : undefined };
  }
}

function openRun({ payment, fence }: Claim): Run {
  const attempt = latest(payment);
  return {
    payment,
    attempt,
    order: decodeOrder(attempt.request),
    memory: emptyMemory(attempt.state, fence === 1),
  };
}

/** Applies an event to the run, and writes the resulting change to the journal. */
async function take(run: Run, event: RunEventBody, drive: Drive): Promise<Run> {
  const at = drive.clock.now();
  tell(drive, stepsBefore(run, event, drive.goal));
  const applied = { ...apply(run, { ...event, at }), detail: detailOf(run, event, drive.deps) };
  const after = await record(run, applied, drive, isUrgent(run, event));
  announce(run, after, event, drive.deps);
  return after;
}

const tell = (drive: Drive, steps: readonly Telling[]): void => {
  const { ms } = drive.clock.now();
  drive.told = [...drive.told, ...steps.map((step) => ({ ...step, ms }))];
};

/** An event with its change, and the details of the change for the trail. */
type Recorded = Applied & { readonly detail: Detail };

/**
 * Records a change. A failed write to the journal stops the payment, unless money may have moved.
 * @param isUrgent whether the journal must record the event although it changes nothing
 */
async function record(
  before: Run,
  applied: Recorded,
  drive: Drive,
  isUrgent: boolean,
): Promise<Run> {
  const { run, change = isUrgent ? {} : undefined } = applied;
  if (change === undefined) return run;
  try {
    return withPayment(run, await written(run, { ...applied, change }, drive));
  } catch (caught) {
    const error = asFailure(caught);
    if (change.attempt?.state === 'requested') throw journalLost(before.payment, error);
    if (applied.submission === 'checked') tell(drive, [stopOf(error)]);
    if (!isUrgent && !isAfterMoney(before, applied))
      return { ...before, memory: { ...before.memory, stopped: error } };
    if (drive.journalError === undefined) drive.deps.on({ type: 'journal-failed', error });
    drive.journalError ??= error;
    return unwritten(run, change);
  }
}

/**
 * Writes the change. After a failed write to the journal, skips further writes, because each could
 * wait for the same lock.
 */
async function written(
  run: Run,
  { change = {}, submission, detail }: Recorded,
  drive: Drive,
): Promise<Payment> {
  const { deps, claim, journalError, told } = drive;
  const { attempt, ...given } = change;
  if (journalError !== undefined) throw journalError;
  const { ms: now } = drive.clock.now();
  const steps = told.map(({ ms, ...step }) => ({ ...step, ago: now - ms }));
  const columns = { ...given, trail: { steps, detail } };
  if (submission === undefined || attempt === undefined) {
    drive.claim = await deps.journal.write(claim, { ...columns, attempt });
  } else {
    const allow =
      submission === 'already moved' ? () => undefined : checkSubmission(run, drive.goal, deps);
    const service = deps.service.datedNow();
    drive.claim = await deps.journal.submit(claim, { ...columns, attempt }, service, allow);
  }
  drive.told = drive.told.slice(told.length);
  return drive.claim.payment;
}

/**
 * Whether the payment continues even if svcpay cannot write to the journal, because the attempt may
 * have moved money.
 */
function isAfterMoney({ payment }: Run, { change, submission }: Applied): boolean {
  const attempt = change?.attempt;
  if (attempt === undefined || submission === 'checked' || attempt.state === 'quoted') return false;
  const before = payment.attempts.find(({ number }) => number === attempt.number);
  return mayHaveMoved(attempt) || (before !== undefined && mayHaveMoved(before));
}

/**
 * Makes the last check before money can move: limits and competing payments, in the database
 * transaction of the submission.
 */
function checkSubmission(
  run: Run,
  goal: RunGoal,
  { limits, budget, repeats, now }: PaymentDeps,
): Parameters<PaymentDeps['journal']['submit']>[3] {
  const { order, memory, payment } = run;
  return async (before) => {
    if (before.rival !== undefined) throw alreadyPaid(before.rival);
    const { proposal } = goal.consent;
    if (proposal !== undefined && (await before.isRefused(proposal)))
      throw invalid('the proposal was refused on another home.', {
        money: 'Nothing moved',
      });
    const spent = await spentIfLimited(limits, before.spent);
    if (memory.approvedQuote !== undefined)
      checkSpend(limits, quotedAmounts(order, memory.approvedQuote), spent);
    if (budget !== undefined) {
      const amounts = quotedAmounts(order, quoteToSubmit(run));
      if (budget.total === undefined)
        checkBudget(budget.name, await before.budget(budget.name), order, amounts);
      else checkProposed(budget.total, await before.charged(budget.name), amounts);
    }
    if (goal.repeats === 'not compared') return;
    const instruction = instructionOf(payment);
    const within = repeats.paidWithinMs;
    const payments = await before.comparable(payees(instruction), within, mostCompared);
    const asked = { instruction, order, ref: payment.ref };
    const others = payments.filter(({ id }) => !goal.repeats.includes(id));
    const earlier = sameAgain(asked, others, { ...repeats, now: now() });
    if (earlier !== undefined) await repeats.decide(earlier, 'submission');
  };
}

/** Reports events to the screen. */
function announce(before: Run, after: Run, event: RunEventBody, { on }: PaymentDeps): void {
  const [was, is] = [before.attempt, after.attempt];
  const txn = txnOf(after.memory);
  const isStarted = (event.is === 'created' || event.is === 'found') && event.started !== undefined;
  if (isStarted || (is.state === 'submitting' && was.state !== 'submitting'))
    on({ type: 'submitting', payment: after.payment });
  if (event.is === 'refused' && was.state === 'submitting')
    on({ type: 'refused', error: event.error });
  if (txn === undefined || !(mayHaveMoved(is) || is.state === 'failed')) return;
  if (is.txnState !== was.txnState || event.is === 'confirmed')
    on({ type: 'state', txn: { ...txn, txnState: is.txnState ?? txn.txnState } });
  if (event.is === 'read') on({ type: 'read', txn });
}

/**
 * Ends the run. If the journal cannot record that the payment is abandoned, the payment stays open
 * and unsubmitted, so a later resume asks about the payment or skips it.
 */
async function end(
  run: Run,
  { outcome, abandons }: Extract<Step, { do: 'stop' }>,
  drive: Drive,
): Promise<Transaction> {
  // If another process has taken over the payment, this run follows that process.
  const why = 'failure' in outcome ? outcome.failure : undefined;
  const writing = abandons
    ? take(run, { is: 'abandoned', why }, drive)
    : endLease(run, outcome, drive);
  await writing.catch((error: unknown) => {
    if (error instanceof LostClaim) throw error;
  });
  if ('failure' in outcome) throw outcome.failure;
  if (outcome.recorded !== undefined)
    drive.deps.on({ type: 'recorded', resolution: outcome.recorded });
  return outcome.txn;
}

/**
 * Writes the last steps of the trail. Before a run reports a failure, it checks that no other
 * process has taken over the payment.
 */
async function endLease(run: Run, outcome: Outcome, drive: Drive): Promise<void> {
  const { deps, claim, journalError, told } = drive;
  if (journalError !== undefined) return;
  if (told.length > 0) await written(run, { run, detail: {} }, drive);
  else if ('failure' in outcome) await deps.journal.extendLease(claim);
}

type Performed = Exclude<Step, { do: 'stop' }>;

async function perform(run: Run, step: Performed, drive: Drive): Promise<RunEventBody> {
  try {
    const onShown: PaymentDeps['on'] = (event) => {
      if (event.type === 'quoted') tell(drive, shownSteps(drive.goal));
      drive.deps.on(event);
    };
    return await performed(run, step, { ...drive, deps: { ...drive.deps, on: onShown } });
  } catch (caught) {
    const error = asFailure(caught);
    return drive.deps.signal.aborted ? { is: 'interrupted' } : { is: 'stopped', failure: error };
  }
}

async function performed(
  run: Run,
  step: Performed,
  { goal, deps, clock }: Drive,
): Promise<RunEventBody> {
  const txnId = run.attempt.txnId ?? '';
  switch (step.do) {
    case 'create':
      return create(run, !isInAdvance(goal.consent), deps);
    case 'find':
      return find(run, step.depth, goal, deps);
    case 'read':
      return read(run, step.attempt, deps);
    case 'approve':
      return approve(run, goal, deps);
    case 'cancel':
      return cancel(txnId, deps);
    case 'submit':
      return { is: 'submitted', amounts: amountsOf(quoteToSubmit(run), deps) };
    case 'confirm':
      // Reports `submitting` if an earlier run submitted the attempt, or if the journal's response
      // to the submission was lost.
      if (run.memory.submittedHere !== true && readsOf(run.memory) !== undefined)
        deps.on({ type: 'submitting', payment: run.payment });
      return confirm(txnId, deps);
    case 'withdraw':
      return { is: 'withdrawn', failure: step.failure };
    case 'wait':
      await clock.sleep(step.ms);
      return { is: 'waited' };
    case 'lapse':
      return { is: 'lapsed' };
    case 'open-attempt':
      return openAttempt(run, step.number, goal, deps);
  }
}

/** Opens a further attempt, whose order is derived anew, with the rates and balances of now. */
async function openAttempt(
  { payment }: Run,
  number: number,
  { terms }: RunGoal,
  { service }: PaymentDeps,
): Promise<RunEventBody> {
  const order = await orderFor(instructionOf(payment), service);
  return { is: 'attempt-opened', number, request: encodeOrder(order), terms };
}

async function read(run: Run, attempt: Attempt, deps: PaymentDeps): Promise<RunEventBody> {
  const { number, txnId } = attempt;
  try {
    const txn = await readTransaction(deps.service, txnId ?? '');
    if (differsFromOrder(attempt) && !isOrdered(run.payment, attempt, txn, deps.account))
      throw notOrdered(txn);
    const isSubmitted = mayHaveMoved(attempt);
    const later =
      isSubmitted || resultOf(txn.txnState) !== 'lapsed'
        ? undefined
        : await reportedLater(txn.txnId, deps);
    return { is: 'read', number, txn: later === undefined ? txn : { ...txn, txnState: later } };
  } catch (caught) {
    const error = asFailure(caught);
    if (deps.signal.aborted) return { is: 'interrupted' };
    const isMissing =
      error.kind === 'not-found' && !(error instanceof ServiceError && !error.isOwnRefusal);
    const isUnanswered = error instanceof NoAnswer || error.kind === 'temporary';
    const result = isMissing ? 'not-found' : isUnanswered ? 'unanswered' : 'unreadable';
    return { is: 'read-failed', number, error, result };
  }
}

/**
 * Returns the state of a payment according to its webhook events, or undefined if no event shows
 * that the payment was submitted. A stale read of an expired quote must not replace the state from
 * a webhook event.
 */
async function reportedLater(
  txnId: string,
  { reported }: PaymentDeps,
): Promise<string | undefined> {
  const states = (await reported?.(txnId)) ?? [];
  return states.find((state) => ['moving', 'completed', 'error'].includes(resultOf(state)));
}

async function cancel(txnId: string, { service }: PaymentDeps): Promise<RunEventBody> {
  try {
    return { is: 'cancelled', txn: await service.cancelTransaction(txnId) };
  } catch (error) {
    const isRefused = error instanceof ServiceError && error.kind === 'refused';
    if (isRefused || error instanceof CancelNotOffered) return { is: 'cancel-refused' };
    throw error;
  }
}

/**
 * Sends one confirmation. The effect of the confirmation is unknown after any response other than
 * the transaction or the service's own refusal.
 */
async function confirm(txnId: string, { service }: PaymentDeps): Promise<RunEventBody> {
  const unanswered = (message: string, cause?: unknown): RunEventBody => ({
    is: 'unanswered',
    error: new NoAnswer('pending', message, { mayHaveArrived: true, cause }),
    mayHaveArrived: true,
  });
  try {
    const txn = await service.confirmTransaction(txnId);
    if (txn.txnId !== txnId)
      return unanswered(`the service answered with transaction ${txn.txnId}`);
    return isQuoted(txn.txnState)
      ? unanswered('the service still reports the transaction as quoted')
      : { is: 'confirmed', txn };
  } catch (error) {
    if (!(error instanceof Failure))
      return unanswered(`the confirmation was interrupted: ${messageOf(error)}`, error);
    if (refusesConfirmation(error)) return { is: 'refused', error };
    const mayHaveArrived =
      error instanceof NoAnswer ? error.mayHaveArrived : error instanceof ServiceError;
    return { is: 'unanswered', error, mayHaveArrived };
  }
}

interface RunClock {
  readonly now: () => Now;
  readonly sleep: (ms: number) => Promise<void>;
}

function runClock({ now, sleep, signal, service }: PaymentDeps): RunClock {
  const clock = elapsedClock({ now, sleep, signal });
  return {
    now: () => ({ ms: clock.now(), service: service.serviceNow() }),
    sleep: clock.sleep,
  };
}
