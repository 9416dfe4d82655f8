// Shows the progress of a transaction: a word for each state, the steps of its way, such as
// ✓ quoted ── ✓ confirmed ── ● sent ── ○ settled, and a final line with the outcome.
import type { ListedTransaction } from '../../api/types.js';
import { roughDuration } from '../../formats/calendar.js';
import { hasLapsed, isFinal, isQuoted } from '../../formats/states.js';
import { sideBySide, widthOf, wrap, sanitize } from '../text.js';
import type { Canvas } from '../terminal.js';
import { confirmationsOf, failureReasonOf } from '../../api/unspecified.js';
import type { ChalkInstance } from 'chalk';
import { entryOf } from '../../formats/text.js';

type Stepped = Pick<ListedTransaction, 'txnState' | 'sourceReq' | 'destReq'>;

export interface Step {
  /** The service's name for the state. */
  readonly state: string;
  /** The word that the screen shows for the state. */
  readonly word: string;
  readonly at: 'passed' | 'present' | 'ahead';
}

const send = ['quoted', 'srccreated', 'destsent', 'completed'];

/** The states that a transaction of each kind passes through. */
const ways: Readonly<Record<Kind, readonly string[]>> = {
  send,
  swap: ['quoted', 'completed'],
  'lightning-receive': ['quoted', 'srccreated', 'completed'],
  'onchain-receive': ['quoted', 'srcintent', 'srccreated', 'completed'],
  unknown: send,
};

/**
 * Returns the steps of a transaction. If the transaction ended in a state that is not a step
 * (`failed`, `expired`), that state follows the steps that the transaction certainly reached.
 */
export function stepsOf(transaction: Stepped, reached: readonly string[] = []): Step[] {
  const { txnState } = transaction;
  const kind = kindOf(transaction);
  const end = kind.endsWith('receive') ? 'received' : 'settled';
  const step =
    (at: Step['at']) =>
    (state: string): Step => ({
      state,
      at,
      word: state === 'completed' ? end : uncountedWord({ ...transaction, txnState: state }),
    });
  const way = ways[kind];
  const present = way.indexOf(txnState);
  const isPassed = (state: string, i: number): boolean =>
    present < 0 ? i === 0 || reached.includes(state) : i < present;
  const ahead = present < 0 ? [] : way.slice(present + 1);
  return [
    ...way.filter(isPassed).map(step('passed')),
    step('present')(txnState),
    ...ahead.map(step('ahead')),
  ];
}

const signs = { passed: '✓', present: '●', ahead: '○' } as const;

/**
 * Returns the text of a step, such as `✓ quoted`, `● sent` or `○ settled`, readable without colour.
 * A final state has a tick, a cross, or a dash if it expired or was cancelled.
 */
export function stepText({ state, word, at }: Step): string {
  const end = state === 'completed' ? '✓' : hasLapsed(state) ? '–' : '✗';
  return `${at === 'present' && isFinal(state) ? end : signs[at]} ${word}`;
}

/** Returns a function that colours the text of a step. */
export const stepStyle =
  ({ state, at }: Step) =>
  (text: string, style: ChalkInstance): string =>
    at === 'passed' ? text : (at === 'ahead' ? style.dim : stateStyle(state, style))(text);

/**
 * Draws the steps on one line. In a narrow window, the line first omits the passed steps, then the
 * future steps. `reached` contains the states that the transaction has reached.
 */
export function stepsLine(
  transaction: Stepped,
  { style, columns }: Pick<Canvas, 'style' | 'columns'>,
  reached: readonly string[] = [],
): string {
  const counted = confirmationsText(transaction);
  const end = counted === undefined ? '' : `   ${counted} confirmations`;
  const parts = stepsOf(transaction, reached).map((step) => ({
    text: stepStyle(step)(stepText(step), style),
    priority: leaving[step.at],
  }));
  const [line = ''] = sideBySide(
    parts,
    columns - beside - besideDuration - widthOf(end),
    style.dim(' ── '),
  );
  return line + end;
}

const leaving = { passed: 2, ahead: 1, present: 0 } as const;

/** The width of the gap between the last step and the duration. */
const besideDuration = 5;

/**
 * The width that the live line needs in addition to the steps: for the margin, the spinner, a space
 * and the unused last cell of the window.
 */
const beside = 5;

/** The minimum duration, in ms, of a wait that the live line describes. */
const shortMs = 3_000;

/**
 * Describes the wait for an outgoing payment, such as `4 min · on-chain usually takes 30 min ·
 * Ctrl-C is safe: the payment continues`. Returns an empty string for a short wait, and for a
 * transaction that is not an outgoing payment in flight.
 * @param usually the usual duration, in words
 */
export function waitingText(
  { txnState, sourceReq }: Stepped,
  waitedMs: number,
  usually: string | undefined,
): string {
  const isUnderWay = sourceReq.method === 'servicepay' && !isQuoted(txnState) && !isFinal(txnState);
  if (!isUnderWay || waitedMs < shortMs) return '';
  return [roughDuration(waitedMs), usually ?? '', 'Ctrl-C is safe: the payment continues']
    .filter((text) => text !== '')
    .join(' · ');
}

