// Drives a payment: performs the step that `next` decides, turns what came back into a fact, and writes what `apply` makes of it
// before the next step. Every request and every write of the payment core is made from here.
import { CancelNotOffered, NoAnswer, ServiceError } from '../../api/errors.js';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted } from '../../formats/states.js';
import { messageOf } from '../../formats/unknown.js';
import { LostClaim, type Claim } from '../../store/journal/journal.js';
import {
  isUnordered,
  latest,
  mayHaveMoved,
  type Attempt,
  type Payment,
} from '../../store/journal/payment.js';
import { checkSpend, lastDay, quotedAmounts } from '../limits/limits.js';
import { decodeOrder } from '../order/order-record.js';
import { readTransaction } from '../transaction/read-transaction.js';
import { approve, approvedQuote, consentOf } from './approve.js';
import { apply, recorded, type Applied } from './apply.js';
import type { PaymentDeps } from './contract.js';
import { create } from './create.js';
import { find } from './find.js';
import {
  nothingKnown,
  resultOf,
  type FactBody,
  type Now,
  type Run,
  type Step,
  type Wish,
} from './model.js';
import { isReopened, next } from './next.js';
import { alreadyPaid, journalLost, notOrdered } from './outcomes.js';
import { isDefined, isOwnRefusal } from './refusals.js';
import { amountsOf, isOrdered } from './started.js';

/** What the payment came to: its transaction, or the payment as it was when another process took it over. */
export type Driven = { readonly txn: Transaction } | { readonly lost: Payment };

interface Drive {
  readonly wish: Wish;
  readonly deps: PaymentDeps;
  readonly clock: RunClock;
  claim: Claim;
  /** A failed write after money may have moved: the payment continues, and the service has the truth. */
  journalError: Failure | undefined;
}

/** Throws the Failure of the outcome. */
export async function drive(claim: Claim, wish: Wish, deps: PaymentDeps): Promise<Driven> {
  const drive: Drive = { wish, deps, clock: runClock(deps), claim, journalError: undefined };
  let run = openRun(claim);
  try {
    // A yes to one quote is not a yes to the payment, whose next attempt could have another.
    const renew = wish.expect === undefined ? wish.renew : { terms: wish.renew.terms };
    if (isReopened(run, wish)) run = await take(run, { is: 'reopened', renew }, drive);
    for (;;) {
      if (deps.signal.aborted && run.known.isInterrupted !== true)
        run = await take(run, { is: 'interrupted' }, drive);
      const step = next(run, wish, drive.clock.now());
      if (step.do === 'stop') return { txn: await end(run, step, drive) };
      run = await take(run, await perform(run, step, drive), drive);
    }
  } catch (error) {
    if (error instanceof LostClaim) return { lost: run.payment };
    throw error;
  }
}

function openRun({ payment, fence }: Claim): Run {
  return {
    payment,
    order: decodeOrder(payment.request),
    known: nothingKnown(latest(payment).state, fence === 1),
  };
}

/** Applies a fact, and writes what it changes. */
async function take(run: Run, fact: FactBody, drive: Drive): Promise<Run> {
  const applied = apply(run, { ...fact, at: drive.clock.now() });
  const after = await record(applied, drive);
  announce(run, after, fact, drive.deps);
  return after;
}

async function record({ run, change, submits }: Applied, drive: Drive): Promise<Run> {
  if (change === undefined) return run;
  const { deps, claim } = drive;
  const { attempt } = change;
  const isAfterMoney =
    submits !== 'checked' && attempt !== undefined && concernsMoved(run, attempt);
  try {
    // Another attempt may not begin while the journal lacks the end of the last one.
    if (drive.journalError !== undefined && attempt?.state === 'requested')
      throw drive.journalError;
    if (drive.journalError !== undefined && isAfterMoney) return recorded(run, change);
    if (submits === undefined || attempt === undefined)
      drive.claim = await deps.journal.write(claim, change);
    else {
      const window = lastDay(deps.now(), deps.service.confirmedNow());
      const allow = submits === 'already moved' ? () => undefined : checkSubmission(run, deps);
      drive.claim = await deps.journal.submit(claim, { ...change, attempt }, window, allow);
    }
    return { ...run, payment: drive.claim.payment };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (attempt?.state === 'requested') throw journalLost(run.payment, error);
    if (!isAfterMoney) return { ...run, known: { ...run.known, stopped: error } };
    drive.journalError = error;
    deps.on({ type: 'journal-failed', error });
    return recorded(run, change);
  }
}

