// Draws the form above a wizard's question: the current step, and the earlier answers on one line
// per step.
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { padRight, widthOf, wrap } from '../layout.js';

export interface Form {
  /** The title of the form, such as `Payout · step 4 of 6 · Sender`. */
  readonly title: string;
  /** The known answers in the order of the steps. */
  readonly known: readonly FormLine[];
}

interface FormLine {
  readonly text: string;
  /** Whether the person has answered the questions of the step. */
  readonly isDone: boolean;
}

const margin = '  ';
const sign = 2;

export function formLines({ title, known }: Form, { style, columns }: Canvas): string[] {
  const available = columns - margin.length - 1;
  const cells = known.map(({ text, isDone }) => {
    const lines = wrap(sanitize(text), available - sign);
    return lines.map(
      (line, i) => `${i > 0 ? ' ' : isDone ? style.green('✓') : style.dim('…')} ${line}`,
    );
  });
  const titles = wrap(sanitize(title), available).map((line) => style.bold(line));
  return [...titles, ...paired(cells, Math.floor((columns - margin.length) / 2))].map(
    (line) => margin + line,
  );
}

/** Puts two short steps on one line. */
function paired([one, two, ...others]: readonly (readonly string[])[], half: number): string[] {
  if (one === undefined) return [];
  if (two === undefined) return [...one];
  const isShort = ([line = '', ...more]: readonly string[]): boolean =>
    more.length === 0 && widthOf(line) < half - 2;
  if (!isShort(one) || !isShort(two)) return [...one, ...paired([two, ...others], half)];
  return [`${padRight(one[0] ?? '', half)}${two[0] ?? ''}`, ...paired(others, half)];
}