/** Returns the time since the service created a transaction, or 0 if the time is unknown. */
export const ageOf = ({ createdAt }: Pick<ListedTransaction, 'createdAt'>, now: number): number =>
  typeof createdAt === 'number' ? Math.max(now - createdAt, 0) : 0;

/**
 * Adds a text next to the steps or, in a narrow window, below the steps. Shortens a text that does
 * not fit on its own line.
 */
export function besideSteps(
  steps: string,
  text: string,
  { style, columns }: Pick<Canvas, 'style' | 'columns'>,
): string {
  const available = columns - beside;
  const line = widthOf(text) <= available ? text : text.replace(/: [^:]+$/, '');
  const parts = [{ text: steps }, { text: line && style.dim(line), priority: 1, below: true }];
  return sideBySide(parts, available, '     ').join('\n');
}

/** The width of the margin and the mark of the live line. */
const before = 4;

export function recordLine(text: string, id: string, { columns, style }: Canvas): string {
  const available = columns - before;
  const parts = [
    { text: sanitize(text) },
    { text: style.dim(sanitize(id)), priority: 1, below: true },
  ];
  const [first = '', ...rest] = sideBySide(parts, available - 1, '   ');
  return [...wrap(first, available), ...rest].join(`\n${' '.repeat(before)}`);
}

type Stated = Pick<ListedTransaction, 'txnState'> &
  Partial<Pick<ListedTransaction, 'sourceReq' | 'destReq'>>;

/** The kinds of transactions that have their own words for states. */
export type Kind = 'send' | 'swap' | 'lightning-receive' | 'onchain-receive' | 'unknown';

export function kindOf({
  sourceReq,
  destReq,
}: Partial<Pick<Stated, 'sourceReq' | 'destReq'>>): Kind {
  const [source, dest] = [sourceReq?.method ?? '', destReq?.method ?? ''];
  if (source === 'lightning') return 'lightning-receive';
  if (source === 'on-chain') return 'onchain-receive';
  if (source !== 'servicepay') return 'unknown';
  return dest === 'servicepay' ? 'swap' : 'send';
}

type Words = Readonly<Record<string, string>>;

const common: Words = {
  quoted: 'quoted',
  userconfirmed: 'confirmed',
  srccreated: 'confirmed',
  srcsent: 'confirmed',
  srcpendconfirmfill: 'confirming',
  srcconfirmfilled: 'confirmed',
  destpendsent: 'sending',
  destsent: 'sent',
  completed: 'done',
  failed: 'failed',
  expired: 'expired',
  rejected: 'refused',
  error: 'error',
  usercanceled: 'cancelled',
  canceled: 'cancelled',
};

const own: Readonly<Partial<Record<Kind, Words>>> = {
  'lightning-receive': { userconfirmed: 'preparing', srccreated: 'invoice ready' },
  'onchain-receive': { userconfirmed: 'preparing', srcintent: 'address ready', srccreated: 'seen' },
  unknown: { srcintent: 'waiting', srccreated: 'in flight' },
};

/**
 * Returns the word for a state, such as `invoice ready`, `sent`, `done` or `2 of 6`, and an unknown
 * state unchanged.
 */
export const stateWord = (txn: Stated): string => confirmationsText(txn) ?? uncountedWord(txn);

/**
 * Returns the word for a state, with the reason if the service reports a reason, such as `failed ·
 * no route`.
 */
export function stateWithReason(txn: ListedTransaction): string {
  const reason = isFinal(txn.txnState) && txn.txnState !== 'completed' && failureReasonOf(txn);
  return reason ? `${stateWord(txn)} · ${sanitize(reason)}` : stateWord(txn);
}

/** Returns the word for a state without the number of confirmations, such as `sent`. */
export const uncountedWord = (txn: Stated): string =>
  entryOf(own[kindOf(txn)] ?? {}, txn.txnState) ??
  entryOf(common, txn.txnState) ??
  (sanitize(txn.txnState) || 'not recognized');

/** Returns the word for the state of an outgoing payment if svcpay knows only the state. */
export const sendWord = (txnState: string): string =>
  stateWord({ txnState, sourceReq: { method: 'servicepay' }, destReq: {} });

/** Returns the number of confirmations, such as `2 of 6`, if the service reports the number. */
export function confirmationsText({ txnState, sourceReq, destReq }: Stated): string | undefined {
  if (
    !['srccreated', 'destsent', 'srcsent', 'srcpendconfirmfill', 'destpendsent'].includes(txnState)
  )
    return undefined;
  const confirmations = [destReq, sourceReq].flatMap((side) =>
    side === undefined ? [] : (confirmationsOf(side) ?? []),
  )[0];
  if (confirmations === undefined) return undefined;
  return confirmations.needed === undefined
    ? `${confirmations.seen} confirmed`
    : `${confirmations.seen} of ${confirmations.needed}`;
}

/**
 * Returns the colour of a state: green for completed, red for failed, dim for expired or cancelled,
 * yellow for in flight.
 */
export function stateStyle(state: string, style: ChalkInstance): (text: string) => string {
  if (state === 'completed') return style.green;
  if (hasLapsed(state)) return style.dim;
  return isFinal(state) ? style.red : style.yellow;
}
