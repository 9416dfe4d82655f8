// How far a transaction is, as a line of steps: quoted ── confirmed ── sent ── settled.
import type { ListedTransaction } from '../api/types.js';
import { sanitize } from './sanitize.js';
import type { Canvas } from './terminal.js';
import { stateStyle } from './transaction-view.js';

type Step = readonly [state: string, word: string];
type Stepped = Pick<ListedTransaction, 'txnState' | 'sourceReq' | 'destReq'>;

const send: readonly Step[] = [
  ['quoted', 'quoted'],
  ['srccreated', 'confirmed'],
  ['destsent', 'sent'],
  ['completed', 'settled'],
];
const swap: readonly Step[] = [
  ['quoted', 'quoted'],
  ['completed', 'settled'],
];
const lightningReceive: readonly Step[] = [
  ['quoted', 'quoted'],
  ['srccreated', 'waiting'],
  ['completed', 'received'],
];
const onchainReceive: readonly Step[] = [
  ['quoted', 'quoted'],
  ['srcintent', 'waiting'],
  ['srccreated', 'seen'],
  ['completed', 'received'],
];

function stepsOf({ sourceReq, destReq }: Stepped): readonly Step[] {
  if (sourceReq.method === 'lightning') return lightningReceive;
  if (sourceReq.method === 'on-chain') return onchainReceive;
  return sourceReq.method === destReq.method ? swap : send;
}

/** The word of the present step: `sent`; a state outside the steps, such as `failed`, is its own word. */
export function stepWord(transaction: Stepped): string {
  return stepsOf(transaction).find(([state]) => state === transaction.txnState)?.[1] ?? sanitize(transaction.txnState);
}

/**
 * The steps up to where the transaction is, what is still to come dim. One that ended outside its steps shows that as
 * its last. `reached` are states known to be passed, for a transaction that did not end well.
 */
export function stepsLine(transaction: Stepped, { style }: Pick<Canvas, 'style'>, reached: readonly string[] = []): string {
  const steps = stepsOf(transaction);
  const at = steps.findIndex(([state]) => state === transaction.txnState);
  const paint = stateStyle(transaction.txnState, style);
  const bar = style.dim(' ── ');
  if (at >= 0) {
    return steps.map(([, word], i) => (i < at ? word : i === at ? paint(word) : style.dim(word))).join(bar);
  }
  const passed = steps.filter(([state], i) => i === 0 || reached.includes(state)).map(([, word]) => word);
  return [...passed, paint(sanitize(transaction.txnState))].join(bar);
}
