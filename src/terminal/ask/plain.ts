// Questions where no escape may be written (`TERM=dumb`, `--no-color`): a line is written, a line is read, no escape is used.
import type { Interface } from 'node:readline';
import { Failure } from '../../formats/failure.js';
import { asciiGlyphs } from '../glyphs.js';
import { sanitize } from '../sanitize.js';
import type { Canvas, InputStream, Terminal } from '../terminal.js';
import { wrap } from '../text.js';
import { back, type Back } from './wizard.js';

export interface PlainChoice<T> {
  readonly value: T;
  readonly name: string;
}

/** Lines over a question, wiped with it where something can be wiped. */
export type Over = (canvas: Canvas) => readonly string[];

export interface PlainAsk {
  /** Shows the lines over a question, when their first is not that of the question before. */
  over(lines: Over | undefined): void;
  confirm(message: string): Promise<boolean>;
  /** `validate` says what is wrong with an answer, and the question stays. */
  text(message: string, fallback: string, validate: (answer: string) => Promise<true | string>): Promise<string>;
  /** What is typed does not show; whoever types sees no sign of it at all. */
  secret(message: string, validate: (answer: string) => Promise<true | string>): Promise<string>;
  /** By number, or by some words of its name. */
  choose<T>(message: string, choices: readonly PlainChoice<T>[], canGoBack: boolean): Promise<T | Back>;
}

export function createPlainAsk(terminal: Terminal, signal: AbortSignal | undefined): PlainAsk {
  const { stderr, stderrCanvas, unicode } = terminal;
  const shown = (text: string): string => (unicode ? sanitize(text) : asciiGlyphs(sanitize(text)));
  const reader = lineReader(terminal, signal);
  const { read } = reader;
  const say = (text: string): void => {
    for (const line of wrap(shown(text), stderrCanvas.columns)) stderr.write(`${line}\n`);
  };
  /** The answer that `reader` gives to a prompt, which may be longer than a line; what comes after begins a new one. */
  const line = async (prompt: string, reader = read): Promise<string> => {
    stderr.write(`${wrap(`? ${shown(prompt)}`, stderrCanvas.columns - 1).join('\n')} `);
    try {
      return await reader();
    } catch (error) {
      stderr.write('\n');
      throw error;
    }
  };

  let title = '';
  return {
    over(lines) {
      const [first = '', ...rest] = lines?.(stderrCanvas) ?? [];
      if (first !== title) ['', first, ...rest].forEach(say);
      title = first;
    },
    async confirm(message) {
      for (;;) {
        const answer = (await line(`${message} (y/N)`)).trim();
        if (/^(y|yes)$/i.test(answer)) return true;
        if (/^(n|no|)$/i.test(answer)) return false;
        say('✗ Answer y or n.');
      }
    },
    async text(message, fallback, validate) {
      for (;;) {
        const answer = (await line(fallback === '' ? message : `${message} (${fallback})`)).trim() || fallback;
        const said = await validate(answer);
        if (said === true) return answer;
        say(`✗ ${said}`);
      }
    },
    async secret(message, validate) {
      for (;;) {
        const answer = (await line(`${message} (what you type does not show)`, () => unseen(terminal.stdin.open(), reader))).trim();
        stderr.write('\n');
        const said = await validate(answer);
        if (said === true) return answer;
        say(`✗ ${said}`);
      }
    },
    async choose(message, choices, canGoBack) {
      let offered = choices;
      for (;;) {
        offered.forEach(({ name }) => say(`  ${choices.findIndex((each) => each.name === name) + 1}  ${name}`));
        const answer = (await line(`${message} (a number${canGoBack ? ', < goes back' : ''})`)).trim();
        if (canGoBack && answer === '<') return back;
        const found = choices[Number(answer) - 1] ?? undefined;
        if (/^\d+$/.test(answer) && found !== undefined) return found.value;
        const matching = choices.filter(({ name }) => answer !== '' && name.toLowerCase().includes(answer.toLowerCase()));
        const [only] = matching;
        if (only !== undefined && matching.length === 1) return only.value;
        if (matching.length === 0) say('✗ Nothing here is called that.');
        offered = matching.length === 0 ? choices : matching;
      }
    },
  };
}

interface LineReader {
  /** From then on no line is lost. */
  open(): Promise<void>;
  read(): Promise<string>;
}

/** One reader for all questions, so that no line typed ahead is lost. */
function lineReader({ stdin }: Terminal, signal: AbortSignal | undefined): LineReader {
  const lines: string[] = [];
  let reader: Interface | undefined;
  let hasEnded = false;
  let wake = (): void => undefined;
  const open = async (): Promise<void> => {
    if (reader !== undefined) return void stdin.open().resume();
    // Not imported above, because few command lines ask.
    const { createInterface } = await import('node:readline');
    reader = createInterface({ input: stdin.open(), terminal: false });
    reader.on('line', (line) => {
      lines.push(line);
      wake();
    });
    reader.on('close', () => {
      hasEnded = true;
      wake();
    });
    signal?.addEventListener('abort', () => wake(), { once: true });
  };
  const read = async (): Promise<string> => {
    await open();
    for (;;) {
      if (signal?.aborted === true) throw new Failure('interrupted', 'Interrupted at a question.');
      const line = lines.shift();
      if (line !== undefined) return line;
      if (hasEnded) throw new Failure('declined', 'The input ended before the question was answered.');
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { open, read };
}

/** A line that is read without its echo. The terminal then leaves the keys that end or mend a line to us. */
async function unseen(stdin: InputStream, { open, read }: LineReader): Promise<string> {
  if (stdin.setRawMode === undefined) throw new Failure('declined', 'It cannot be asked for: what is typed would show.');
  stdin.setRawMode(true);
  try {
    // Whoever listens first sets the stream flowing, and what it brings must not pass the lines by.
    await open();
    return await new Promise((resolve, reject) => {
      const onData = (piece: Buffer | string): void => {
        if (piece.toString().includes(ctrlC)) reject(new Failure('interrupted', 'Interrupted at a question.'));
        if (piece.toString().includes(ctrlD)) reject(new Failure('declined', 'The input ended before the question was answered.'));
      };
      stdin.on('data', onData);
      read().then(mended).then(resolve, reject).finally(() => stdin.off('data', onData));
    });
  } finally {
    stdin.setRawMode(false);
  }
}

const ctrlC = '\u0003';
const ctrlD = '\u0004';

/** Each backspace takes the character before it, Ctrl-U the whole line. */
function mended(typed: string): string {
  let line = '';
  for (const character of typed) {
    if (character === '\u0015') line = '';
    else line = /[\b\u007F]/.test(character) ? [...line].slice(0, -1).join('') : line + character;
  }
  return line;
}
