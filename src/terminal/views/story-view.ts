// Draws the story of a payment: when and what, then where the money is and the next command.
import { dayAndMonth } from '../../formats/calendar.js';
import { widthOf, wrap } from '../layout.js';
import { fieldColumns, type ListView, type RecordView } from '../rows/view.js';
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { clockTime } from '../time.js';

export interface ExplainedStep {
  /** The time of the step, as ISO 8601. */
  readonly at: string;
  readonly step: string;
  readonly attempt: number | null;
  /** The step as a sentence, or null if the sentence of the next step includes it. */
  readonly text: string | null;
  /** Who or what performed the step. */
  readonly by: { readonly door: string; readonly user: string; readonly host: string };
  readonly detail: object;
}

export interface Explained {
  readonly ref: string;
  readonly txnId: string | null;
  readonly status: string;
  /** Where the money is. */
  readonly end: string;
  readonly steps: readonly ExplainedStep[];
}

export const explainedView: RecordView<Explained> = {
  columns: fieldColumns(['ref', 'txnId', 'status', 'end', 'steps']),
  quiet: ({ status }) => status,
  screen: () => [],
};

export const stepList: ListView<ExplainedStep> = {
  columns: [
    { name: 'at', title: 'When' },
    { name: 'step', title: 'Step' },
    { name: 'text', title: 'What' },
    { name: 'door', title: 'By', value: ({ by }) => by.door },
    { name: 'user', title: 'User', value: ({ by }) => by.user },
    { name: 'host', title: 'Host', value: ({ by }) => by.host },
  ],
  quiet: ({ step }) => step,
  empty: '',
};

export interface DrawnStory {
  readonly title: string;
  readonly names: readonly string[];
  readonly lines: readonly { readonly at: number | undefined; readonly text: string }[];
  readonly end: string;
  /** The next command. */
  readonly command: string;
}

export function storyLines(
  { title, names, lines, end, command }: DrawnStory,
  now: number,
  { columns, style }: Canvas,
): string[] {
  const times = lines.map(({ at }) =>
    at === undefined ? '' : `${dayAndMonth(at, now)} ${clockTime(at)}`,
  );
  const width = Math.max(...times.map(widthOf), 0);
  const drawn = lines.flatMap(({ text }, index) => {
    const [first = '', ...rest] = wrap(sanitize(text), columns - width - 4);
    const time = times[index] ?? '';
    const isGap = time === '' && width > 0;
    return [
      `  ${time.padStart(width)}  ${isGap ? style.dim(first) : first}`,
      ...rest.map((line) => `${' '.repeat(width + 4)}${line}`),
    ];
  });
  return [
    ...wrap(sanitize(title), columns - 2).map((line) => `  ${line}`),
    ...wrap(sanitize(names.join(' · ')), columns - 2).map((line) => `  ${style.dim(line)}`),
    '',
    ...drawn,
    '',
    ...wrap(sanitize(end), columns - 2).map((line) => `  ${style.bold(line)}`),
    `  ${command}`,
  ];
}
