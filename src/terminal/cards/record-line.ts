// The final line of a payment: the outcome and the id, on a separate line in a narrow window.
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { widthOf, wrap } from '../text.js';

/** Margin and mark of the live line. */
const before = 4;

export function recordLine(text: string, id: string, { columns, style }: Canvas): string {
  const [line, whole] = [sanitize(text), sanitize(id)];
  if (before + widthOf(line) + 3 + widthOf(whole) < columns) return `${line}   ${style.dim(whole)}`;
  return [...wrap(line, columns - before), style.dim(whole)].join(`\n${' '.repeat(before)}`);
}
