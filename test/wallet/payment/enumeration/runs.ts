// Runs of svcpay over one payment: started with each command, killed, interrupted or stopped at any step.
import type { FailureKind } from '../../../../src/formats/failure.js';
import {
  changed,
  mayHaveMoved,
  status,
  type Attempt,
} from '../../../../src/store/journal/payment.js';
import { apply, type Applied } from '../../../../src/wallet/payment/apply.js';
import {
  nothingKnown,
  type Fact,
  type FactBody,
  type Now,
  type Run,
  type Step,
  type Wish,
} from '../../../../src/wallet/payment/model.js';
import { isReopened, next } from '../../../../src/wallet/payment/next.js';
import { outcomes } from './answers.js';
import {
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

/** The core, or the core with a mistake in it. */
export interface Core {
  readonly next: (run: Run, wish: Wish, now: Now) => Step;
  readonly apply: (run: Run, fact: Fact) => Applied;
  readonly mayHaveMoved: (attempt: Attempt) => boolean;
  /** Whether `submitting` is on disk before the confirmation is sent. */
  readonly writesFirst: boolean;
}

export const core: Core = { next, apply, mayHaveMoved, writesFirst: true };

export type Command = 'the same command' | '--retry' | 'tx resume' | '--quote-only' | 'tx confirm';

export interface Bounds {
  readonly attempts: number;
  /** Confirmations of one attempt with an outcome of their own; further ones are lost. */
  readonly confirmations: number;
  /** How often a person says `--retry`. */
  readonly retries: number;
  readonly reference: Wish['reference'];
  readonly commands: readonly Command[];
  /** How a transaction that is on its way can end. */
  readonly ends: readonly ('completed' | 'failed' | 'error')[];
}

type Stop = Extract<Step, { do: 'stop' }>;

/** The present is always 0, and a quote expires at 1 or later: ages are negative times. */
const now: Now = { ms: 0, service: 1 };

const runOf = ({ payment, process }: Running): Run => ({ payment, order, known: process.known });

export const nextOf = (state: Running, by: Core): Step =>
  by.next(runOf(state), state.process.wish, now);

/** The state after a fact was applied and written. */
export function taken(state: Running, fact: FactBody, by: Core): Running {
  const { run, change, submits } = by.apply(runOf(state), { ...fact, at: now });
  const isUnwritten = fact.is === 'submitted' && !by.writesFirst;
  // The journal dates what it submits.
  const dated =
    change?.attempt !== undefined && submits !== undefined
      ? { ...change, attempt: { ...change.attempt, submittedAt: 1 } }
      : change;
  const payment =
    dated === undefined || isUnwritten ? state.payment : changed(state.payment, dated);
  return { ...state, payment, process: { known: run.known, wish: state.process.wish } };
}

/** A process is started with one of the commands. */
export function* started(
  state: State,
  by: Core,
  { retries, reference, commands }: Bounds,
): Generator<Running> {
  const { number, state: attempted, txnId } = attemptOf(state);
  const isFirst = state === first;
  const payment = status(state.payment);
  const same: Wish = {
    until: 'settled',
    waitMs,
    reference,
    leaveOpen: 'never',
    renew: { consent: 'standing' },
    firstAttempt: number,
    retryUpTo: 0,
  };
  const wishes: Readonly<Record<Command, Wish | undefined>> = {
    'the same command': same,
    '--retry': state.retries < retries && !isFirst ? { ...same, retryUpTo: number } : undefined,
    'tx resume':
      payment !== 'abandoned' && !isFirst
        ? { ...same, reference: 'given', leaveOpen: 'if-passing', renew: {} }
        : undefined,
    '--quote-only': {
      ...same,
      until: 'quoted',
      leaveOpen: !isFirst && payment === 'open' ? 'always' : 'never',
    },
    'tx confirm':
      txnId === null ? undefined : { ...same, expect: txnId, reference: 'given', renew: {} },
  };
  for (const command of commands) {
    const wish = wishes[command];
    if (wish === undefined) continue;
    const process = { known: nothingKnown(attempted, isFirst), wish };
    const begun: Running = {
      ...state,
      reported: '',
      retries: state.retries + (wish.retryUpTo > 0 ? 1 : 0),
      process,
    };
    yield isReopened(runOf(begun), wish)
      ? taken(begun, { is: 'reopened', renew: wish.renew }, by)
      : begun;
  }
}

/** Every state that can follow: the service acts by itself, a process starts, dies, is interrupted, or takes its next step. */
export function* successors(state: State, by: Core, bounds: Bounds): Generator<State> {
  yield* serviceActs(state, bounds);
  if (isRunning(state)) yield* continued(state, by, bounds);
  else yield* started(state, by, bounds);
}

function* continued(state: Running, by: Core, bounds: Bounds): Generator<State> {
  yield { ...state, process: undefined };
  yield interrupted(state, by);
  const step = nextOf(state, by);
  if (step.do === 'stop') return void (yield stopped(state, step, by));
  if (step.do === 'begin' && step.number > bounds.attempts) return;
  for (const { truth, fact } of outcomes(state, step, bounds.confirmations)) {
    const done = withTruth(state, attemptOf(state).number, truth);
    // Killed after the request, before its fact is written. If the service paid without a confirmation, nobody can know of it then.
    if (!(fact.is === 'created' && fact.started !== undefined))
      yield { ...done, process: undefined };
    yield later(taken(done, fact, by), step.do === 'wait' ? step.ms : 0);
  }
}

function* serviceActs(state: State, { ends, reference }: Bounds): Generator<State> {
  for (const [index, truth] of state.truths.entries()) {
    const becoming = (change: Truth): State => withTruth(state, index + 1, change);
    if (truth.delayed > 0 && truth.real === 'quoted')
      yield becoming({ ...becomes(truth, 'moving'), delayed: truth.delayed - 1 });
    if (truth.real === 'moving') for (const end of ends) yield becoming(becomes(truth, end));
    if (truth.real === 'quoted') yield becoming(becomes(truth, 'expired'));
    // A home without `--retry` has the first attempt alone.
    if (truth.real === 'quoted' && truth.sent === 0 && reference === 'given' && index === 0)
      yield becoming({ ...becomes(truth, 'moving'), byOther: true });
  }
}

export function stopped(state: Running, { abandons, outcome }: Stop, by: Core): State {
  const over = abandons ? taken(state, { is: 'abandoned' }, by) : state;
  return { ...over, process: undefined, reported: reportOf(outcome) };
}

/** Ctrl-C: the run concludes what needs no request, and stops. */
function interrupted(state: Running, by: Core): State {
  let at = taken(state, { is: 'interrupted' }, by);
  for (;;) {
    const step = nextOf(at, by);
    if (step.do === 'stop') return stopped(at, step, by);
    if (step.do !== 'conclude') throw new Error(`an interrupted run continues with ${step.do}`);
    at = taken(at, { is: 'concluded', state: step.state }, by);
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
