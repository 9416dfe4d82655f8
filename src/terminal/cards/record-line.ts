// The final line of a payment: the outcome and the id, on a separate line in a narrow window.
import { sideBySide } from '../layout.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { wrap } from '../text.js';

/** Margin and mark of the live line. */
const before = 4;

export function recordLine(text: string, id: string, { columns, style }: Canvas): string {
  const room = columns - before;
  const parts = [
    { text: sanitize(text) },
    { text: style.dim(sanitize(id)), priority: 1, below: true },
  ];
  const [first = '', ...rest] = sideBySide(parts, room - 1, '   ');
  return [...wrap(first, room), ...rest].join(`\n${' '.repeat(before)}`);
}
