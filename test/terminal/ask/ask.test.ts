// svcpay asks questions on a terminal, and refuses to ask without a terminal. Tests use a
// pseudo-terminal if they depend on signals, the echo, the size of the window or the jobs of a
// shell.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { PassThrough, Readable } from 'node:stream';
import { createAsk } from '../../../src/terminal/ask/ask.js';
import { anyText, back } from '../../../src/terminal/ask/questions.js';
import { openTerminal, type Canvas } from '../../../src/terminal/terminal.js';
import {
  bundled,
  openScreen as openEmulator,
  startInPty,
  type PtyOptions,
  type PtyProcess,
  type PtyRun,
} from '../../support/pty.js';
import { openTerminalHere } from '../../support/terminal-here.js';
import { askQuestion } from '../fixtures/questions.js';
import { memoryStream, openScreen } from '../support.js';

const enter = '\r';
const escape = '\u001B';
const down = '\u001B[B';
const up = '\u001B[A';
const ctrlC = '\u0003';
const ctrlD = '\u0004';
const ctrlZ = '\u001A';

let program: string;
let run: PtyProcess | undefined;

beforeAll(async () => {
  program = await bundled(new URL('../fixtures/ask.ts', import.meta.url));
});

afterEach(() => run?.kill());

async function askedInPty(
  question: string,
  shown: string,
  options: PtyOptions = {},
): Promise<PtyProcess> {
  run = startInPty(process.execPath, [program, question], options);
  await run.shows(shown);
  return run;
}

/** Asks a question on an emulated terminal in the process of the test. */
async function asked(
  question: string,
  shown: string,
  { columns = 80, rows = 24, env = {} }: PtyOptions = {},
): Promise<PtyRun> {
  const screen = openEmulator(columns, rows);
  const interrupt = (): void => undefined;
  const { type, resize, ...streams } = openTerminalHere({
    columns,
    rows,
    show: screen.write,
    interrupt,
  });
  const here = { TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env };
  const exit = askQuestion(question, { ...streams, env: here }).then(async (exitCode) => {
    await screen.drawn();
    return exitCode;
  });
  await screen.shows(shown);
  return { ...screen, type, resize, exit };
}

const prompts = {
  confirm: 'Pay 0.1 BTC?',
  timed: 'quote valid 1:00',
  lapsing: 'quote valid',
  text: 'Account number',
  parsed: 'Amount',
  secret: 'API secret',
  select: 'Country',
  search: 'Bank',
};

const answers: { name: string; question: string; keys: readonly string[]; answer: string }[] = [
  { name: 'reads y as yes', question: 'confirm', keys: [`y${enter}`], answer: 'true' },
  { name: 'reads YES as yes', question: 'confirm', keys: [`YES${enter}`], answer: 'true' },
  { name: 'reads Enter as no', question: 'confirm', keys: [enter], answer: 'false' },
  { name: 'reads Esc as no', question: 'confirm', keys: [escape], answer: 'false' },
  {
    name: 'reads Esc as no while a quote is valid',
    question: 'timed',
    keys: ['y', escape],
    answer: 'false',
  },
  { name: 'reads n as no', question: 'confirm', keys: [`n${enter}`], answer: 'false' },
  {
    name: 'reads y as yes while a quote is valid',
    question: 'timed',
    keys: [`y${enter}`],
    answer: 'true',
  },
  {
    name: 'reads Enter as no while a quote is valid',
    question: 'timed',
    keys: [enter],
    answer: 'false',
  },
  {
    name: 'asks again after an answer other than yes or no',
    question: 'timed',
    keys: [`x${enter}`, `\u007Fyes${enter}`],
    answer: 'true',
  },
  {
    name: 'ignores a typed yes if the quote expires before Enter',
    question: 'lapsing',
    keys: ['y'],
    answer: '"lapsed"',
  },
  {
    name: 'trims the answer to a text question',
    question: 'text',
    keys: [`  0123456789 ${enter}`],
    answer: '"0123456789"',
  },
  {
    name: 'parses an amount',
    question: 'parsed',
    keys: [`500000vnd${enter}`],
    answer: '"500 000 VND"',
  },
  { name: 'starts a list at its default', question: 'select', keys: [enter], answer: '"KE"' },
  { name: 'moves through a list', question: 'select', keys: [`${up}${enter}`], answer: '"VN"' },
  { name: 'goes back on <', question: 'text', keys: [`<${enter}`], answer: 'back' },
  {
    name: 'goes back on < instead of parsing it',
    question: 'parsed',
    keys: [`<${enter}`],
    answer: 'back',
  },
  {
    name: 'goes back from a text question on Esc',
    question: 'text',
    keys: ['012', escape],
    answer: 'back',
  },
  { name: 'goes back from a list on Esc', question: 'select', keys: [escape], answer: 'back' },
  {
    name: 'goes back from a search on Esc',
    question: 'search',
    keys: ['viet', escape],
    answer: 'back',
  },
  {
    name: 'goes back on the last choice of a list',
    question: 'select',
    keys: [`${down}${enter}`],
    answer: 'back',
  },
];

