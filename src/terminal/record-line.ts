// The line that stays when a payment is over: what happened, and the id to ask for, on a line of its own where narrow.
import type { Canvas } from './terminal.js';
import { widthOf } from './text.js';

/** Margin and mark that the live line puts before it. */
const before = 4;

export function recordLine(text: string, id: string, { columns, style }: Canvas): string {
  const fits = before + widthOf(text) + 3 + widthOf(id) < columns;
  return `${text}${fits ? '   ' : `\n${' '.repeat(before)}`}${style.dim(id)}`;
}