/** The attempt moved money, or may have: the payment continues even if the journal cannot be written. */
const concernsMoved = ({ payment }: Run, attempt: Attempt): boolean =>
  mayHaveMoved(attempt) ||
  payment.attempts.some((before) => before.number === attempt.number && mayHaveMoved(before));

/** The last moment before money can move: limits and competing payments, in the transaction that submits. */
function checkSubmission(
  { order, known, payment }: Run,
  { limits, refuse }: PaymentDeps,
): Parameters<PaymentDeps['journal']['submit']>[3] {
  return async (before) => {
    if (before.rival !== undefined) throw alreadyPaid(before.rival);
    const spent = Object.keys(limits.perDay).length > 0 ? await before.spent() : [];
    if (known.agreed !== undefined)
      checkSpend(limits, quotedAmounts(order, known.agreed), () => spent);
    await refuse?.(payment, before.latest);
  };
}

/** What the screen has to see. */
function announce(before: Run, after: Run, fact: FactBody, { on }: PaymentDeps): void {
  const [was, is] = [latest(before.payment), latest(after.payment)];
  const { txn } = after.known;
  const isStarted = (fact.is === 'created' || fact.is === 'found') && fact.started !== undefined;
  if (isStarted || (is.state === 'submitting' && was.state !== 'submitting'))
    on({ type: 'submitting', payment: after.payment });
  if (fact.is === 'confirm-refused' && !isDefined(fact.error))
    on({ type: 'refused', error: fact.error });
  if (txn === undefined || !(mayHaveMoved(is) || is.state === 'failed')) return;
  if (is.txnState !== was.txnState || fact.is === 'confirmed')
    on({ type: 'state', txn: { ...txn, txnState: is.txnState ?? txn.txnState } });
  if (fact.is === 'read') on({ type: 'read', txn });
}

async function end(
  run: Run,
  { outcome, abandons }: Extract<Step, { do: 'stop' }>,
  drive: Drive,
): Promise<Transaction> {
  // Another process may have taken the payment over meanwhile: then its work is followed.
  const writing = abandons
    ? take(run, { is: 'abandoned' }, drive)
    : drive.deps.journal.renew(drive.claim);
  await writing.catch((error: unknown) => {
    if (error instanceof LostClaim || (abandons && 'txn' in outcome)) throw error;
  });
  if ('txn' in outcome) return outcome.txn;
  throw outcome.failure;
}

type Performed = Exclude<Step, { do: 'stop' }>;

async function perform(run: Run, step: Performed, drive: Drive): Promise<FactBody> {
  try {
    return await performed(run, step, drive);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return drive.deps.signal.aborted ? { is: 'interrupted' } : { is: 'stopped', failure: error };
  }
}

async function performed(
  run: Run,
  step: Performed,
  { wish, deps, clock }: Drive,
): Promise<FactBody> {
  const txnId = latest(run.payment).txnId ?? '';
  switch (step.do) {
    case 'create':
      return create(run, consentOf(run, wish) !== 'standing', deps);
    case 'find':
      return find(run, step.depth, wish, deps);
    case 'read':
      return read(run, step.attempt.number, step.attempt.txnId ?? '', deps);
    case 'approve':
      return approve(run, wish, deps);
    case 'cancel':
      return cancel(txnId, deps);
    case 'submit': {
      const isStanding = wish.expect === undefined && run.payment.consent === 'standing';
      return {
        is: 'submitted',
        amounts: amountsOf(approvedQuote(run)),
        consent: isStanding ? 'standing' : 'quote',
      };
    }
    case 'confirm':
      // An earlier run submitted it, or the journal's answer to the submission was lost: this run submits it as well.
      if (run.known.confirmation.isUnanswered && run.known.confirmation.tries === 0)
        deps.on({ type: 'submitting', payment: run.payment });
      return confirm(txnId, deps);
    case 'wait':
      await clock.sleep(step.ms);
      return { is: 'waited' };
    case 'conclude':
      return { is: 'concluded', state: step.state };
    case 'begin':
      return { is: 'begun', number: step.number, renew: wish.renew };
  }
}

