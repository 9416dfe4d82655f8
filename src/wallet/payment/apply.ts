// Applies an event to a run: returns the change that the journal must write, what the change adds
// to the trail, and the new data of the run. Pure. The payment core changes a payment only by the
// changes that `apply` returns.
import type { Transaction } from '../../api/types.js';
import {
  changed,
  latest,
  requested,
  type Attempt,
  type AttemptState,
  type Payment,
  type PaymentChange,
  type PaymentTerms,
} from '../../store/journal/payment.js';
import { decodeOrder, type Order } from '../order/orders.js';
import { withEarlierFields } from '../transaction/read.js';
import {
  inPhaseOf,
  emptyMemory,
  readsOf,
  resultOf,
  txnOf,
  type RunEvent,
  type RunMemory,
  type Phase,
  type Reads,
  type ReadResult,
  type ReportedResult,
  type Run,
  type Ended,
  type Consent,
  type PaymentDeps,
  type RunEventBody,
  type RunGoal,
} from './model.js';
import { ServiceError } from '../../api/errors.js';
import { fixed } from '../../formats/amount.js';
import { Failure, orFailure, type FailureKind } from '../../formats/failure.js';
import type { Detail, Telling } from '../../store/journal/steps.js';
import { readQuote } from '../quote/quote.js';
import { failureReasonOf } from '../../api/unspecified.js';
import { OverBudget } from '../limits/limits.js';

export interface Applied {
  /** The run, with the payment before the change. */
  readonly run: Run;
  /**
   * The change that the journal must write before the next step, or undefined if the event concerns
   * only this process.
   */
  readonly change?: PaymentChange | undefined;
  /**
   * Whether the change submits the attempt, so that the journal records the time of submission. If
   * `submission` is `checked`, svcpay also checks limits and competing payments when it writes the
   * submission.
   */
  readonly submission?: 'checked' | 'already moved' | undefined;
}

/** Returns the run with a newer version of its payment. */
export function withPayment(run: Run, payment: Payment): Run {
  const attempt = latest(payment);
  const order = attempt.request === run.attempt.request ? run.order : decodeOrder(attempt.request);
  return { ...run, payment, attempt, order };
}

/**
 * Applies a change only to the run in memory. svcpay calls `unwritten` if it cannot write the
 * change to the journal and money may have moved.
 */
export const unwritten = (run: Run, change: PaymentChange): Run =>
  withPayment(run, changed(run.payment, change));

const whileOpen = (to: AttemptState): Partial<Record<AttemptState, AttemptState>> => ({
  requested: to,
  quoted: to,
  submitting: to,
  'in-flight': to,
  unknown: to,
});

/**
 * The next state of an attempt after a report from the service. If `reports` contains no next state
 * for an attempt, the attempt keeps its state, because reads can be stale and states never go back.
 */
const reports: Readonly<Record<ReportedResult, Partial<Record<AttemptState, AttemptState>>>> = {
  quoted: { requested: 'quoted' },
  moving: { requested: 'in-flight', quoted: 'in-flight', submitting: 'in-flight' },
  // A later `completed` or `failed` replaces `error`, which does not show whether money moved.
  completed: { ...whileOpen('paid'), error: 'paid' },
  failed: { ...whileOpen('failed'), error: 'failed' },
  error: whileOpen('error'),
  // Only `next` marks an unsubmitted attempt as lapsed. A lapsed transaction does not prove that a
  // submitted attempt moved no money.
  lapsed: { requested: 'quoted', submitting: 'unknown', 'in-flight': 'unknown' },
};

/** Returns the attempt, updated with the transaction that the service reported. */
export function reported(
  attempt: Attempt,
  { txnId, txnState }: Pick<Transaction, 'txnId' | 'txnState'>,
): Attempt {
  const result = resultOf(txnState);
  const state = reports[result][attempt.state] ?? attempt.state;
  const isNews =
    state !== attempt.state ||
    (state === 'in-flight' && result === 'moving' && txnState !== attempt.txnState) ||
    (state === 'quoted' && result === 'lapsed');
  return isNews ? { ...attempt, state, txnId, txnState, resolution: null } : attempt;
}

