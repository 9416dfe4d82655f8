// Tests that a shell and svcpay read a printed command as svcpay meant it.
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { readCommandLine } from '../../src/cli/program.js';
import type { NextStep } from '../../src/formats/failure.js';
import { commandFor, commandLine, type RunGlobals } from '../../src/terminal/next-step.js';

/** Splits a command into its words, as a shell does. */
const words = (line: string): string[] =>
  execFileSync('bash', ['-c', `svcpay() { printf '%s\\0' "$@"; }\n${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

const run: RunGlobals = {
  profile: "Ada's work",
  account: 'ne01-1',
  baseUrl: 'https://pay.example/a b',
  insecure: true,
};

const steps: readonly NextStep[] = [
  ...(['sign-in', 'see-wallets', 'see-rates', 'see-limits', 'see-profiles'] as const),
  ...(['see-payout-methods', 'see-history', 'see-open-payments', 'check-installation'] as const),
  ...(['start-new-journal', 'upgrade-database', 'create-tables', 'import-payments'] as const),
]
  .map((step): NextStep => ({ do: step }))
  .concat(
    (['show', 'watch', 'confirm', 'resume', 'retry', 'resolve'] as const).map((step): NextStep => ({
      do: step,
      id: "-it's $HOME `x`",
    })),
  );

describe('a printed command', () => {
  test.each(steps)(
    'of the step $do names a command, its argument and the options of the run',
    (step) => {
      const argv = words(commandFor(step, run));
      const line = readCommandLine(argv);
      expect(line.path.at(-1)?.load).toBeDefined();
      expect(argv.slice(0, 7)).toEqual([
        '--profile',
        "Ada's work",
        '--account',
        'ne01-1',
        '--base-url',
        'https://pay.example/a b',
        '--insecure',
      ]);
      expect(line.word('profile')).toBe("Ada's work");
      if ('id' in step) expect(argv.slice(-2)).toEqual(['--', step.id]);
    },
  );

  test.each([
    ['payroll.csv', ['batch', 'payroll.csv', '--name', 'week 47', '--retry']],
    ['-p.csv', ['batch', '--name', 'week 47', '--retry', '--', '-p.csv']],
    ['-', ['batch', '-', '--name', 'week 47', '--retry']],
  ])('keeps the options of a command whose argument is %s', (argument, expected) => {
    const options = { '--name': 'week 47', '--from': undefined, '--retry': true } as const;
    expect(words(commandLine({ command: 'batch', argument, options }, {}))).toEqual(expected);
  });

  test('keeps a value that starts with a hyphen apart from the options', () => {
    const options = { '--name': '-x' };
    expect(words(commandLine({ command: 'batch', argument: 'a.csv', options }, {}))).toEqual([
      'batch',
      'a.csv',
      '--name=-x',
    ]);
  });
});
