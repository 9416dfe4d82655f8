// Variants of the payment core, each with one mutation. The checker detects every mutation, which
// shows that each mutated rule is necessary.
import { Failure } from '../../../../src/formats/failure.js';
import { mayHaveMoved, type AttemptState } from '../../../../src/store/journal/payment.js';
import {
  readsOf,
  type Run,
  type Step,
  type RunGoal,
} from '../../../../src/wallet/payment/model.js';
import { core, type Core } from './runs.js';
import { errors } from './world.js';

/** Mutates the core: replaces a step if `instead` returns another step. */
const deciding = (instead: (run: Run, goal: RunGoal, step: Step) => Step | undefined): Core => ({
  ...core,
  next: (run, goal, now) => {
    const step = core.next(run, goal, now);
    return instead(run, goal, step) ?? step;
  },
});

/** Mutates the core: replaces the state in a journal write if `instead` returns another state. */
const recording = (
  instead: (before: AttemptState, after: AttemptState) => AttemptState | undefined,
): Core => ({
  ...core,
  apply: (run, event) => {
    const applied = core.apply(run, event);
    const attempt = applied.change?.attempt;
    const state = attempt && instead(run.attempt.state, attempt.state);
    return attempt === undefined || state === undefined
      ? applied
      : { ...applied, change: { ...applied.change, attempt: { ...attempt, state } } };
  },
});

const lapse: Step = { do: 'lapse' };
const isWaiting = ({ do: what }: Step): boolean => what === 'wait' || what === 'read';
const isGivingUp = ({ memory }: Run, step: Step): boolean =>
  step.do === 'stop' && memory.isInterrupted !== true;
const openAttempt = ({ attempt }: Run): Step => ({
  do: 'open-attempt',
  number: attempt.number + 1,
});

const failureOf = (step: Step): string | undefined =>
  step.do === 'stop' && 'failure' in step.outcome ? step.outcome.failure.kind : undefined;

const nothingMoved: Step = {
  do: 'stop',
  outcome: { failure: new Failure('interrupted', 'Nothing moved.') },
  abandons: false,
};

/** Returns the confirmation that the run has sent or is about to send. */
const sent = ({ memory }: Run) => (memory.phase === 'submitting' ? memory.sending : undefined);

/**
 * Mutates the core: treats a submitted attempt as lapsed in some cases in which the real core would
 * wait or read the transaction again.
 */
const lapsing = (when: (run: Run) => boolean): Core =>
  deciding((run, _, step) => (isWaiting(step) && when(run) ? lapse : undefined));

const isRefused = (run: Run): boolean => sent(run)?.refusal !== undefined;
const isUnanswered = (run: Run): boolean => sent(run)?.isUnanswered === true;
const readsQuoted = ({ memory }: Run): boolean => readsOf(memory)?.result === 'quoted';

interface Mutation {
  readonly core: Core;
  /** The search bounds with which the checker finds the mutation fastest. */
  readonly foundIn: 'twoAttempts' | 'suspended';
}

