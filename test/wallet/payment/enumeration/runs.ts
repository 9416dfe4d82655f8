// Runs of svcpay that drive one payment: a run starts with any command, and can be killed,
// interrupted or stopped at any step.
import type { Transaction } from '../../../../src/api/types.js';
import { Failure, type FailureKind } from '../../../../src/formats/failure.js';
import { isOfAccount } from '../../../../src/wallet/order/orders.js';
import {
  changed,
  latest,
  mayHaveMoved,
  mayHavePaid,
  status,
  type Attempt,
  type Payment,
  type PaymentChange,
} from '../../../../src/store/journal/payment.js';
import { differenceFrom, replayed, stepsOf } from '../../../../src/store/journal/trail.js';
import { apply, type Applied } from '../../../../src/wallet/payment/apply.js';
import {
  emptyMemory,
  type RunEvent,
  type RunEventBody,
  type Now,
  type Run,
  type Step,
  type RunGoal,
} from '../../../../src/wallet/payment/model.js';
import { isReopened, next } from '../../../../src/wallet/payment/next.js';
import { outcomes } from './answers.js';
import {
  account,
  attemptOf,
  becomes,
  first,
  isRunning,
  later,
  order,
  waitMs,
  withTruth,
  type Report,
  type Running,
  type State,
  type Truth,
} from './world.js';

/** The payment core, or the payment core with a mutation. */
export interface Core {
  readonly next: (run: Run, goal: RunGoal, now: Now) => Step;
  readonly apply: (run: Run, event: RunEvent) => Applied;
  readonly mayHaveMoved: (attempt: Attempt) => boolean;
  /** Whether the core writes `submitting` to disk before it sends the confirmation. */
  readonly writesFirst: boolean;
  /** Whether `tx resume` without an id resumes the payment. */
  readonly mayResume: (payment: Payment) => boolean;
  /** Whether the core may adopt a transaction that the list shows under the reference. */
  readonly mayAdopt: (txn: Transaction) => boolean;
  /** What a suspended process reports if the person answers no to its question. */
  readonly reportOfNo: (payment: Payment) => Report;
}

export const core: Core = {
  next,
  apply,
  mayHaveMoved,
  writesFirst: true,
  mayResume: mayHavePaid,
  mayAdopt: (txn) => isOfAccount(txn, account),
  reportOfNo: (payment) => (mayHavePaid(payment) ? 'unknown' : 'nothing moved'),
};

/**
 * The commands with which a person can start a process for the payment. `asked` repeats the
 * original command at a terminal, where svcpay asks the person to approve the quote.
 */
export type Command =
  | 'the same command'
  | 'asked'
  | '--retry'
  | 'tx resume'
  | '--quote-only'
  | 'tx confirm';

export interface Bounds {
  readonly attempts: number;
  /**
   * The number of confirmations per attempt for which the search tries every outcome. Later
   * confirmations never reach the service.
   */
  readonly confirmations: number;
  /** How many times a person may use `--retry`. */
  readonly retries: number;
  readonly reference: RunGoal['reference'];
  readonly commands: readonly Command[];
  /** Whether a process can be suspended while it asks the person to approve a quote. */
  readonly suspends: boolean;
  /** The final states that a transaction in flight can reach. */
  readonly ends: readonly ('completed' | 'failed' | 'error')[];
}

type Stop = Extract<Step, { do: 'stop' }>;

/**
 * The present is always 0, so past events have negative times and a quote expires at 1 or later.
 */
const now: Now = { ms: 0, service: 1 };

const runOf = ({ payment, process }: Running): Run => ({
  payment,
  attempt: latest(payment),
  order,
  memory: process.memory,
});

export const nextOf = (state: Running, by: Core): Step =>
  by.next(runOf(state), state.process.goal, now);

/** The state after the core has applied an event and written its change. */
export function taken(state: Running, event: RunEventBody, by: Core): Running {
  const { run, change, submission } = by.apply(runOf(state), { ...event, at: now });
  const isUnwritten = event.is === 'submitted' && !by.writesFirst;
  // Adds the time of the submission to the attempt, as the journal does.
  const dated =
    change?.attempt !== undefined && submission !== undefined
      ? { ...change, attempt: { ...change.attempt, submittedAt: 1 } }
      : change;
  const payment =
    dated === undefined || isUnwritten ? state.payment : changed(state.payment, dated);
  noteMove(state.payment, dated?.attempt);
  if (dated !== undefined && payment !== state.payment) checkTrail(state.payment, payment, dated);
  const { goal } = state.process;
  return { ...state, payment, process: { memory: run.memory, goal } };
}

