// The checker walks every state that the payment core can reach in this world, merges equal states,
// and checks the invariants of a payment in each state.
import { latest, status } from '../../../../src/store/journal/payment.js';
import type { RunEventBody } from '../../../../src/wallet/payment/model.js';
import { outcomes } from './answers.js';
import { nextOf, started, stopped, successors, taken, type Bounds, type Core } from './runs.js';
import {
  attemptOf,
  budget,
  errors,
  first,
  isRunning,
  keyOf,
  later,
  mayStillMove,
  moved,
  rounded,
  settled,
  withTruth,
  type Running,
  type State,
  type Truth,
} from './world.js';

export interface Checked {
  readonly states: number;
  /** For each violation, a shortest sequence of states that leads to it. */
  readonly broken: ReadonlyMap<string, readonly string[]>;
}

/** Searches breadth first, to the end or to the first violation. */
export function check(by: Core, bounds: Bounds): Checked {
  const cameFrom = new Map<string, string | undefined>([[keyOf(first), undefined]]);
  const ends = new Map<string, boolean>();
  let layer: State[] = [first];
  while (layer.length > 0) {
    const following: State[] = [];
    for (const state of layer) {
      const from = keyOf(state);
      for (const exact of successors(state, by, bounds)) {
        const successor = rounded(exact);
        const key = keyOf(successor);
        if (cameFrom.has(key)) continue;
        cameFrom.set(key, from);
        const found = violation(successor, by) ?? wrongEnd(successor, by, bounds, ends);
        if (found !== undefined)
          return { states: cameFrom.size, broken: new Map([[found, wayTo(key, cameFrom)]]) };
        following.push(successor);
      }
    }
    layer = following;
  }
  return { states: cameFrom.size, broken: new Map() };
}

function wayTo(key: string, cameFrom: ReadonlyMap<string, string | undefined>): string[] {
  const way: string[] = [];
  for (let at: string | undefined = key; at !== undefined; at = cameFrom.get(at)) way.unshift(at);
  return way;
}

/** Returns the invariant that the state violates, or undefined. */
function violation(
  { payment, truths, reported, retries, paidAfterEnd }: State,
  { mayHaveMoved }: Core,
): string | undefined {
  const count = truths.filter(moved).length;
  const isOwn = truths.some((truth) => moved(truth) && !truth.byOther);
  const isPending = truths.some(mayStillMove);
  const counts = (number: number): boolean =>
    payment.attempts.some(
      (attempt) => attempt.number === number && mayHaveMoved(attempt) && attempt.budget === budget,
    );
  const isUncounted = truths.some(
    (truth, index) => truth.sent > 0 && (moved(truth) || mayStillMove(truth)) && !counts(index + 1),
  );
  const again = payment.attempts.filter(
    ({ number, state }) =>
      number < latest(payment).number && ['failed', 'unknown', 'error'].includes(state),
  );
  const ended = ({ real }: Truth): boolean => real === 'failed' || real === 'error';
  const promises: readonly (readonly [isBroken: boolean, promise: string])[] = [
    [count > 1 + retries, 'money moved more often than a person asked for'],
    [again.length > retries, 'a new attempt began that nobody asked for'],
    [reported === 'nothing moved' && isOwn, 'a run reported that nothing moved'],
    [
      reported === 'nothing moved' && isPending,
      'a run reported that nothing moved while a confirmation was on its way',
    ],
    [
      reported === 'not paid' && (isOwn || isPending),
      'a run reported a payment as failed that moved',
    ],
    [
      reported === 'paid' && !truths.some(({ real }) => real === 'completed'),
      'a run reported a payment as paid that was not',
    ],
    [
      reported === 'accepted' && count === 0 && !truths.some(ended),
      'a run reported a payment as accepted that was not',
    ],
    [isUncounted, 'what may have moved does not count against limits and its budget'],
    [paidAfterEnd, 'a resume paid what a run had reported as over'],
  ];
  return promises.find(([isBroken]) => isBroken)?.[1];
}

/**
 * Checks, between runs, that further runs of the same command report the truth once the service
 * answers.
 */
function wrongEnd(
  state: State,
  by: Core,
  bounds: Bounds,
  ends: Map<string, boolean>,
): string | undefined {
  if (isRunning(state)) return undefined;
  const calm: State = {
    ...state,
    reported: '',
    retries: 0,
    isOver: false,
    isAsking: false,
    truths: state.truths.map(settled),
  };
  const key = keyOf(calm);
  const isTrue = ends.get(key) ?? endsInTruth(calm, by, bounds);
  ends.set(key, isTrue);
  return isTrue ? undefined : 'further runs do not end in the truth';
}

const [mostRuns, mostSteps] = [4, 80];

function endsInTruth(from: State, by: Core, bounds: Bounds): boolean {
  let at = from;
  for (let runs = 0; runs < mostRuns; runs += 1) {
    const [running] = started(at, by, { ...bounds, commands: ['the same command'] });
    const end = running && calmRun(running, by, bounds);
    if (end === undefined) return false;
    at = { ...end, truths: end.truths.map(settled) };
  }
  const isPaid = at.truths.some(({ real }) => real === 'completed');
  return isPaid === (status(at.payment) === 'paid') && isPaid === (at.reported === 'paid');
}

/**
 * Runs a process without failures: the service answers each step with the first possible answer
 * that is not a failure. Returns undefined if the run does not end.
 */
function calmRun(running: Running, by: Core, bounds: Bounds): State | undefined {
  let at = running;
  for (let steps = 0; steps < mostSteps; steps += 1) {
    const step = nextOf(at, by);
    if (step.do === 'stop') return stopped(at, step, by, bounds).next().value ?? undefined;
    const outcome = outcomes(at, step, Number.POSITIVE_INFINITY, by).find(({ event }) =>
      isCalm(event),
    );
    if (outcome === undefined) return undefined;
    at = later(
      taken(withTruth(at, attemptOf(at).number, outcome.truth), outcome.event, by),
      step.do === 'wait' ? step.ms : 0,
    );
  }
  return undefined;
}

const trouble: ReadonlySet<RunEventBody['is']> = new Set([
  'unanswered',
  'read-failed',
  'stopped',
  'declined',
  'prompt-expired',
]);

const isCalm = (event: RunEventBody): boolean =>
  !trouble.has(event.is) &&
  !(event.is === 'refused' && event.error === errors.refused) &&
  !(event.is === 'approved' && event.by === 'asked') &&
  !(event.is === 'created' && event.started !== undefined);
