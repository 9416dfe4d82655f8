// Asks questions as prompts that svcpay redraws in place, on a terminal that supports escape
// sequences.
import { confirm, input, password, search, select } from '@inquirer/prompts';
import { Failure } from '../../formats/failure.js';
import { plainLetters } from '../../formats/text.js';
import { asciiGlyphs, sanitize } from '../sanitize.js';
import type { Terminal } from '../terminal.js';
import { oneLine, truncate, widthOf, wrap } from '../layout.js';
import { runPrompt, type PromptBehaviour, type PromptContext } from './prompt.js';
import type {
  Choice,
  ChoiceQuestion,
  JudgedText,
  Prompter,
  SelectQuestion,
  Shortcut,
  Validation,
} from './questions.js';
import { promptTheme } from './theme.js';
import { timedConfirm, type Deadline } from './timed-confirm.js';
import { back, type Back } from './wizard.js';

/**
 * Creates the prompts.
 * @param onKey called at the first key of each question
 */
export function askByPrompts(terminal: Terminal, onKey: () => void): Prompter {
  const run = <T>(
    prompt: (context: PromptContext) => Promise<T>,
    pose: PromptBehaviour & { readonly shortcut?: Shortcut<T> | undefined },
  ): Promise<T | Back> => runPrompt(terminal, prompt, pose, onKey);
  return {
    async confirm(message, note = '') {
      const { stderr, stderrCanvas } = terminal;
      const { columns, style } = stderrCanvas;
      // A remark that does not fit beside the question stands above the question.
      const isBeside = widthOf(`? ${message} (y/N)  ${note}`) + roomForAnswer <= columns;
      if (!isBeside)
        for (const line of wrap(note, columns - 2)) stderr.write(`  ${style.dim(line)}\n`);
      const theme = promptTheme(terminal, { note: isBeside ? note : undefined, isYesNo: true });
      const config = { message: sanitize(message), default: false, theme };
      const pose = { canGoBack: true, isFresh: true };
      return (await run((context) => confirm(config, context), pose)) === true;
    },

    async confirmWithin(message, deadline: Deadline) {
      const config = {
        message: sanitize(message),
        deadline,
        theme: promptTheme(terminal, { isYesNo: true }),
      };
      const pose = { canGoBack: false, isFresh: true };
      const answer = await run((context) => timedConfirm(config, context), pose);
      return answer === back ? false : answer;
    },

    text(question) {
      const { config, pose } = textPrompt(terminal, question);
      return run((context) => input(config, context), pose);
    },

    secret({ message, validate }: JudgedText, canGoBack) {
      const theme = promptTheme(terminal, { hint: canGoBack ? escBack : undefined });
      const config = { message: sanitize(message), mask: true, toggleMask: false, validate, theme };
      return run((context) => password(config, context), { canGoBack });
    },

    select<T>(question: SelectQuestion<T>) {
      const { config, pose } = selectPrompt(terminal, question);
      return run((context) => select<T | Back>(config(), context), pose);
    },

    search<T>(question: ChoiceQuestion<T>) {
      const { config, pose } = searchPrompt(terminal, question);
      return run((context) => search<T | Back>(config, context), pose);
    },
  };
}

function textPrompt(
  terminal: Terminal,
  { message, example, default: suggested = '', validate, over: above }: JudgedText,
) {
  const over = above?.(terminal.stderrCanvas);
  const hint =
    example === undefined ? escBack : `${example}${terminal.unicode ? ' · ' : ', '}${escBack}`;
  let isRefused = false;
  const judge = (answer: string): Validation => {
    const judged = validate(answer);
    isRefused = judged !== true;
    return judged;
  };
  return {
    config: {
      message: sanitize(message),
      default: suggested,
      validate: judge,
      theme: promptTheme(terminal, { hint, over }),
    },
    pose: { canGoBack: true, isRefused: () => isRefused, isWiped: over !== undefined },
  };
}

/**
 * Runs a prompt with choices. After a change of the window size, svcpay rebuilds the options of the
 * prompt, with the cursor on the same choice.
 */