async function read(run: Run, number: number, txnId: string, deps: PaymentDeps): Promise<FactBody> {
  try {
    const txn = await readTransaction(deps.service, txnId);
    const attempt = run.payment.attempts.find((each) => each.number === number);
    if (attempt !== undefined && isUnordered(attempt) && !isOrdered(run, txn, number, deps.account))
      throw notOrdered(txn);
    const later =
      resultOf(txn.txnState) === 'lapsed' ? await reportedLater(txnId, deps) : undefined;
    const isSubmitted = attempt !== undefined && mayHaveMoved(attempt);
    return {
      is: 'read',
      number,
      txn: later === undefined || isSubmitted ? txn : { ...txn, txnState: later },
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (deps.signal.aborted) return { is: 'interrupted' };
    const isMissing =
      error.kind === 'not-found' && !(error instanceof ServiceError && !error.isOwnRefusal);
    const isUnanswered = error instanceof NoAnswer || error.kind === 'temporary';
    return {
      is: 'read-failed',
      number,
      error,
      result: isMissing ? 'not-found' : isUnanswered ? 'unanswered' : 'unreadable',
    };
  }
}

/** A later state of the transaction that a webhook event reported: a read that calls it lapsed does not take that back. */
async function reportedLater(
  txnId: string,
  { reported }: PaymentDeps,
): Promise<string | undefined> {
  const states = (await reported?.(txnId)) ?? [];
  return states.find((state) => ['moving', 'completed', 'error'].includes(resultOf(state)));
}

async function cancel(txnId: string, { service }: PaymentDeps): Promise<FactBody> {
  try {
    return { is: 'cancelled', txn: await service.cancelTransaction(txnId) };
  } catch (error) {
    const isRefused = error instanceof ServiceError && error.kind === 'refused';
    if (isRefused || error instanceof CancelNotOffered) return { is: 'cancel-refused' };
    throw error;
  }
}

/** Sends one confirmation. Any answer but the transaction or the service's own refusal leaves its effect unknown. */
async function confirm(txnId: string, { service }: PaymentDeps): Promise<FactBody> {
  const unanswered = (message: string, cause?: unknown): FactBody => ({
    is: 'confirm-unanswered',
    error: new NoAnswer('pending', message, { mayHaveArrived: true, txnId, cause }),
  });
  try {
    const txn = await service.confirmTransaction(txnId);
    if (txn.txnId !== txnId)
      return unanswered(`the service answered with transaction ${txn.txnId}`);
    return isQuoted(txn.txnState)
      ? unanswered('the service still reports quoted')
      : { is: 'confirmed', txn };
  } catch (error) {
    if (!(error instanceof Failure))
      return unanswered(`the confirmation broke off: ${messageOf(error)}`, error);
    if (isOwnRefusal(error)) return { is: 'confirm-refused', error };
    const wasNotSent =
      error instanceof NoAnswer ? !error.mayHaveArrived : !(error instanceof ServiceError);
    return wasNotSent ? { is: 'confirm-not-sent', error } : { is: 'confirm-unanswered', error };
  }
}

interface RunClock {
  readonly now: () => Now;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A step that takes longer than this by the machine's clock was a jump of that clock. */
const longestStepMs = 60_000;

/** Time since the run began: it only grows, and at least by what was slept, however the machine's clock is moved. */
function runClock({ now, sleep, signal, service }: PaymentDeps): RunClock {
  let elapsed = 0;
  let seen = now();
  const pass = (atLeast: number): void => {
    const passed = now() - seen;
    seen += passed;
    elapsed += Math.min(Math.max(passed, atLeast), atLeast + longestStepMs);
  };
  return {
    now: () => {
      pass(0);
      return { ms: elapsed, service: service.serviceNow() };
    },
    sleep: async (ms) => {
      pass(0);
      await sleep(ms, signal).catch(() => undefined);
      pass(ms);
    },
  };
}
