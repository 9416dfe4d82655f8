// Questions as prompts, redrawn in place: for a terminal that supports escape sequences.
import { confirm, input, password, search, select } from '@inquirer/prompts';
import { sanitize } from '../sanitize.js';
import type { Terminal } from '../terminal.js';
import { oneLine, truncate } from '../text.js';
import { runPrompt } from './prompt.js';
import type {
  Choice,
  ChoiceQuestion,
  JudgedText,
  Prompter,
  SelectQuestion,
  Validation,
} from './questions.js';
import { promptTheme } from './theme.js';
import { timedConfirm, type Deadline } from './timed-confirm.js';
import { back, type Back } from './wizard.js';

export function askByPrompts(terminal: Terminal): Prompter {
  return {
    async confirm(message, note) {
      const config = {
        message: sanitize(message),
        default: false,
        theme: promptTheme(terminal, { note }),
      };
      const answer = await runPrompt(terminal, (context) => confirm(config, context), {
        canGoBack: true,
        isFresh: true,
      });
      return answer === true;
    },

    async confirmWithin(message, deadline: Deadline) {
      const config = { message: sanitize(message), deadline, theme: promptTheme(terminal, {}) };
      const answer = await runPrompt(terminal, (context) => timedConfirm(config, context), {
        canGoBack: false,
        isFresh: true,
      });
      return answer === back ? false : answer;
    },

    text({ message, example, default: suggested = '', validate, over: above }: JudgedText) {
      const over = above?.(terminal.stderrCanvas);
      const hint =
        example === undefined ? escBack : `${example}${terminal.unicode ? ' · ' : ', '}${escBack}`;
      let isRefused = false;
      const judge = (answer: string): Validation => {
        const judged = validate(answer);
        isRefused = judged !== true;
        return judged;
      };
      const config = {
        message: sanitize(message),
        default: suggested,
        validate: judge,
        theme: promptTheme(terminal, { hint, over }),
      };
      const pose = {
        canGoBack: true,
        takesPaste: true,
        isRefused: () => isRefused,
        isWiped: over !== undefined,
      };
      return runPrompt(terminal, (context) => input(config, context), pose);
    },

    secret({ message, validate }: JudgedText, canGoBack) {
      const theme = promptTheme(terminal, { hint: canGoBack ? escBack : undefined });
      const config = { message: sanitize(message), mask: true, toggleMask: false, validate, theme };
      return runPrompt(terminal, (context) => password(config, context), {
        canGoBack,
        takesPaste: true,
      });
    },

    select<T>(question: SelectQuestion<T>) {
      const over = question.over?.(terminal.stderrCanvas);
      const config = {
        message: sanitize(question.message),
        choices: [...listed(terminal, question.choices), backChoice(terminal, question.backName)],
        ...(question.default === undefined ? {} : { default: question.default }),
        pageSize: question.pageSize ?? pageSize(terminal, over),
        theme: promptTheme(terminal, { escape: (question.backName ?? 'Back').toLowerCase(), over }),
      };
      const pose = { canGoBack: true, isWiped: over !== undefined };
      return runPrompt(terminal, (context) => select<T | Back>(config, context), pose);
    },

    search<T>(question: ChoiceQuestion<T>) {
      const over = question.over?.(terminal.stderrCanvas);
      const choices = listed(terminal, question.choices);
      const config = {
        message: sanitize(question.message),
        // During a search the way back is Esc: the last choice could look like a match.
        source: (typed = '') =>
          typed === '' ? [...choices, backChoice(terminal)] : matching(choices, typed),
        ...(question.default === undefined ? {} : { default: question.default }),
        pageSize: question.pageSize ?? pageSize(terminal, over),
        theme: promptTheme(terminal, { escape: 'back', hint: 'type to search', over }),
      };
      const pose = { canGoBack: true, isWiped: over !== undefined, narrows: true };
      return runPrompt(terminal, (context) => search<T | Back>(config, context), pose);
    },
  };
}

const escBack = 'esc back';

/** Leaves room for the lines above the question. */
const pageSize = ({ stderrCanvas: { rows } }: Terminal, over?: readonly string[]): number =>
  Math.min(Math.max(rows - (over === undefined ? 10 : over.length + 7), 4), 12);

const backChoice = ({ unicode }: Terminal, name = 'Back'): ListedChoice<Back> => ({
  value: back,
  name: `${unicode ? '←' : '<'} ${name}`,
  description: '',
});

interface ListedChoice<T> {
  readonly value: T;
  readonly name: string;
  readonly description: string;
}

function listed<T>({ stderrCanvas }: Terminal, choices: readonly Choice<T>[]): ListedChoice<T>[] {
  return choices.map(({ value, name, description }) => ({
    value,
    // Blanks within a line are kept, so that columns stay aligned.
    name: truncate(sanitize(name.trim().replace(/[\r\n\t]+/g, ' ')), stderrCanvas.columns - 3),
    description: oneLine(description ?? '', stderrCanvas.columns - 1),
  }));
}

function matching<T>(choices: readonly ListedChoice<T>[], typed: string): ListedChoice<T>[] {
  const words = plainLetters(typed).split(/\s+/);
  const having = (has: (text: string, word: string) => boolean): ListedChoice<T>[] =>
    choices.filter(({ name, description }) =>
      words.every((word) => has(plainLetters(`${name} ${description}`), word)),
    );
  const whole = having((text, word) => text.includes(word));
  return whole.length > 0 ? whole : having(hasInOrder);
}

/** `vcb` is in `Vietcombank`: every letter, in this order. */
function hasInOrder(text: string, word: string): boolean {
  let at = -1;
  return [...word].every((letter) => (at = text.indexOf(letter, at + 1)) >= 0);
}

/** Lower case, without accents: "ngan hang" finds "Ngân Hàng". */
const plainLetters = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/đ/gi, 'd').toLowerCase();
