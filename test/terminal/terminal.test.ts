// Tests what svcpay detects about a terminal and a pipe: prompts, colours, Unicode and size.
import { describe, expect, test } from 'vitest';
import { openTerminal } from '../../src/terminal/terminal.js';
import { memoryStream, openScreen, type ScreenOptions } from './support.js';

const prompts: { name: string; given: ScreenOptions; why: string | undefined }[] = [
  { name: 'can prompt on a terminal', given: {}, why: undefined },
  { name: 'can prompt if stdout is a pipe', given: { tty: ['stdin', 'stderr'] }, why: undefined },
  { name: 'can prompt with CI=false', given: { env: { CI: 'false' } }, why: undefined },
  { name: 'cannot prompt in a pipe', given: { tty: false }, why: 'stdin is not a terminal' },
  {
    name: 'cannot prompt if input comes from a pipe',
    given: { tty: ['stdout', 'stderr'] },
    why: 'stdin is not a terminal',
  },
  {
    name: 'cannot prompt if stderr is a file',
    given: { tty: ['stdin', 'stdout'] },
    why: 'stderr is not a terminal',
  },
  {
    name: 'cannot prompt with --no-input',
    given: { flags: { noInput: true } },
    why: '--no-input was given',
  },
  { name: 'cannot prompt with --json', given: { flags: { json: true } }, why: '--json was given' },
  {
    name: 'cannot prompt with SVCPAY_NO_INPUT',
    given: { env: { SVCPAY_NO_INPUT: '1' } },
    why: 'SVCPAY_NO_INPUT is set',
  },
  { name: 'cannot prompt in CI', given: { env: { CI: 'true' } }, why: 'CI is set' },
];

test.each(prompts.map((each) => [each.name, each] as const))(
  'openTerminal reports that svcpay %s',
  (_name, { given, why }) => {
    const { terminal } = openScreen(given);
    expect(terminal.whyNoPrompt).toBe(why);
    expect(terminal.canPrompt).toBe(why === undefined);
  },
);

const colours: { name: string; given: ScreenOptions; stdout: number; stderr: number }[] = [
  { name: 'uses colours on a terminal', given: {}, stdout: 1, stderr: 1 },
  { name: 'uses no colours in a pipe', given: { tty: false }, stdout: 0, stderr: 0 },
  {
    name: 'uses colours only on the stream that is a terminal',
    given: { tty: ['stderr'] },
    stdout: 0,
    stderr: 1,
  },
  {
    name: 'uses no colours with --no-color, even with FORCE_COLOR',
    given: { flags: { noColor: true }, env: { FORCE_COLOR: '1' } },
    stdout: 0,
    stderr: 0,
  },
  {
    name: 'uses no colours with NO_COLOR',
    given: { env: { NO_COLOR: '1' } },
    stdout: 0,
    stderr: 0,
  },
  {
    name: 'ignores an empty NO_COLOR',
    given: { env: { NO_COLOR: '' } },
    stdout: 1,
    stderr: 1,
  },
  {
    name: 'uses colours in a pipe with FORCE_COLOR',
    given: { tty: false, env: { FORCE_COLOR: '' } },
    stdout: 1,
    stderr: 1,
  },
  {
    name: 'uses no colours with FORCE_COLOR=0',
    given: { env: { FORCE_COLOR: '0' } },
    stdout: 0,
    stderr: 0,
  },
  {
    name: 'uses true colour with FORCE_COLOR=3',
    given: { env: { FORCE_COLOR: '3' } },
    stdout: 3,
    stderr: 3,
  },
  {
    name: 'uses no colours on a dumb terminal',
    given: { env: { TERM: 'dumb' } },
    stdout: 0,
    stderr: 0,
  },
];

test.each(colours.map((each) => [each.name, each] as const))(
  'openTerminal chooses the colours of each stream: it %s',
  (_name, { given, stdout, stderr }) => {
    const { terminal } = openScreen(given);
    expect([terminal.style.level, terminal.stderrCanvas.style.level]).toEqual([stdout, stderr]);
  },
);

