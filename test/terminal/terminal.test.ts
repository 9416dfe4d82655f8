// The facts about the terminal, on one and in a pipe.
import { describe, expect, test } from 'vitest';
import { openTerminal } from '../../src/terminal/terminal.js';
import { memoryStream, openScreen, type ScreenOptions } from './support.js';

const prompts: { name: string; given: ScreenOptions; why: string | undefined }[] = [
  { name: 'on a terminal a question can be asked', given: {}, why: undefined },
  { name: 'stdout may be a pipe', given: { tty: ['stdin', 'stderr'] }, why: undefined },
  { name: 'CI=false is no CI', given: { env: { CI: 'false' } }, why: undefined },
  { name: 'not in a pipe', given: { tty: false }, why: 'stdin is not a terminal' },
  {
    name: 'not with input from a pipe',
    given: { tty: ['stdout', 'stderr'] },
    why: 'stdin is not a terminal',
  },
  {
    name: 'not with stderr in a file',
    given: { tty: ['stdin', 'stdout'] },
    why: 'stderr is not a terminal',
  },
  {
    name: 'not under --no-input',
    given: { flags: { noInput: true } },
    why: '--no-input was given',
  },
  { name: 'not under --json', given: { flags: { json: true } }, why: '--json was given' },
  {
    name: 'not under SVCPAY_NO_INPUT',
    given: { env: { SVCPAY_NO_INPUT: '1' } },
    why: 'SVCPAY_NO_INPUT is set',
  },
  { name: 'not in CI', given: { env: { CI: 'true' } }, why: 'CI is set' },
];

test.each(prompts)('asking: $name', ({ given, why }) => {
  const { terminal } = openScreen(given);
  expect(terminal.whyNoPrompt).toBe(why);
  expect(terminal.canPrompt).toBe(why === undefined);
});

const colours: { name: string; given: ScreenOptions; stdout: number; stderr: number }[] = [
  { name: 'a terminal has them', given: {}, stdout: 1, stderr: 1 },
  { name: 'a pipe has none', given: { tty: false }, stdout: 0, stderr: 0 },
  { name: 'each stream for itself', given: { tty: ['stderr'] }, stdout: 0, stderr: 1 },
  {
    name: '--no-color wins over FORCE_COLOR',
    given: { flags: { noColor: true }, env: { FORCE_COLOR: '1' } },
    stdout: 0,
    stderr: 0,
  },
  { name: 'NO_COLOR turns them off', given: { env: { NO_COLOR: '1' } }, stdout: 0, stderr: 0 },
  {
    name: 'an empty NO_COLOR does not count',
    given: { env: { NO_COLOR: '' } },
    stdout: 1,
    stderr: 1,
  },
  {
    name: 'FORCE_COLOR turns them on in a pipe',
    given: { tty: false, env: { FORCE_COLOR: '' } },
    stdout: 1,
    stderr: 1,
  },
  {
    name: 'FORCE_COLOR=0 turns them off',
    given: { env: { FORCE_COLOR: '0' } },
    stdout: 0,
    stderr: 0,
  },
  {
    name: 'FORCE_COLOR=3 asks for true colour',
    given: { env: { FORCE_COLOR: '3' } },
    stdout: 3,
    stderr: 3,
  },
  { name: 'a dumb terminal has none', given: { env: { TERM: 'dumb' } }, stdout: 0, stderr: 0 },
];

test.each(colours)('colours: $name', ({ given, stdout, stderr }) => {
  const { terminal } = openScreen(given);
  expect([terminal.style.level, terminal.stderrCanvas.style.level]).toEqual([stdout, stderr]);
});

test.each([
  { env: {}, unicode: true },
  { env: { LANG: 'en_US.UTF-8' }, unicode: true },
  { env: { LANG: 'C.utf8' }, unicode: true },
  { env: { LANG: 'C' }, unicode: false },
  { env: { LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' }, unicode: false },
  { env: { LC_ALL: '', LANG: 'en_US.UTF-8' }, unicode: true },
  { env: { TERM: 'linux' }, unicode: false },
])('$env means unicode: $unicode', ({ env, unicode }) => {
  expect(openScreen({ env }).terminal.unicode).toBe(unicode);
});

describe('size', () => {
  test('is that of the terminal', () => {
    const { terminal } = openScreen({ columns: 40, rows: 12 });
    expect([terminal.columns, terminal.rows, terminal.stderrCanvas.columns]).toEqual([40, 12, 40]);
  });

  test('is that of stderr when stdout is a pipe', () => {
    expect(openScreen({ tty: ['stderr'], columns: 40 }).terminal.columns).toBe(40);
  });

  test('is 80 columns wide and endless by default', () => {
    const { terminal } = openScreen({ tty: false });
    expect([terminal.columns, terminal.rows]).toEqual([80, Infinity]);
  });

  test('of 0 columns is unknown and disables animation', () => {
    const { terminal } = openScreen({ columns: 0, rows: 0 });
    expect([terminal.columns, terminal.rows, terminal.canAnimate]).toEqual([80, 24, false]);
  });
});

test.each([
  { given: {}, blocks: 'sextants' },
  { given: { env: { TERM_PROGRAM: 'Apple_Terminal' } }, blocks: 'half' },
  { given: { env: { TERM: 'dumb' } }, blocks: false },
  { given: { env: { LANG: 'C' } }, blocks: false },
  { given: { flags: { noColor: true } }, blocks: false },
  { given: { tty: false }, blocks: false },
])('with $given the smallest blocks are $blocks', ({ given, blocks }) => {
  expect(openScreen(given).terminal.blocks).toBe(blocks);
});

test.each([
  { given: {}, animate: true },
  { given: { tty: false }, animate: false },
  { given: { env: { CI: '1' } }, animate: false },
  { given: { env: { TERM: 'dumb' } }, animate: false },
])('with $given a line may be redrawn: $animate', ({ given, animate }) => {
  expect(openScreen(given).terminal.canAnimate).toBe(animate);
});

describe('after the reader of stdout has closed', () => {
  const opened = () => {
    const stdout = memoryStream();
    const terminal = openTerminal({
      ...openScreen({ tty: false }).terminal,
      stdout,
      env: {},
      flags: {},
    });
    return { stdout, terminal };
  };

  test('the terminal stays quiet', () => {
    const { stdout, terminal } = opened();
    expect(terminal.stdoutClosed()).toBe(false);
    stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    expect(terminal.stdoutClosed()).toBe(true);
  });

  test('a full disk ends the output as well', () => {
    const { stdout, terminal } = opened();
    stdout.emit('error', Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
    expect(terminal.stdoutClosed()).toBe(true);
  });
});
