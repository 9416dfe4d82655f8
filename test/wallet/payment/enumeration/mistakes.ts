// The core with one mistake each. The checker finds every one of them, which shows that the rule which the mistake breaks is needed.
import { Failure } from '../../../../src/formats/failure.js';
import { latest, mayHaveMoved, type AttemptState } from '../../../../src/store/journal/payment.js';
import type { Run, Step, Wish } from '../../../../src/wallet/payment/model.js';
import { core, type Core } from './runs.js';

/** Another decision in some situations. */
const deciding = (instead: (run: Run, wish: Wish, step: Step) => Step | undefined): Core => ({
  ...core,
  next: (run, wish, now) => {
    const step = core.next(run, wish, now);
    return instead(run, wish, step) ?? step;
  },
});

/** Another state in place of the one that the journal would get. */
const recording = (
  instead: (before: AttemptState, after: AttemptState) => AttemptState | undefined,
): Core => ({
  ...core,
  apply: (run, fact) => {
    const applied = core.apply(run, fact);
    const attempt = applied.change?.attempt;
    const state = attempt && instead(latest(run.payment).state, attempt.state);
    return attempt === undefined || state === undefined
      ? applied
      : { ...applied, change: { ...applied.change, attempt: { ...attempt, state } } };
  },
});

const lapse: Step = { do: 'conclude', state: 'lapsed' };
const isWaiting = ({ do: what }: Step): boolean => what === 'wait' || what === 'read';
const isGivingUp = ({ known }: Run, step: Step): boolean =>
  step.do === 'stop' && known.isInterrupted !== true;
const begin = ({ payment }: Run): Step => ({ do: 'begin', number: latest(payment).number + 1 });

const failureOf = (step: Step): string | undefined =>
  step.do === 'stop' && 'failure' in step.outcome ? step.outcome.failure.kind : undefined;

const nothingMoved: Step = {
  do: 'stop',
  outcome: { failure: new Failure('interrupted', 'Nothing moved.') },
  abandons: false,
};

export const mistakes: Readonly<Record<string, Core>> = {
  'believes every refusal of a confirmation at the first read of a quote': deciding(
    ({ known: { confirmation, reads } }, _, step) =>
      confirmation.refusal !== undefined &&
      !confirmation.isUnanswered &&
      reads?.result === 'quoted' &&
      isWaiting(step)
        ? lapse
        : undefined,
  ),
  'believes a refusal although an earlier confirmation was not answered': deciding(
    ({ known: { confirmation, reads } }, _, step) =>
      confirmation.refusal !== undefined &&
      confirmation.isUnanswered &&
      reads?.result === 'quoted' &&
      isWaiting(step)
        ? lapse
        : undefined,
  ),
  'counts the 8 s to the present instead of to the last read': deciding(
    ({ known: { confirmation, reads } }, _, step) =>
      confirmation.refusal !== undefined &&
      !confirmation.isUnanswered &&
      reads?.result === 'quoted' &&
      reads.sinceMs <= -8_000 &&
      isWaiting(step)
        ? lapse
        : undefined,
  ),
  'takes a quote for expired at the first read, although others know the reference': deciding(
    ({ payment, known: { reads } }, _, step) =>
      latest(payment).state === 'quoted' && reads?.result === 'lapsed' && isWaiting(step)
        ? lapse
        : undefined,
  ),
  'takes `expired` after submission for proof that nothing moved': recording((before, after) =>
    before === 'submitting' && after === 'unknown' ? 'lapsed' : undefined,
  ),
  'confirms before `submitting` is on disk': { ...core, writesFirst: false },
  'begins another attempt by itself while the last one is unknown': deciding((run, _, step) =>
    latest(run.payment).state === 'unknown' && isGivingUp(run, step) ? begin(run) : undefined,
  ),
  'begins another attempt by itself after one that failed': deciding((run, _, step) =>
    latest(run.payment).state === 'failed' && isGivingUp(run, step) ? begin(run) : undefined,
  ),
  'begins another attempt in place of confirming the same transaction again': deciding(
    (run, _, step) =>
      latest(run.payment).state === 'submitting' &&
      run.known.confirmation.isUnanswered &&
      step.do === 'confirm'
        ? begin(run)
        : undefined,
  ),
  'does not count an unknown attempt against limits': {
    ...core,
    mayHaveMoved: (attempt) => attempt.state !== 'unknown' && mayHaveMoved(attempt),
  },
  'counts an attempt against limits only when the service has accepted it': {
    ...core,
    mayHaveMoved: (attempt) => attempt.state !== 'submitting' && mayHaveMoved(attempt),
  },
  'reports an interrupt during a confirmation as nothing moved': deciding(({ known }, _, step) =>
    known.isInterrupted === true && step.do === 'stop' && failureOf(step) === 'pending'
      ? nothingMoved
      : undefined,
  ),
  'forgets an earlier attempt that is unknown when it reports the latest one': deciding(
    ({ payment }, _, step) =>
      step.do === 'stop' && failureOf(step) === 'pending' && !mayHaveMoved(latest(payment))
        ? nothingMoved
        : undefined,
  ),
  'gives up a payment whose confirmation was not answered': deciding(
    ({ payment, known: { confirmation, reads } }, _, step) =>
      latest(payment).state === 'submitting' &&
      confirmation.isUnanswered &&
      reads !== undefined &&
      isWaiting(step)
        ? lapse
        : undefined,
  ),
};