/**
 * Checks that the steps of a change lead from the stored payment to the changed payment. Each
 * history of the walk consists of such changes, so its whole trail leads to its payment.
 */
function checkTrail(before: Payment, after: Payment, change: PaymentChange): void {
  const steps = [...entered(before), ...stepsOf(before, after, change)];
  const trail = steps.map((step, index) => ({ ...step, seq: index + 1 }));
  const differs = differenceFrom(after, replayed(trail));
  if (differs !== undefined) throw new Error(`the trail differs: ${differs}`);
}

/** The steps of a journal that entered the payment as it is. */
const entered = ({ attempts, abandoned, digest }: Payment) => [
  ...attempts.map(({ number, resolution: _answer, ...attempt }) => ({
    step: 'imported' as const,
    attempt: number,
    detail: { ...attempt, digest },
  })),
  ...(abandoned ? [{ step: 'abandoned' as const, attempt: null, detail: {} }] : []),
];

/** All state transitions that the walk took, for a comparison with the table of transitions. */
export const transitionsTaken = new Set<string>();

function noteMove({ attempts }: Payment, attempt: Attempt | undefined): void {
  const from = attempts.find(({ number }) => number === attempt?.number)?.state;
  if (from !== undefined && attempt !== undefined && from !== attempt.state)
    transitionsTaken.add(`${from} -> ${attempt.state}`);
}

/**
 * Returns the state of a run that has moved no money and could not write a change to the journal.
 */
const notWritten = (state: Running): Running => ({
  ...state,
  process: {
    ...state.process,
    memory: { ...state.process.memory, stopped: new Failure('temporary', 'the journal is locked') },
  },
});

/** For each command, yields the state in which a process has just started with that command. */
export function* started(
  state: State,
  by: Core,
  { retries, reference, commands }: Bounds,
): Generator<Running> {
  const { number, state: attempted, txnId } = attemptOf(state);
  const isFirst = state === first;
  const payment = status(state.payment);
  const same: RunGoal = {
    until: 'settled',
    waitMs,
    reference,
    leaveOpen: 'never',
    consent: { by: 'yes' },
    repeats: 'not compared',
    firstAttempt: number,
    retryUpTo: 0,
  };
  const isResumed = payment !== 'abandoned' && !isFirst && by.mayResume(state.payment);
  const asks: RunGoal['consent'] = { by: 'person', ask: async () => true };
  const wishes: Readonly<Record<Command, RunGoal | undefined>> = {
    'the same command': same,
    asked: { ...same, consent: asks },
    '--retry': state.retries < retries && !isFirst ? { ...same, retryUpTo: number } : undefined,
    'tx resume': isResumed
      ? { ...same, reference: 'given', leaveOpen: 'if-recoverable', consent: asks }
      : undefined,
    '--quote-only': {
      ...same,
      until: 'quoted',
      consent: asks,
      leaveOpen: !isFirst && payment === 'open' ? 'always' : 'never',
    },
    'tx confirm': txnId === null ? undefined : { ...same, onlyTxnId: txnId, reference: 'given' },
  };
  for (const command of commands) {
    const goal = wishes[command];
    if (goal === undefined) continue;
    const process = { memory: emptyMemory(attempted, isFirst), goal };
    const running: Running = {
      ...state,
      reported: '',
      isOver: state.isOver && (command === 'tx resume' || command === '--quote-only'),
      retries: state.retries + (goal.retryUpTo > 0 ? 1 : 0),
      process,
    };
    yield isReopened(runOf(running), goal) ? taken(running, { is: 'reopened' }, by) : running;
  }
}

/**
 * Yields every state that can follow: the service acts on its own, or a process starts, dies, is
 * interrupted, or takes its next step.
 */
export function* successors(state: State, by: Core, bounds: Bounds): Generator<State> {
  yield* serviceActs(state, bounds);
  if (state.isAsking) {
    const reported = by.reportOfNo(state.payment);
    const isOver = state.isOver || reported === 'nothing moved';
    if (state.process === undefined) yield { ...state, isAsking: false, reported, isOver };
  }
  if (isRunning(state)) yield* continued(state, by, bounds);
  else yield* started(state, by, bounds);
}