export function apply(run: Run, event: RunEvent): Applied {
  const { attempt } = run;
  const { ms } = event.at;
  switch (event.is) {
    case 'created':
      return created(run, event);
    case 'refused':
    case 'unanswered':
      return { run: sent(run, event) };
    case 'found':
      return found(run, event);
    case 'not-found': {
      const { lookup } = memoryIn(run, 'requesting');
      const count = (lookup?.count ?? 0) + 1;
      const sinceMs = lookup?.sinceMs ?? ms;
      return { run: remember(run, 'requesting', { lookup: { sinceMs, atMs: ms, count } }) };
    }
    case 'read':
      return read(run, event);
    case 'read-failed': {
      const { number, result, error } = event;
      const { memory } = run;
      return number === attempt.number
        ? { run: keep(run, { reads: again(readsOf(memory), result, ms, error) }) }
        : { run: keep(run, { earlierRead: [...memory.earlierRead, number] }) };
    }
    case 'shown':
      return { run: remember(run, 'quoted', { shown: true }) };
    case 'approved': {
      const approved = { approvedQuote: event.quote, approval: event.by };
      // svcpay reads the quote again before the submission, because the approval took time.
      const reads = event.by === 'asked' && { reads: undefined };
      return { run: remember(run, 'quoted', { ...approved, ...reads }) };
    }
    case 'declined':
      return { run: keep(run, { stopped: event.failure }), change: { abandoned: true } };
    case 'prompt-expired':
      return { run: remember(run, 'quoted', { approval: 'prompt-expired' }) };
    case 'cancelled': {
      const cancel = resultOf(event.txn.txnState) === 'quoted' ? 'refused' : 'done';
      return withTransaction(remember(run, 'quoted', { cancel }), attempt, event.txn, ms);
    }
    case 'cancel-refused':
      return { run: remember(run, 'quoted', { cancel: 'refused', reads: undefined }) };
    case 'submitted':
      return submitted(run, event);
    case 'confirmed':
      return withTransaction(sent(run, event), attempt, event.txn, ms);
    // Returns the attempt to its quote, because no confirmation left this machine.
    case 'withdrawn': {
      const { number, request, txnId, txnState } = attempt;
      const quote = { ...requested(number, request), state: 'quoted', txnId, txnState } as const;
      return moved(keep(run, { stopped: event.failure }), quote, ms);
    }
    case 'lapsed':
      return moved(keep(run, { earlierRead: [] }), { ...attempt, state: 'lapsed' }, ms);
    case 'attempt-opened':
      return attemptOpened(run, event);
    case 'reopened':
      return { run, change: reopening(event) };
    case 'abandoned':
      return { run, change: { abandoned: true } };
    case 'stopped':
      return { run: keep(run, { stopped: event.failure }) };
    case 'interrupted':
      return { run: keep(run, { isInterrupted: true }) };
    case 'waited':
      return { run };
  }
}

type EventOf<I extends RunEvent['is']> = Extract<RunEvent, { readonly is: I }>;
type MemoryIn<P extends Phase> = Extract<RunMemory, { readonly phase: P }>;

/**
 * Returns the run's data of a phase. Throws if the run is in a different phase, because only a
 * defect can cause an event that does not belong to the run's phase.
 */
function memoryIn<P extends Phase>({ memory }: Run, phase: P): MemoryIn<P> {
  if (!isIn(memory, phase))
    throw new Error(`an event of the phase ${phase} arrived in the phase ${memory.phase}`);
  return memory;
}

const isIn = <P extends Phase>(memory: RunMemory, phase: P): memory is MemoryIn<P> =>
  memory.phase === phase;

/** Returns the run with new data of its phase. */
const remember = <P extends Phase>(run: Run, phase: P, news: Partial<MemoryIn<P>>): Run => ({
  ...run,
  memory: { ...memoryIn(run, phase), ...news },
});

/** Returns the run with new data that does not belong to one phase. */
const keep = (run: Run, news: Partial<Omit<Ended, 'phase' | 'refusal'>>): Run => ({
  ...run,
  memory: { ...run.memory, ...news },
});

const reopening = ({ terms }: EventOf<'attempt-opened' | 'reopened'>): PaymentChange => ({
  ...(terms !== undefined && { terms }),
  abandoned: false,
});

const inPhase = (run: Run, { state }: Attempt, ms: number): Run => ({
  ...run,
  memory: inPhaseOf(state, run.memory, ms),
});

/** Returns the change of the attempt, together with the run in the phase of the attempt's state. */
const moved = (run: Run, attempt: Attempt, ms: number): Applied => ({
  run: inPhase(run, attempt, ms),
  change: { attempt },
});