function selectPrompt<T>(terminal: Terminal, question: SelectQuestion<T>) {
  const { stderrCanvas, unicode } = terminal;
  const escape = (question.backName ?? 'Back').toLowerCase();
  let [highlighted, isSuspended] = ['', false];
  const onHighlight = (text: string): void => {
    if (!isSuspended) highlighted = text;
  };
  const onSuspend = (): void => void (isSuspended = true);
  const config = () => {
    isSuspended = false;
    const over = question.over?.(stderrCanvas);
    const choices: ListedChoice<T | Back>[] = [
      ...listed(terminal, question.choices),
      backChoice(terminal, question.backName),
    ];
    const chosen = choices.find(({ name }) => highlighted.endsWith(` ${name}`));
    const first: T | Back | undefined = chosen === undefined ? question.default : chosen.value;
    return {
      message: sanitize(question.message),
      choices,
      ...startingAt(first),
      pageSize: question.pageSize ?? pageSize(terminal, over),
      theme: promptTheme(terminal, { escape, over, onHighlight, shortcut: question.shortcut }),
    };
  };
  const above = (): string[] =>
    (question.above?.(stderrCanvas) ?? []).map(unicode ? String : asciiGlyphs);
  const isWiped = question.over !== undefined;
  const { shortcut } = question;
  return { config, pose: { canGoBack: true, isWiped, above, onSuspend, shortcut } };
}

function searchPrompt<T>(terminal: Terminal, question: ChoiceQuestion<T>) {
  const over = question.over?.(terminal.stderrCanvas);
  const choices = listed(terminal, question.choices);
  const always = listed(terminal, question.always ?? []);
  const isOnlySearch = question.typed === undefined || question.isTypedLast === true;
  const hint = isOnlySearch ? 'type to search' : 'search, or type a new one';
  const isEmpty = question.startsEmpty === true && question.default === undefined;
  let hasSearched = false;
  const found = (text: string): ListedChoice<T>[] => {
    const own = readTyped(question, text);
    const typed = typeof own === 'string' ? [] : listed(terminal, own);
    const found = matching(choices, text);
    const matches = [
      ...(question.isTypedLast === true ? [...found, ...typed] : [...typed, ...found]),
      ...always,
    ];
    if (matches.length === 0 && typeof own === 'string') throw new Error(own);
    return matches;
  };
  return {
    config: {
      message: sanitize(question.message),
      // During a search, Esc goes back, because a last choice "Back" could look like a match.
      source(typed = '') {
        if (typed !== '') {
          hasSearched = true;
          return found(typed);
        }
        if (isEmpty) return [];
        const all = [...choices, ...always, backChoice(terminal)];
        // The library preselects the first choice after a search, so the default moves to the top.
        const first = hasSearched ? all.filter(({ value }) => value === question.default) : [];
        return [...first, ...all.filter((each) => !first.includes(each))];
      },
      ...startingAt(question.default),
      pageSize: question.pageSize ?? pageSize(terminal, over),
      theme: promptTheme(terminal, { escape: 'back', hint, over }),
    },
    pose: { canGoBack: true, isWiped: over !== undefined },
  };
}

/** Reads the typed text as a choice, or returns the reason why the text does not match a choice. */
function readTyped<T>({ typed }: ChoiceQuestion<T>, text: string): readonly Choice<T>[] | string {
  try {
    return typed === undefined ? [] : [typed(text.trim())];
  } catch (error) {
    if (error instanceof Failure) return sanitize(error.message);
    throw error;
  }
}

/** The width of a typed answer to a yes-or-no question. */
const roomForAnswer = 5;

const startingAt = <T>(first: T | undefined): { default?: T } =>
  first === undefined ? {} : { default: first };

const escBack = 'esc back';

/** Returns the number of choices that fit on the screen below the question. */
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
    // The blanks within the name of a choice stay, because the blanks align the columns of a menu.
    name: truncate(sanitize(name.trimEnd().replace(/[\r\n\t]+/g, ' ')), stderrCanvas.columns - 3),
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

/**
 * Whether a text contains every letter of a word in the same order, as `Vietcombank` contains
 * `vcb`.
 */
function hasInOrder(text: string, word: string): boolean {
  let at = -1;
  return [...word].every((letter) => (at = text.indexOf(letter, at + 1)) >= 0);
}
