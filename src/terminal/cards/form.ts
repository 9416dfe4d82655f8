// A form of several steps, as it stands over its question: which step it is, and what is answered, folded to a line a step.
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { padRight, widthOf, wrap } from '../text.js';

export interface Form {
  /** `Payout · step 4 of 6 · Sender` */
  readonly title: string;
  /** What is known, in the order of the steps. */
  readonly known: readonly Known[];
}

interface Known {
  readonly text: string;
  /** Its step is over. */
  readonly isDone: boolean;
}

const margin = '  ';
const sign = 2;

/** Two steps stand beside each other where both are short enough. */
export function formLines({ title, known }: Form, { style, columns }: Canvas): string[] {
  const room = columns - margin.length - sign - 1;
  const half = Math.floor((columns - margin.length) / 2);
  const lines: string[] = [];
  let open: string | undefined;
  const close = (): void => {
    if (open !== undefined) lines.push(margin + open);
    open = undefined;
  };
  for (const { text, isDone } of known) {
    const [first = '', ...rest] = wrap(sanitize(text), room);
    const cell = `${isDone ? style.green('✓') : style.dim('…')} ${first}`;
    const fits = rest.length === 0 && widthOf(cell) < half - 2;
    if (open !== undefined && fits) {
      lines.push(margin + padRight(open, half) + cell);
      open = undefined;
      continue;
    }
    close();
    open = cell;
    if (fits) continue;
    close();
    lines.push(...rest.map((line) => `${margin}${' '.repeat(sign)}${line}`));
  }
  close();
  return [...wrap(sanitize(title), columns - margin.length - 1).map((line) => margin + style.bold(line)), ...lines];
}