function created(run: Run, { txn, started, funds, rates, at }: EventOf<'created'>): Applied {
  const { txnId, txnState } = txn;
  const attempt = { ...run.attempt, ...started?.amounts };
  const submission = started && 'already moved';
  const before = remember(run, 'requesting', { funds });
  if (started?.isOrdered === false)
    return {
      ...moved(before, { ...attempt, state: 'unknown', txnId, txnState }, at.ms),
      submission,
    };
  const after = reported(attempt, txn);
  const next = inPhase(before, after, at.ms);
  const change = { attempt: after };
  if (next.memory.phase !== 'quoted')
    return { run: withReport(next, txn, at.ms), change, submission };
  const isMisdated = txn.sourceReq.expiresAt != null && txn.sourceReq.expiresAt <= at.service;
  return { run: remember(next, 'quoted', { txn, rates, isMisdated }), change, submission };
}

function found(run: Run, { txn, number, started, at }: EventOf<'found'>): Applied {
  const { attempt } = run;
  const own = number === attempt.number ? attempt : requested(number, attempt.request);
  const applied = withTransaction(run, { ...own, ...started?.amounts }, txn, at.ms);
  return { ...applied, submission: started && 'already moved' };
}

function submitted(run: Run, { amounts, at }: EventOf<'submitted'>): Applied {
  const { run: next, change } = moved(
    run,
    { ...run.attempt, ...amounts, state: 'submitting' },
    at.ms,
  );
  const sending = { tries: 0, atMs: at.ms, isUnanswered: false };
  const after = remember(next, 'submitting', { sending, reads: undefined });
  return { run: after, change, submission: 'checked' };
}

/**
 * Opens a further attempt. Discards the run's data, except for the approved quote and the list of
 * the earlier attempts that the run has read.
 */
function attemptOpened(run: Run, event: EventOf<'attempt-opened'>): Applied {
  const { approvedQuote, earlierRead } = run.memory;
  const memory = { ...emptyMemory('requested', true), approvedQuote, earlierRead };
  const attempt = requested(event.number, event.request);
  return { run: { ...run, memory }, change: { ...reopening(event), attempt } };
}

function read(run: Run, { number, txn, at }: EventOf<'read'>): Applied {
  const attempt = run.payment.attempts.find((each) => each.number === number) ?? run.attempt;
  if (attempt.number === run.attempt.number) return withTransaction(run, attempt, txn, at.ms);
  const after = reported(attempt, txn);
  return {
    run: keep(run, {
      earlierRead: [...run.memory.earlierRead, number],
      ...(after.state === 'paid' && { earlierPaid: txn }),
    }),
    change: after === attempt ? undefined : { attempt: after },
  };
}

/** Applies the service's report about the latest attempt. */
function withTransaction(run: Run, attempt: Attempt, txn: Transaction, ms: number): Applied {
  const after = reported(attempt, txn);
  const isNew = !run.payment.attempts.includes(attempt);
  const next = withReport(inPhase(run, after, ms), txn, ms);
  const hasFailed = after.state === 'failed' && attempt.state !== 'failed';
  return {
    // If the latest attempt failed, the outcome of the payment depends on earlier attempts with an
    // unknown outcome, so svcpay reads these attempts again.
    run: hasFailed ? keep(next, { earlierRead: [] }) : next,
    change: after === attempt && !isNew ? undefined : { attempt: after },
  };
}

function withReport(run: Run, txn: Transaction, ms: number): Run {
  const before = txnOf(run.memory);
  return keep(run, {
    txn: before === undefined ? txn : withEarlierFields(before, txn),
    reads: again(readsOf(run.memory), resultOf(txn.txnState), ms),
  });
}

const again = (
  reads: Reads | undefined,
  result: ReadResult,
  atMs: number,
  error?: Reads['error'],
): Reads =>
  reads?.result === result
    ? { ...reads, atMs, count: reads.count + 1, error }
    : { result, sinceMs: atMs, atMs, count: 1, error };

/** Counts the create requests or the confirmations, and records the result of the latest one. */
function sent(run: Run, event: EventOf<'confirmed' | 'refused' | 'unanswered'>): Run {
  const { memory } = run;
  const before = isIn(memory, 'requesting') ? memory : memoryIn(run, 'submitting');
  const { tries, isUnanswered, refusal, error } = before.sending;
  const sending = {
    tries: tries + 1,
    atMs: event.at.ms,
    isUnanswered: isUnanswered || (event.is === 'unanswered' && event.mayHaveArrived),
    refusal: event.is === 'refused' ? event.error : refusal,
    error: event.is === 'confirmed' ? error : event.error,
  };
  if (before.phase === 'requesting' && event.is !== 'confirmed')
    return remember(run, 'requesting', { sending, funds: event.funds });
  // svcpay reads the transaction again, because the confirmation may have changed it.
  const reads = mayHaveArrived(event) && { reads: undefined };
  return remember(run, 'submitting', { sending, submittedHere: true, ...reads });
}

