// Questions without escape sequences (`TERM=dumb`): a line is written, a line is read.
import { formatDuration } from '../../formats/duration.js';
import { asciiGlyphs } from '../glyphs.js';
import { sanitize } from '../sanitize.js';
import type { Terminal } from '../terminal.js';
import { wrap } from '../text.js';
import type { Prompter, Over, SelectQuestion } from './questions.js';
import { readLine, readUnseen } from './read-line.js';
import { back, type Back } from './wizard.js';

export function askByLines(terminal: Terminal, signal: AbortSignal | undefined): Prompter {
  const { stderr, stderrCanvas, unicode } = terminal;
  const shown = (text: string): string => (unicode ? sanitize(text) : asciiGlyphs(sanitize(text)));
  const say = (text: string, indent = ''): void => {
    for (const line of wrap(shown(text), stderrCanvas.columns - indent.length))
      stderr.write(`${indent}${line}\n`);
  };
  /** The answer to a prompt, which may be longer than a line. */
  const line = async (prompt: string, read = readLine): Promise<string> => {
    terminal.stdin.echo?.(true);
    stderr.write(`${wrap(`? ${shown(prompt)}`, stderrCanvas.columns - 1).join('\n')} `);
    try {
      return (await read(terminal.stdin.open(), signal)).trim();
    } catch (error) {
      stderr.write('\n');
      throw error;
    }
  };
  const confirm = async (message: string): Promise<boolean> => {
    for (;;) {
      const answer = await line(`${message} (y/N)`);
      if (/^(y|yes)$/i.test(answer)) return true;
      if (/^(n|no|)$/i.test(answer)) return false;
      say('✗ Answer y or n.');
    }
  };

  let title = '';
  /** Shows the lines above a question, unless their first line is already shown. */
  const showOver = (over: Over | undefined): void => {
    const [first = '', ...rest] = over?.(stderrCanvas) ?? [];
    if (first !== title) ['', first, ...rest].forEach((each) => stderr.write(`${shown(each)}\n`));
    title = first;
  };
  /** By number, or by words of its name. */
  const choose = async <T>({
    message,
    choices,
    over,
    backName,
  }: SelectQuestion<T>): Promise<T | Back> => {
    showOver(over);
    let offered = choices;
    for (;;) {
      for (const choice of offered) {
        const number = String(choices.indexOf(choice) + 1);
        say(
          `${number}  ${choice.name}`,
          ' '.repeat(2 + String(choices.length).length - number.length),
        );
      }
      const answer = await line(`${message} (a number, ${wayBack(backName)})`);
      if (answer === '<') return back;
      const found = choices[Number(answer) - 1];
      if (/^\d+$/.test(answer) && found !== undefined) return found.value;
      const matching = choices.filter(
        ({ name }) => answer !== '' && name.toLowerCase().includes(answer.toLowerCase()),
      );
      const [only] = matching;
      if (only !== undefined && matching.length === 1) return only.value;
      if (matching.length === 0) say('✗ Not in the list.');
      offered = matching.length === 0 ? choices : matching;
    }
  };

  return {
    confirm,
    async confirmWithin(message, { left }) {
      const answer = await confirm(
        `${message} [quote valid ${formatDuration(Math.max(left(), 0))}]`,
      );
      return left() <= 0 ? 'lapsed' : answer;
    },
    async text({ message, example, default: suggested = '', validate, over }) {
      showOver(over);
      const hint = example === undefined ? wayBack() : `${example}, ${wayBack()}`;
      const asked = [message, hint, suggested].filter((part) => part !== '');
      for (;;) {
        const answer =
          (await line(asked.map((part, i) => (i === 0 ? part : `(${part})`)).join(' '))) ||
          suggested;
        const problem = validate(answer);
        if (problem === true) return answer;
        say(`✗ ${problem}`);
      }
    },
    async secret({ message, validate, over }) {
      showOver(over);
      for (;;) {
        // Typing is invisible here.
        const answer = await line(`${message} (hidden)`, readUnseen);
        stderr.write('\n');
        const problem = validate(answer);
        if (problem === true) return answer;
        say(`✗ ${problem}`);
      }
    },
    select: choose,
    search: choose,
  };
}

const wayBack = (name = 'Back'): string => `< ${name.toLowerCase()}`;
