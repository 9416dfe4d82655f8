// What `doctor` found: a line for each check, and below a problem what to do about it.
import { sanitize } from '../sanitize.js';
import type { Canvas } from '../terminal.js';
import { padRight, wrap } from '../text.js';
import type { ListView } from '../rows/view.js';

export interface Check {
  readonly check: string;
  readonly state: 'ok' | 'problem';
  readonly detail: string;
  /** What to do, where there is something to do. */
  readonly advice: string | null;
}

const labelWidth = 9;

export function checkupLines(checks: readonly Check[], canvas: Canvas): string[] {
  const problems = checks.filter(({ state }) => state === 'problem').length;
  const verdict = problems === 0 ? 'Everything is in order.' : `${problems} ${problems === 1 ? 'problem' : 'problems'}.`;
  return ['', ...checks.flatMap((check) => checkLines(check, canvas)), '', `  ${verdict}`];
}

function checkLines({ check, state, detail, advice }: Check, { style, columns }: Canvas): string[] {
  const sign = state === 'ok' ? style.green('✓') : style.red('✗');
  const indent = ' '.repeat(labelWidth + 5);
  const [first = '', ...more] = wrap(sanitize(detail), columns - indent.length);
  return [
    `  ${sign} ${padRight(check, labelWidth)} ${first}`,
    ...more.map((line) => indent + line),
    // A command is never wrapped: it is there to be copied.
    ...(advice === null ? [] : [indent + style.bold(sanitize(advice))]),
  ];
}

export const checkupList: ListView<Check> = {
  columns: [
    { name: 'check', title: 'Check', value: ({ check }) => check },
    { name: 'state', title: 'State', value: ({ state }) => state },
    { name: 'detail', title: 'Detail', value: ({ detail }) => detail },
    { name: 'advice', title: 'Advice', value: ({ advice }) => advice },
  ],
  quiet: ({ check, state }) => `${check} ${state}`,
  empty: 'Nothing was checked.',
};
