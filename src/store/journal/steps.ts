// The steps of a payment and the moves between them, as one table. A journal takes no other, and holds no intent that the
// table does not allow: what is impossible is found where it is written and where it is read.
import { Failure } from '../../formats/failure.js';
import { isFinal } from '../../formats/states.js';
import type { Doubt, Intent, IntentChange, IntentDraft, Step } from './journal.js';
import { wasLetGo } from './rules.js';

export interface Move {
  readonly from: Step;
  readonly to: Step;
  /** What brings it about, for the diagram in the documentation. */
  readonly when: string;
  /** What else must be true of the intent after it; everything, where nothing is said. */
  readonly only?: (after: Intent, before: Intent) => boolean;
}

const isNext = (after: Intent, before: Intent): boolean => after.attempt > before.attempt;

const isBefore = (after: Intent, before: Intent): boolean => after.attempt < before.attempt;

/** Every move between two steps. An intent may always be written anew at the step where it stands. */
export const moves: readonly Move[] = [
  { from: 'intent', to: 'confirmed', when: 'another try came to nothing after one that may have paid' },
  { from: 'intent', to: 'created', when: 'the service has quoted, or the reference is found' },
  { from: 'created', to: 'intent', when: 'the quote lapsed or was taken back unconfirmed, or is not known' },
  { from: 'created', to: 'confirming', when: 'a yes, within the limits' },
  { from: 'created', to: 'confirmed', when: 'it was let go elsewhere, or a try came to nothing after one that may have paid' },
  { from: 'created', to: 'final', when: 'it ended elsewhere' },
  { from: 'confirming', to: 'confirmed', when: 'the service took the confirmation' },
  { from: 'confirming', to: 'final', when: 'the service says how it ended' },
  { from: 'confirming', to: 'created', when: 'the service refused the confirmation', only: (after) => after.closed },
  { from: 'confirming', to: 'intent', when: 'a person asks for another try', only: isNext },
  { from: 'confirmed', to: 'final', when: 'the service says how it ended' },
  { from: 'confirmed', to: 'intent', when: 'a person asks for another try', only: isNext },
  { from: 'final', to: 'confirmed', when: 'another try came to nothing after one that may have paid', only: isBefore },
  { from: 'final', to: 'intent', when: 'it lapsed unconfirmed, or a person asks for another try', only: isNext },
];

/** What is true of an intent at each step; the text says it where it is not. */
const truths: readonly (readonly [text: string, holds: (intent: Intent) => boolean])[] = [
  ['before it is created there is no transaction', ({ step, txnId }) => (step === 'intent') === (txnId === null)],
  ['what was let go is not given up', ({ step, closed }) => !closed || step === 'intent' || step === 'created'],
  ['what is confirmed was agreed to', ({ step, approvedTotal, approvedAt, spendCcy }) =>
    step !== 'confirming' || (approvedTotal !== null && approvedAt !== null && spendCcy !== null)],
  ['what is final is final at the service', ({ step, txnState }) => step !== 'final' || (txnState !== null && isFinal(txnState))],
  ['attempts are counted from one', ({ attempt }) => Number.isInteger(attempt) && attempt >= 1],
];

/** Gives the intent. Throws Failure `unexpected` for one that cannot be. */
export function checkIntent(intent: Intent): Intent {
  const broken = truths.find(([, holds]) => !holds(intent));
  if (broken === undefined) return intent;
  throw new Failure('unexpected', `The payment ${intent.ref} stands in the journal as it cannot be: ${broken[0]}.`);
}

/** The intent at its first step. */
export const opened = (draft: IntentDraft, at: number): Intent => ({
  ...draft,
  attempt: 1,
  step: 'intent',
  txnId: null,
  txnState: null,
  approvedTotal: null,
  approvedReceives: null,
  spendCcy: null,
  approvedAt: null,
  doubts: [],
  closed: false,
  openedAt: at,
  updatedAt: at,
});

/** The intent after a change. Throws Failure `unexpected` for a move that the table does not have. */
export function changed(before: Intent, change: IntentChange): Intent {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const moved: Intent = { ...before, ...given };
  const after: Intent = { ...moved, doubts: doubtsAfter(before, moved) };
  const isMove = ({ from, to, only }: Move): boolean =>
    from === before.step && to === after.step && (only === undefined || only(after, before));
  if (after.step !== before.step && !moves.some(isMove)) {
    throw new Failure('unexpected', `The journal takes no move from ${before.step} to ${after.step} (payment ${before.ref}).`);
  }
  return checkIntent(after);
}

/** What may have paid is kept beside the attempt that follows it, until the payment goes back to it. */
export function doubtsAfter(before: Intent, after: Intent): readonly Doubt[] {
  const isPresent = ({ attempt, approvedAt }: Doubt): boolean =>
    attempt === after.attempt && wasLetGo(after) && (after.approvedAt !== null || approvedAt === null);
  if (before.doubts.some(isPresent)) return before.doubts.filter((doubt) => !isPresent(doubt));
  const isLeft = after.step === 'intent' && after.attempt > before.attempt && wasLetGo(before);
  return isLeft ? [...before.doubts, doubtOf(before)] : before.doubts;
}

const doubtOf = ({ attempt, txnId, txnState, approvedTotal, approvedReceives, spendCcy, approvedAt }: Intent): Doubt =>
  ({ attempt, txnId, txnState, approvedTotal, approvedReceives, spendCcy, approvedAt });