export const mutations: Readonly<Record<string, Mutation>> = {
  'treats a refused confirmation as final at the first read of `quoted`': {
    foundIn: 'twoAttempts',
    core: lapsing((run) => isRefused(run) && !isUnanswered(run) && readsQuoted(run)),
  },
  'treats a refused confirmation as final after an unanswered confirmation': {
    foundIn: 'suspended',
    core: lapsing((run) => isRefused(run) && isUnanswered(run) && readsQuoted(run)),
  },
  'measures 8 s of stale reads until now instead of until the last read': {
    foundIn: 'suspended',
    core: lapsing(
      (run) =>
        isRefused(run) &&
        !isUnanswered(run) &&
        readsQuoted(run) &&
        (readsOf(run.memory)?.sinceMs ?? 0) <= -8_000,
    ),
  },
  'treats a confirmation as not sent if the sign-in after a 401 fails': {
    foundIn: 'twoAttempts',
    core: {
      ...core,
      apply: (run, event) =>
        event.is === 'unanswered' && event.error === errors.signInFailed
          ? core.apply(run, { ...event, mayHaveArrived: false })
          : core.apply(run, event),
    },
  },
  'treats a quote as lapsed at the first read of `expired` although another client may have confirmed it':
    {
      foundIn: 'twoAttempts',
      core: deciding(({ attempt, memory }, _, step) =>
        attempt.state === 'quoted' && readsOf(memory)?.result === 'lapsed' && isWaiting(step)
          ? lapse
          : undefined,
      ),
    },
  'treats `expired` after submission as proof that nothing moved': {
    foundIn: 'twoAttempts',
    core: recording((before, after) =>
      before === 'submitting' && after === 'unknown' ? 'lapsed' : undefined,
    ),
  },
  'sends the confirmation before `submitting` is on disk': {
    foundIn: 'twoAttempts',
    core: { ...core, writesFirst: false },
  },
  'opens a new attempt without --retry after an unknown outcome': {
    foundIn: 'twoAttempts',
    core: deciding((run, _, step) =>
      run.attempt.state === 'unknown' && isGivingUp(run, step) ? openAttempt(run) : undefined,
    ),
  },
  'opens a new attempt without --retry after a failed attempt': {
    foundIn: 'twoAttempts',
    core: deciding((run, _, step) =>
      run.attempt.state === 'failed' && isGivingUp(run, step) ? openAttempt(run) : undefined,
    ),
  },
  'opens a new attempt instead of repeating an unanswered confirmation': {
    foundIn: 'twoAttempts',
    core: deciding((run, _, step) =>
      isUnanswered(run) && step.do === 'confirm' ? openAttempt(run) : undefined,
    ),
  },
  'omits an attempt with an unknown outcome from the limits': {
    foundIn: 'twoAttempts',
    core: {
      ...core,
      mayHaveMoved: (attempt) => attempt.state !== 'unknown' && mayHaveMoved(attempt),
    },
  },
  'omits an attempt from the limits until the service accepts its confirmation': {
    foundIn: 'twoAttempts',
    core: {
      ...core,
      mayHaveMoved: (attempt) => attempt.state !== 'submitting' && mayHaveMoved(attempt),
    },
  },
  'submits an attempt without charging its budget': {
    foundIn: 'twoAttempts',
    core: {
      ...core,
      apply: (run, event) =>
        core.apply(
          run,
          event.is === 'submitted'
            ? { ...event, amounts: { ...event.amounts, budget: null } }
            : event,
        ),
    },
  },
  'reports "nothing moved" after an interrupt during a confirmation': {
    foundIn: 'twoAttempts',
    core: deciding(({ memory }, _, step) =>
      memory.isInterrupted === true && step.do === 'stop' && failureOf(step) === 'pending'
        ? nothingMoved
        : undefined,
    ),
  },
  'reports the latest attempt and ignores the unknown outcome of an earlier attempt': {
    foundIn: 'twoAttempts',
    core: deciding(({ attempt }, _, step) =>
      step.do === 'stop' && failureOf(step) === 'pending' && !mayHaveMoved(attempt)
        ? nothingMoved
        : undefined,
    ),
  },
  'treats a payment as lapsed after an unanswered confirmation': {
    foundIn: 'twoAttempts',
    core: lapsing((run) => isUnanswered(run) && readsOf(run.memory) !== undefined),
  },
  'withdraws the submission of an attempt after an unanswered confirmation': {
    foundIn: 'suspended',
    core: deciding((run, _, step) =>
      isUnanswered(run) && run.memory.submittedHere === true && isGivingUp(run, step)
        ? { do: 'withdraw', failure: errors.notSent }
        : undefined,
    ),
  },
  'reports "nothing moved" although it could not write the withdrawal of the submission': {
    foundIn: 'suspended',
    core: deciding(({ memory }, _, step) =>
      memory.phase === 'submitting' && memory.stopped !== undefined && step.do === 'stop'
        ? nothingMoved
        : undefined,
    ),
  },
  'resumes a payment without consent': {
    foundIn: 'suspended',
    core: {
      ...core,
      mayResume: () => true,
    },
  },
  'adopts a transaction of another account': {
    foundIn: 'twoAttempts',
    core: { ...core, mayAdopt: () => true },
  },
  'reports "nothing moved" to a person who declined although another process submitted the payment':
    {
      foundIn: 'suspended',
      core: {
        ...core,
        reportOfNo: () => 'nothing moved',
      },
    },
};