/** The steps that an event adds to the trail before the change of the event. */
export function stepsBefore(
  { payment, attempt }: Run,
  event: RunEventBody,
  { consent, until }: RunGoal,
): Telling[] {
  switch (event.is) {
    case 'shown':
      return until === 'quoted' ? [{ step: 'shown' }] : [];
    case 'approved':
      return [{ step: 'approved', detail: { ...consentOf(consent), ...termsOf(payment.terms) } }];
    case 'declined':
      return [{ step: 'declined', detail: consentOf(consent) }];
    case 'refused':
    case 'unanswered': {
      const request = attempt.state === 'submitting' ? 'confirm' : 'create';
      const detail = { request, ...failureOf(event.error) };
      return request === 'create' || mayHaveArrived(event) ? [{ step: event.is, detail }] : [];
    }
    case 'stopped':
      return [stopOf(event.failure)];
    case 'interrupted':
      return [{ step: 'interrupted', detail: { state: attempt.state } }];
    default:
      return [];
  }
}

/** Whether a request to the service, which did not succeed, may have reached the service. */
const mayHaveArrived = (event: RunEventBody): boolean =>
  event.is === 'refused' || (event.is === 'unanswered' && event.mayHaveArrived);

const consentOf = ({ by, proposal }: Consent): Detail => ({ consent: by, proposal });

/** The step of showing a quote. An approval in advance needs no look at the quote. */
export const shownSteps = ({ consent, until }: RunGoal): Telling[] =>
  until !== 'quoted' && (consent.by === 'person' || consent.by === 'program')
    ? [{ step: 'shown' }]
    : [];

/** A refusal by the limits, the terms, the balance or an earlier payment, or another failure. */
export const stopOf = (failure: Failure): Telling => ({
  step: refusals.has(failure.kind) ? 'refused' : 'stopped',
  detail: {
    ...failureOf(failure),
    ...(failure instanceof OverBudget && { budget: failure.budget }),
  },
});

const refusals: ReadonlySet<FailureKind> = new Set(['limit', 'usage', 'refused', 'already-paid']);

/**
 * Whether the journal records an event at once although it changes nothing, because money may have
 * moved and the process may be killed while it waits.
 */
export const isUrgent = ({ attempt }: Run, event: RunEventBody): boolean =>
  attempt.state === 'submitting' && mayHaveArrived(event);

/** The details of the change that an event causes. */
export function detailOf(
  { order }: Run,
  event: RunEventBody,
  { service }: Pick<PaymentDeps, 'service'>,
): Detail {
  if ('txn' in event) return { ...reportOf(order, event.txn), service: service.datedNow() };
  const why = event.is === 'withdrawn' ? event.failure : event.is === 'abandoned' && event.why;
  return why ? failureOf(why) : {};
}

function reportOf(order: Order, txn: Transaction): Detail {
  const result = resultOf(txn.txnState);
  if (result === 'quoted') return costOf(order, txn);
  return result === 'failed' ? { reason: failureReasonOf(txn) } : {};
}

/** The cost of a quote, or nothing for a quote that svcpay refuses. */
function costOf(order: Order, txn: Transaction): Detail {
  const quote = orFailure(() => readQuote(order, txn));
  if (quote instanceof Failure) return {};
  const { total, serviceFee, networkFee, receives, rate, expiresAt } = quote;
  return {
    total: fixed(total.value),
    ccy: total.ccy,
    serviceFee: fixed(serviceFee.value),
    networkFee: fixed(networkFee.value),
    receives: receives && fixed(receives.value),
    receivesCcy: receives?.ccy,
    rate: rate && fixed(rate),
    expiresAt,
  };
}

const failureOf = (failure: Failure): Detail => ({
  kind: failure.kind,
  reason: failure instanceof ServiceError ? failure.reason : failure.clause,
});

export function termsOf({ maxFee, maxRateLoss }: PaymentTerms): Detail {
  const highest =
    maxFee && ('percent' in maxFee ? `${maxFee.percent}%` : `${maxFee.amount} ${maxFee.ccy}`);
  return { maxFee: highest, maxRateLoss };
}
