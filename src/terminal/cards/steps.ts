// The progress of a transaction, step by step: ✓ quoted ── ✓ confirmed ── ● sent ── ○ settled.
import type { ListedTransaction } from '../../api/types.js';
import { isFinal } from '../../formats/states.js';
import type { Canvas } from '../terminal.js';
import { widthOf } from '../text.js';
import { confirmationsText, kindOf, stateWord, type Kind } from '../views/state-words.js';
import { stateStyle } from '../views/transaction-view.js';

type Stepped = Pick<ListedTransaction, 'txnState' | 'sourceReq' | 'destReq'>;

export interface Step {
  /** The service's own name. */
  readonly state: string;
  /** The label. */
  readonly word: string;
  readonly at: 'passed' | 'present' | 'ahead';
}

const send = { quoted: 'quoted', srccreated: 'confirmed', destsent: 'sent', completed: 'settled' };

const words: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  send,
  swap: { quoted: 'quoted', completed: 'settled' },
  'lightning-receive': { quoted: 'quoted', srccreated: 'invoice ready', completed: 'received' },
  'onchain-receive': {
    quoted: 'quoted',
    srcintent: 'address ready',
    srccreated: 'seen',
    completed: 'received',
  },
  unknown: send,
};

/**
 * The steps of a transaction of this kind. An end outside of them (`failed`, `expired`) is its last step,
 * after those that it has certainly reached.
 */
export function stepsOf(transaction: Stepped, reached: readonly string[] = []): Step[] {
  const { txnState } = transaction;
  const steps = Object.entries(words[kindOf(transaction)]);
  const present = steps.findIndex(([state]) => state === txnState);
  if (present >= 0) {
    return steps.map(([state, word], i) => ({
      state,
      word,
      at: i < present ? 'passed' : i > present ? 'ahead' : 'present',
    }));
  }
  const passed = steps.filter(([state], i) => i === 0 || reached.includes(state));
  return [
    ...passed.map(([state, word]) => ({ state, word, at: 'passed' as const })),
    { state: txnState, word: stateWord(transaction), at: 'present' },
  ];
}

const signs = { passed: '✓', present: '●', ahead: '○' } as const;

/** `✓ quoted`, `● sent`, `○ settled`: readable without colour; the final step has a tick or a cross. */
export function paintStep({ state, word, at }: Step, style: Canvas['style']): string {
  const sign = at === 'present' && isFinal(state) ? (state === 'completed' ? '✓' : '✗') : signs[at];
  const text = `${sign} ${word}`;
  if (at === 'ahead') return style.dim(text);
  return at === 'present' ? stateStyle(state, style)(text) : text;
}

/** On one line, in a narrow window without the passed steps. `reached` are states that have passed. */
export function stepsLine(
  transaction: Stepped,
  { style, columns }: Pick<Canvas, 'style' | 'columns'>,
  reached: readonly string[] = [],
): string {
  const counted = confirmationsText(transaction);
  const steps = stepsOf(transaction, reached);
  const lineOf = (some: readonly Step[]): string => {
    const line = some.map((step) => paintStep(step, style)).join(style.dim(' ── '));
    return counted === undefined ? line : `${line}   ${counted} confirmations`;
  };
  const whole = lineOf(steps);
  return widthOf(whole) + beside <= columns
    ? whole
    : lineOf(steps.filter(({ at }) => at !== 'passed'));
}

/** The width of the rest of a live line: the margin, a spinner, the duration. */
const beside = 10;
