// Asks questions without escape sequences (`TERM=dumb`): svcpay writes a line, then reads a line.
import { Failure, orFailure } from '../../formats/failure.js';
import { asciiGlyphs, sanitize, wrap } from '../text.js';
import type { Terminal, InputStream } from '../terminal.js';
import {
  type Choice,
  type Prompter,
  type LinesAbove,
  type ChoiceQuestion,
  type Validation,
  back,
  type Back,
  inputEnded,
  interrupted,
  isOver,
  notYesOrNo,
  readYesOrNo,
  validFor,
} from './questions.js';
import { StringDecoder } from 'node:string_decoder';

export function askByLines(terminal: Terminal, signal: AbortSignal | undefined): Prompter {
  const lines = openLines(terminal, signal);
  return {
    async confirm(message, { deadline }) {
      const valid = deadline === undefined ? '' : ` [${validFor(deadline)}]`;
      const answered = (): Promise<string> => lines.ask(`${message}${valid} (y/N)`);
      const answer = await untilValid(
        answered,
        (typed) => readYesOrNo(typed) !== undefined || notYesOrNo,
        lines,
      );
      return isOver(deadline) ? 'lapsed' : readYesOrNo(answer) === true;
    },
    text({ message, example, default: suggested = '', validate, over, isSecret }) {
      lines.showOver(over);
      const hint = example === undefined ? wayBack() : `${example}, ${wayBack()}`;
      const asked = isSecret ? [message, 'hidden'] : [message, hint, suggested];
      const prompt = asked
        .filter((part) => part !== '')
        .map((part, i) => (i === 0 ? part : `(${part})`))
        .join(' ');
      const answered = isSecret
        ? () => lines.askUnseen(prompt)
        : async () => (await lines.ask(prompt)) || suggested;
      return untilValid(answered, validate, lines);
    },
    choose: (question) => choose(question, lines),
  };
}

interface Lines {
  say(text: string, indent?: string): void;
  /** Shows a prompt, which may be longer than a line, and resolves with the answer. */
  ask(prompt: string): Promise<string>;
  /** Shows a prompt, and resolves with the answer, which the terminal does not show. */
  askUnseen(prompt: string): Promise<string>;
  /** Shows the lines above a question, unless the first of these lines is already on the screen. */
  showOver(over: LinesAbove | undefined): void;
}

function openLines(terminal: Terminal, signal: AbortSignal | undefined): Lines {
  const { stderr, stderrCanvas, unicode } = terminal;
  const shown = (text: string): string => (unicode ? sanitize(text) : asciiGlyphs(sanitize(text)));
  const ask = async (prompt: string, read: typeof readLine): Promise<string> => {
    terminal.stdin.echo?.(true);
    stderr.write(`${wrap(`? ${shown(prompt)}`, stderrCanvas.columns - 1).join('\n')} `);
    try {
      return (await read(terminal.stdin.open(), signal)).trim();
    } catch (error) {
      stderr.write('\n');
      throw error;
    }
  };
  let title = '';
  return {
    say(text, indent = '') {
      for (const line of wrap(shown(text), stderrCanvas.columns - indent.length))
        stderr.write(`${indent}${line}\n`);
    },
    ask: (prompt) => ask(prompt, readLine),
    async askUnseen(prompt) {
      const answer = await ask(prompt, readUnseen);
      stderr.write('\n');
      return answer;
    },
    showOver(over) {
      const [first = '', ...rest] = over?.(stderrCanvas) ?? [];
      if (first !== title) ['', first, ...rest].forEach((each) => stderr.write(`${shown(each)}\n`));
      title = first;
    },
  };
}

async function untilValid(
  answered: () => Promise<string>,
  validate: (answer: string) => Validation,
  { say }: Lines,
): Promise<string> {
  for (;;) {
    const answer = await answered();
    const problem = validate(answer);
    if (problem === true) return answer;
    say(`✗ ${problem}`);
  }
}