test.each(
  [
    { what: 'Unicode without a locale', env: {}, unicode: true },
    { what: 'Unicode with LANG=en_US.UTF-8', env: { LANG: 'en_US.UTF-8' }, unicode: true },
    { what: 'Unicode with LANG=C.utf8', env: { LANG: 'C.utf8' }, unicode: true },
    { what: 'ASCII with LANG=C', env: { LANG: 'C' }, unicode: false },
    {
      what: 'ASCII with LC_ALL=POSIX',
      env: { LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' },
      unicode: false,
    },
    {
      what: 'the locale of LANG if LC_ALL is empty',
      env: { LC_ALL: '', LANG: 'en_US.UTF-8' },
      unicode: true,
    },
    { what: 'ASCII on a Linux console', env: { TERM: 'linux' }, unicode: false },
  ].map((each) => [each.what, each] as const),
)('openTerminal reads the locale: it uses %s', (_what, { env, unicode }) => {
  expect(openScreen({ env }).terminal.unicode).toBe(unicode);
});

describe('openTerminal', () => {
  test('reports the size of the terminal', () => {
    const { terminal } = openScreen({ columns: 40, rows: 12 });
    expect([terminal.columns, terminal.rows, terminal.stderrCanvas.columns]).toEqual([40, 12, 40]);
  });

  test('reports the size of stderr if stdout is a pipe', () => {
    expect(openScreen({ tty: ['stderr'], columns: 40 }).terminal.columns).toBe(40);
  });

  test('reports 80 columns and unlimited rows if no stream is a terminal', () => {
    const { terminal } = openScreen({ tty: false });
    expect([terminal.columns, terminal.rows]).toEqual([80, Infinity]);
  });

  test('treats a width of 0 columns as unknown, and disables animation', () => {
    const { terminal } = openScreen({ columns: 0, rows: 0 });
    expect([terminal.columns, terminal.rows, terminal.canAnimate]).toEqual([80, 24, false]);
  });
});

test.each(
  [
    { what: 'sextants for QR codes on a terminal', given: {}, blocks: 'sextants' },
    {
      what: 'half blocks for QR codes in Apple Terminal',
      given: { env: { TERM_PROGRAM: 'Apple_Terminal' } },
      blocks: 'half',
    },
    {
      what: 'no blocks for QR codes on a dumb terminal',
      given: { env: { TERM: 'dumb' } },
      blocks: false,
    },
    { what: 'no blocks for QR codes with LANG=C', given: { env: { LANG: 'C' } }, blocks: false },
    {
      what: 'no blocks for QR codes with --no-color',
      given: { flags: { noColor: true } },
      blocks: false,
    },
    { what: 'no blocks for QR codes in a pipe', given: { tty: false }, blocks: false },
  ].map((each) => [each.what, each] as const),
)('openTerminal offers %s', (_what, { given, blocks }) => {
  expect(openScreen(given).terminal.blocks).toBe(blocks);
});

test.each(
  [
    { what: 'redraws a line on a terminal', given: {}, animate: true },
    { what: 'does not redraw a line in a pipe', given: { tty: false }, animate: false },
    { what: 'does not redraw a line in CI', given: { env: { CI: '1' } }, animate: false },
    {
      what: 'does not redraw a line on a dumb terminal',
      given: { env: { TERM: 'dumb' } },
      animate: false,
    },
  ].map((each) => [each.what, each] as const),
)('openTerminal decides whether svcpay may redraw a line: it %s', (_what, { given, animate }) => {
  expect(openScreen(given).terminal.canAnimate).toBe(animate);
});

describe('openTerminal after a failed write', () => {
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

  test('reports stdout as closed if its reader is gone', () => {
    const { stdout, terminal } = opened();
    expect(terminal.stdoutClosed()).toBe(false);
    stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    expect(terminal.stdoutClosed()).toBe(true);
  });

  test('reports stdout as closed if the disk is full', () => {
    const { stdout, terminal } = opened();
    stdout.emit('error', Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
    expect(terminal.stdoutClosed()).toBe(true);
  });
});
