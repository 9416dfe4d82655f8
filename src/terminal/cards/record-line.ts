// The line that stays when a payment is over: what happened, and the id to ask for, on a line of its own where narrow.
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { widthOf, wrap } from '../text.js';

/** Margin and mark that the live line puts before it. */
const before = 4;

export function recordLine(text: string, id: string, { columns, style }: Canvas): string {
  const [line, whole] = [sanitize(text), sanitize(id)];
  if (before + widthOf(line) + 3 + widthOf(whole) < columns) return `${line}   ${style.dim(whole)}`;
  return [...wrap(line, columns - before), style.dim(whole)].join(`\n${' '.repeat(before)}`);
}