/**
 * Asks for a choice. The person replies with the number of a choice, or with words from its name.
 */
async function choose<T>(
  { message, typed, over, backName, ...question }: ChoiceQuestion<T>,
  { ask, say, showOver }: Lines,
): Promise<T | Back> {
  showOver(over);
  const { always = [], shortcut } = question;
  const choices = [...question.choices, ...always, ...(shortcut === undefined ? [] : [shortcut])];
  let offered: readonly Choice<T>[] = question.startsEmpty === true ? [] : choices;
  for (;;) {
    for (const choice of offered) {
      const number = String(choices.indexOf(choice) + 1);
      const indent = ' '.repeat(2 + String(choices.length).length - number.length);
      say(`${number}  ${choice.name}`, indent);
    }
    const how = offered.length === 0 ? 'part of its name' : 'a number';
    const answer = await ask(`${message} (${how}, ${wayBack(backName)})`);
    if (answer === '<') return back;
    const found = /^\d+$/.test(answer) ? choices[Number(answer) - 1] : undefined;
    if (found !== undefined) return found.value;
    const matching = named(choices, answer);
    const [only] = matching;
    if (only !== undefined && matching.length === 1) return only.value;
    if (matching.length === 0) {
      const own = answer === '' ? undefined : typed && orFailure(() => typed(answer));
      if (own !== undefined && !(own instanceof Failure)) return own.value;
      say(`✗ ${own?.message ?? 'No choice matches this text.'}`);
    }
    offered = matching.length > 0 || question.startsEmpty === true ? matching : choices;
  }
}

const named = <T>(choices: readonly Choice<T>[], words: string): readonly Choice<T>[] =>
  choices.filter(({ name }) => words !== '' && name.toLowerCase().includes(words.toLowerCase()));

const wayBack = (name = 'Back'): string => `< ${name.toLowerCase()}`;

const ctrlC = '\u0003';
const ctrlD = '\u0004';

/** Reads a line. Throws Failure `interrupted` for Ctrl-C, and `declined` for the end of input. */
function readLine(stdin: InputStream, signal: AbortSignal | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder('utf8');
    let typed = '';
    const end = (settle: () => void): void => {
      stdin.off('data', onData).off('end', onEnd).off('close', onEnd).pause();
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => end(() => reject(interrupted()));
    const onEnd = (): void => end(() => reject(inputEnded()));
    const onData = (piece: Buffer | string): void => {
      typed += typeof piece === 'string' ? piece : decoder.write(piece);
      // In raw mode Ctrl-C and Ctrl-D arrive as characters.
      const found = /\r?\n|[\r\u0003\u0004]/.exec(typed);
      if (found === null) return;
      if (found[0] === ctrlC) return onAbort();
      if (found[0] === ctrlD) return onEnd();
      end(() => resolve(typed.slice(0, found.index)));
      const ahead = typed.slice(found.index + found[0].length);
      if (ahead !== '') stdin.unshift(ahead);
    };
    if (signal?.aborted === true) return onAbort();
    if (stdin.readableEnded) return onEnd();
    signal?.addEventListener('abort', onAbort);
    stdin.on('data', onData).on('end', onEnd).on('close', onEnd).resume();
  });
}

/** Reads a line without echo, and applies Backspace and Ctrl-U to the typed text. */
async function readUnseen(stdin: InputStream, signal: AbortSignal | undefined): Promise<string> {
  if (stdin.setRawMode === undefined)
    throw new Failure('declined', 'The terminal cannot hide the input.');
  stdin.setRawMode(true);
  try {
    return withBackspaces(await readLine(stdin, signal));
  } finally {
    stdin.setRawMode(false);
  }
}

/** Applies Backspace, which deletes a character, and Ctrl-U, which deletes the line. */
function withBackspaces(typed: string): string {
  let line = '';
  for (const character of typed) {
    if (character === '\u0015') line = '';
    else line = /[\b\u007F]/.test(character) ? [...line].slice(0, -1).join('') : line + character;
  }
  return line;
}