describe('a prompt on a terminal', () => {
  test.each(answers.map((each) => [each.name, each] as const))(
    'handles the keys that the user types: it %s',
    async (_name, { question, keys, answer }) => {
      const shown = Object.entries(prompts).find(([name]) => question.startsWith(name))?.[1] ?? '';
      const { type, shows, exit } = await asked(question, shown);
      keys.forEach(type);
      await shows(`ANSWER ${answer}`);
      expect(await exit).toBe(0);
    },
  );

  test('finds entries whose name or description contains every word of the search, ignoring accents', async () => {
    const { type, shows, screen } = await asked('search', 'Bank');
    type('cong ngan');
    await shows(/Bank \(type to search\) cong ngan\n❯ VietinBank\n/);
    expect(screen().join('\n')).not.toContain('Vietcombank');
    type(enter);
    await shows('ANSWER "970415"');
  });

  test('selects the first match of a search if Enter arrives together with the search words', async () => {
    const { type, shows } = await asked('search', 'Bank');
    type(`techcom${enter}`);
    await shows('ANSWER "970407"');
  });

  test('does not select the entry "Back" if a search has no matches', async () => {
    const { type, shows } = await asked('search', '← Back');
    type('zzz');
    await shows('No results found');
    type(enter);
    type(`${'\u007F'.repeat(3)}tech`);
    await shows(/❯ Techcombank/);
    type(enter);
    await shows('ANSWER "970407"');
  });

  test('shows why an answer is invalid, and keeps the answer for correction', async () => {
    const { type, shows, screen } = await asked('parsed', 'Amount');
    type(`12.5vnd${enter}`);
    await shows('VND has no decimals');
    expect(screen()[0]).toContain('12.5vnd');
    type(`${'\u007F'.repeat(7)}12${enter}`);
    await shows('ANSWER "12 VND"');
  });

  test('refuses an empty answer to a text question', async () => {
    const { type, shows } = await asked('text', 'Account number');
    type(enter);
    await shows('Enter a value.');
  });

  test('never echoes a typed secret', async () => {
    const { type, shows, written } = await askedInPty('secret', 'API secret');
    type('s3cr3t');
    await shows('API secret ******');
    type(enter);
    await shows('ANSWER "s3cr3t"');
    expect(written().split('ANSWER')[0]).not.toContain('s3');
  });

  test('shows a confirmation with the default "no" and a note, and keeps the answer on the screen', async () => {
    const { type, shows, screen, exit } = await asked('confirm', 'Pay 0.1 BTC? (y/N)');
    await shows(/\(y\/N\)\s+quote valid 29 s/);
    type(`y${enter}`);
    await shows('ANSWER');
    await exit;
    expect(screen()).toEqual(['✓ Pay 0.1 BTC? Yes', 'ANSWER true']);
  });

  test('removes an abandoned question from the screen', async () => {
    const { type, exit, screen } = await asked('text', 'Account number (esc back)');
    type('0123');
    type(escape);
    await exit;
    expect(screen()).toEqual(['ANSWER back']);
  });

  test('discards an answer in a wizard if its question no longer applies after the user went back', async () => {
    const { type, shows } = await asked('wizard', 'Country');
    type(enter);
    await shows('Bank');
    type(enter);
    await shows('Account number');
    type(escape);
    await shows(/❯ Vietcombank/);
    type(escape);
    await shows(/❯ Vietnam/);
    type(`${down}${enter}`);
    await shows('Account number');
    type(`0123${enter}`);
    await shows('ANSWER {"country":"KE","account":"0123"}');
  });

  test('ends a wizard if the user goes back from its first question', async () => {
    const { type, shows } = await asked('wizard', 'Country');
    type(escape);
    await shows('ANSWER back');
  });

  test('escapes control sequences in text from outside', async () => {
    const { shows } = await asked('select', 'Country');
    await shows('Kenya\\x1b[2J');
  });

  test.each(Object.entries(prompts))(
    'exits 130 on Ctrl-C at the %s prompt "%s"',
    async (question, shown) => {
      const { type, shows, exit, isCursorHidden } = await askedInPty(question, shown);
      type(ctrlC);
      await shows('FAILURE interrupted');
      expect(await exit).toBe(130);
      expect(isCursorHidden()).toBe(false);
    },
  );

  test.each(Object.entries(prompts))(
    'exits 9 at the end of input at the %s prompt "%s"',
    async (question, shown) => {
      const { type, shows, exit, isCursorHidden } = await asked(question, shown);
      type(ctrlD);
      await shows('FAILURE declined: The input ended');
      expect(await exit).toBe(9);
      expect(isCursorHidden()).toBe(false);
    },
  );

  test('deletes a character on Ctrl-D within a text, as in a shell', async () => {
    const { type, shows } = await asked('text', 'Account number');
    type(`0123x\u001B[D${ctrlD}${enter}`);
    await shows('ANSWER "0123"');
  });

  test('keeps the question after Ctrl-Z and a return to the foreground', async () => {
    run = startInPty('bash', ['--norc', '--noprofile', '-i'], {
      env: { PS1: 'shell$ ', NODE: process.execPath, ASKING: program },
    });
    const { type, shows } = run;
    await shows('shell$');
    type(`"$NODE" "$ASKING" text${enter}`);
    await shows('? Account number (esc back)');
    type(ctrlZ);
    await shows('Stopped');
    type(`fg${enter}`);
    await shows(/fg\n.*text/);
    type('0123');
    await shows('? Account number (esc back) 0123');
    type(enter);
    await shows('ANSWER "0123"');
  });

  test('keeps the selected item of a list after Ctrl-Z and fg', async () => {
    run = startInPty('bash', ['--norc', '--noprofile', '-i'], {
      env: { PS1: 'shell$ ', NODE: process.execPath, ASKING: program },
    });
    const { type, shows } = run;
    await shows('shell$');
    type(`"$NODE" "$ASKING" below${enter}`);
    await shows('❯ Vietnam');
    type(down);
    await shows('❯ Kenya');
    type(ctrlZ);
    await shows('Stopped');
    type(`fg${enter}`);
    await shows(/esc back\n=+\n\? Country\n {2}Vietnam\n❯ Kenya/);
    type(enter);
    await shows('ANSWER "KE"');
  });

  test('draws a question without colours with NO_COLOR', async () => {
    const { written } = await asked('select', '❯ Kenya', { env: { NO_COLOR: '1' } });
    expect(written()).not.toMatch(/\u001B\[[\d;]*m/);
  });

  test('draws a question in ASCII on a terminal without Unicode', async () => {
    const { screen } = await asked('select', '< Back', { env: { LANG: 'C' } });
    expect(screen().join('\n')).toMatch(/^[\n -~]*$/);
  });

  test('redraws a list with its choice and the lines above it if the window changes', async () => {
    const { type, shows, resize, screen } = await askedInPty('below', '❯ Vietnam');
    type(down);
    await shows('❯ Kenya');
    for (const columns of [40, 100, 30]) {
      resize(columns, 24);
      await shows(new RegExp(`^\n={${columns - 1}}\n\\? Country\n  Vietnam\n❯ Kenya`));
      expect(screen().filter((line) => line.startsWith('='))).toHaveLength(1);
    }
    type(enter);
    await shows('ANSWER "KE"');
  });

  test('wraps a long question onto a second line at a space', async () => {
    const { screen } = await asked('long', 'list', { columns: 40 });
    expect(screen().slice(0, 2)).toEqual([
      '? Relationship to the recipient, a',
      '  number: ask the service for its list',
    ]);
  });

  test('shows each choice on one line in a window of 40 columns', async () => {
    const { screen } = await asked('search', '← Back', { columns: 40 });
    expect(screen().slice(1, 5)).toEqual([
      '❯ Vietcombank',
      '  VietinBank',
      '  Techcombank',
      '  ← Back',
    ]);
  });
});

describe('a prompt in a pipe', () => {
  test.each(
    [
      { question: 'confirm', flag: '--yes' },
      { question: 'text', flag: '--acct-num' },
      { question: 'secret', flag: '--api-secret-stdin' },
      { question: 'search', flag: '--institution CODE' },
    ].map((each) => [each.question, each.flag, each] as const),
  )('refuses a %s prompt at once, and names %s', async (_question, _flag, { question, flag }) => {
    const child = spawn(process.execPath, [program, question], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.on('error', () => undefined).write('y\n');
    const exit = new Promise((resolve) => child.on('close', resolve));
    expect(await text(child.stdout)).toBe(
      `FAILURE declined: Missing ${flag}. svcpay cannot ask, because stdin is not a terminal.\n`,
    );
    expect(await exit).toBe(9);
    child.stdin.end();
  });

  test('confirms without a question if --yes is given', async () => {
    const ask = createAsk(openScreen({ tty: false }).terminal, { yes: true });
    expect(await ask.confirm('Pay?')).toBe(true);
  });

  test('asks no question after Ctrl-C', async () => {
    const { terminal } = openScreen({ tty: true });
    const ask = createAsk(terminal, { yes: false, signal: AbortSignal.abort() });
    await expect(ask.confirm('Pay?')).rejects.toThrow('Interrupted during a question.');
  });

  test('lists all missing flags in one error', () => {
    const ask = createAsk(openScreen({ tty: false }).terminal, { yes: false });
    expect(() => ask.demand(['--country', '--acct-num', '--yes'])).toThrow(
      'Missing --country, --acct-num and --yes.',
    );
  });
});

describe('a prompt on a dumb terminal', () => {
  const dumb = (typed: string) => {
    const stderr = memoryStream({ isTTY: true, columns: 80, rows: 24 });
    const typing = Object.assign(Readable.from([typed]), { isTTY: true });
    const stdin = { isTTY: true, open: () => typing };
    const terminal = openTerminal({
      stdin,
      stdout: memoryStream({ isTTY: true }),
      stderr,
      env: { TERM: 'dumb' },
      flags: {},
    });
    return { ask: createAsk(terminal, { yes: false }), terminal, written: stderr.written };
  };

  test('shows a question as a line with (y/N) and without escape sequences', async () => {
    const { ask, written } = dumb('maybe\ny\n');
    expect(await ask.confirm('Pay 0.5 BTC?')).toBe(true);
    expect(written()).toBe('? Pay 0.5 BTC? (y/N) x Answer y or n.\n? Pay 0.5 BTC? (y/N) ');
  });

  test('fits a question to the current window before a resize signal arrives', async () => {
    const resize = { _refreshSize: () => Object.assign(stderr, { columns: 60 }) };
    const stderr = memoryStream({ isTTY: true, columns: 80, rows: 24, ...resize });
    const stdin = {
      isTTY: true,
      open: () => Object.assign(Readable.from(['0123\n']), { isTTY: true }),
    };
    const terminal = openTerminal({
      stdin,
      stdout: memoryStream(),
      stderr,
      env: { TERM: 'dumb' },
      flags: {},
    });
    const widths: number[] = [];
    const over = ({ columns }: Canvas): readonly string[] => [`Over ${widths.push(columns)}`];
    await createAsk(terminal, { yes: false }).pose({
      parse: anyText,
      message: 'Account number',
      flag: '--acct-num',
      over,
    });
    expect(widths).toEqual([60]);
  });

  test.each(['\n', 'n\n', 'no\n'])('reads %j as no', async (typed) => {
    expect(await dumb(typed).ask.confirm('Pay?')).toBe(false);
  });

  test('does not count the end of input as an answer', async () => {
    await expect(dumb('').ask.confirm('Pay?')).rejects.toMatchObject({ kind: 'declined' });
  });

  test('reads a secret without echo, and asks again if the secret is invalid', async () => {
    const typed = new PassThrough();
    const raw: boolean[] = [];
    const stdin = {
      isTTY: true,
      open: () => Object.assign(typed, { isTTY: true, setRawMode: (on: boolean) => raw.push(on) }),
    };
    const stderr = memoryStream({ isTTY: true, columns: 80, rows: 24 });
    const terminal = openTerminal({
      stdin,
      stdout: memoryStream({ isTTY: true }),
      stderr,
      env: { TERM: 'dumb' },
      flags: {},
    });
    const ask = createAsk(terminal, { yes: false });
    const answer = ask.secret({ message: 'API secret', flag: '--api-secret-stdin' });
    typed.write('\r');
    typed.write('s3cxx\u007F\u007Fret\r');
    expect(await answer).toBe('s3cret');
    expect(raw).toEqual([true, false, true, false]);
    expect(stderr.written().split('\n')).toEqual([
      '? API secret (hidden) ',
      'x Enter a value.',
      '? API secret (hidden) ',
      '',
    ]);
    const stopped = ask.secret({ message: 'API secret', flag: '--api-secret-stdin' });
    await new Promise(setImmediate);
    typed.write('s3c\u0003');
    await expect(stopped).rejects.toMatchObject({ kind: 'interrupted' });
  });

  test('reads one line of typed-ahead input for each question', async () => {
    const { ask, terminal } = dumb('2\n0123\n1\n');
    const question = {
      message: 'How',
      flag: 'METHOD',
      choices: [
        { value: 'l', name: 'Lightning' },
        { value: 'c', name: 'On-chain' },
      ],
    };
    expect(await ask.pose({ ...question, backName: 'Leave' })).toBe('c');
    expect(
      await createAsk(terminal, { yes: false }).pose({
        parse: anyText,
        message: 'Account number',
        flag: '--acct-num',
      }),
    ).toBe('0123');
    expect(await ask.pose(question)).toBe('l');
  });

  test('shows the choices as a numbered list, including the choice to go back', async () => {
    const { ask, written } = dumb('<\n');
    const choices = Array.from({ length: 10 }, (_, i) => ({ value: i, name: `Way ${i}` }));
    await ask.pose({ message: 'How', flag: 'METHOD', choices, backName: 'Leave' });
    expect(written()).toMatch(
      /^ {3}1 {2}Way 0\n[^]*\n {3}9 {2}Way 8\n {2}10 {2}Way 9\n\? How \(a number, < leave\) $/,
    );
  });

  test('accepts a choice by its number or by words of its name', async () => {
    const question = {
      message: 'How',
      flag: 'METHOD',
      choices: [
        { value: 'l', name: 'Lightning' },
        { value: 'c', name: 'On-chain' },
      ],
    };
    expect(await dumb('2\n').ask.pose(question)).toBe('c');
    expect(await dumb('9\nlight\n').ask.pose({ ...question, isSearch: true })).toBe('l');
    expect(await dumb('<\n').ask.pose(question)).toBe(back);
  });
});