function* continued(state: Running, by: Core, bounds: Bounds): Generator<State> {
  yield killed(state);
  yield interrupted(state, by, bounds);
  const step = nextOf(state, by);
  if (step.do === 'stop') return void (yield* stopped(state, step, by, bounds));
  if (step.do === 'open-attempt' && step.number > bounds.attempts) return;
  if (step.do === 'withdraw') yield notWritten(state);
  if (step.do === 'approve' && bounds.suspends) yield { ...killed(state), isAsking: true };
  for (const { truth, event } of outcomes(state, step, bounds.confirmations, by)) {
    const done = afterStep(withTruth(state, attemptOf(state).number, truth), step);
    // Kills the process after its request and before it writes the event. Omits the kill if the
    // service started the payment without a confirmation, because no later run could detect this
    // start.
    if (!(event.is === 'created' && event.started !== undefined)) yield killed(done);
    yield later(taken(done, event, by), step.do === 'wait' ? step.ms : 0);
  }
}

/**
 * Records a violation if svcpay confirms the payment after a run has reported that nothing moved.
 */
const afterStep = (state: Running, step: Step): Running =>
  step.do === 'confirm' && state.isOver ? { ...state, paidAfterEnd: true } : state;

const killed = (state: Running): State => ({ ...state, process: undefined });

function* serviceActs(state: State, { ends }: Bounds): Generator<State> {
  for (const [index, truth] of state.truths.entries()) {
    const becoming = (change: Truth): State => withTruth(state, index + 1, change);
    if (truth.delayed > 0 && truth.real === 'quoted')
      yield becoming({ ...becomes(truth, 'moving'), delayed: truth.delayed - 1 });
    if (truth.real === 'moving') for (const end of ends) yield becoming(becomes(truth, end));
    // If the service corrects an `error` between two runs, the checker discards the report of the
    // first run, which was true before the correction.
    if (truth.real === 'error' && state.process === undefined)
      for (const real of ['completed', 'failed'] as const)
        yield { ...becoming({ ...truth, real }), reported: '' };
    if (truth.real === 'quoted') yield becoming(becomes(truth, 'expired'));
    if (truth.real === 'quoted' && truth.sent === 0 && index === 0)
      yield becoming({ ...becomes(truth, 'moving'), byOther: true });
  }
}

/** Ends a run. If the journal cannot write the end of the payment, the payment stays open. */
export function* stopped(
  state: Running,
  { abandons, outcome }: Stop,
  by: Core,
  { commands }: Pick<Bounds, 'commands'>,
): Generator<State & { readonly process: undefined }> {
  const isResumed = commands.includes('tx resume');
  const reported = reportOf(outcome);
  // A resumed run may leave an approved payment open for the next resume.
  const isFinal = abandons || state.process.goal.leaveOpen === 'never';
  const isOver = state.isOver || (isResumed && reported === 'nothing moved' && isFinal);
  const ended = { process: undefined, reported, isOver };
  yield { ...(abandons ? taken(state, { is: 'abandoned' }, by) : state), ...ended };
  if (abandons && isResumed) yield { ...state, ...ended };
}

/**
 * Interrupts a run with Ctrl-C, after which the run completes only steps that send no request, and
 * stops.
 */
function interrupted(state: Running, by: Core, bounds: Bounds): State {
  let at = taken(state, { is: 'interrupted' }, by);
  for (;;) {
    const step = nextOf(at, by);
    if (step.do === 'stop') return stopped(at, step, by, bounds).next().value ?? at;
    if (step.do === 'lapse') at = taken(at, { is: 'lapsed' }, by);
    else if (step.do === 'withdraw') at = taken(at, { is: 'withdrawn', failure: step.failure }, by);
    else throw new Error(`an interrupted run continues with ${step.do}`);
  }
}

const nothingMoved: ReadonlySet<FailureKind> = new Set([
  'temporary',
  'interrupted',
  'declined',
  'refused',
  'limit',
  'usage',
  'authentication',
  'not-found',
]);

function reportOf(outcome: Stop['outcome']): Report {
  if ('txn' in outcome) {
    const { txnState } = outcome.txn;
    return txnState === 'completed' ? 'paid' : txnState === 'quoted' ? 'quoted' : 'accepted';
  }
  const { kind } = outcome.failure;
  return kind === 'payment-failed'
    ? 'not paid'
    : nothingMoved.has(kind)
      ? 'nothing moved'
      : 'unknown';
}
