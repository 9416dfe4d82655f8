// Questions to a person: asked on stderr, and only where they can be answered; elsewhere refused at once, naming the flag.
import { formatDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { back, type Back } from './wizard.js';
import { createPlainAsk, type Over } from './plain.js';
import { sanitize } from '../sanitize.js';
import type { Terminal } from '../terminal.js';
import type { Deadline } from './timed-confirm.js';
import { oneLine, truncate } from '../text.js';

export { back, type Back } from './wizard.js';
export type { Over } from './plain.js';

interface Question {
  readonly message: string;
  readonly over?: Over | undefined;
  /** The flag that answers it, as a person would type it: `--institution CODE`. */
  readonly flag: string;
}

type Validation = true | string;

interface TextQuestion extends Question {
  /** What an answer may be, shown as long as it is asked: `as in 50000sat`. */
  readonly example?: string | undefined;
  readonly default?: string | undefined;
  /** True, or what is wrong with the answer. Without it any answer will do but an empty one. */
  readonly validate?: ((answer: string) => Validation | Promise<Validation>) | undefined;
}

/** `parse` throws a Failure for what it cannot take; its message is shown and the question stays. */
interface ParsedQuestion<T> extends Question {
  readonly example?: string | undefined;
  readonly default?: string | undefined;
  readonly parse: (answer: string) => T;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  /** A line shown while the choice is the active one. */
  readonly description?: string | undefined;
}

interface SelectQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  readonly default?: T | undefined;
  /** What the way back is called, where there is one; "Back" unless said otherwise. */
  readonly backName?: string;
  /** How many choices stand on the screen at once; as many as fit unless said otherwise. */
  readonly pageSize?: number;
}

interface SearchQuestion<T> extends Question {
  /** Narrowed to those that have every word typed in their name or description. */
  readonly choices: readonly Choice<T>[];
  readonly default?: T | undefined;
}

interface ConfirmOptions {
  /** Flags that would have to be given where no question can be asked; `--yes` unless said otherwise. */
  readonly missing?: readonly string[];
  /** A dim remark after the question, such as "quote valid until 14:02:31". */
  readonly note?: string | undefined;
}

interface Questions<Other> {
  text(question: TextQuestion): Promise<string | Other>;
  /** A text that is read by a function, such as an amount. */
  parsed<T>(question: ParsedQuestion<T>): Promise<T | Other>;
  select<T>(question: SelectQuestion<T>): Promise<T | Other>;
  search<T>(question: SearchQuestion<T>): Promise<T | Other>;
  /** Masked, never echoed. */
  secret(question: TextQuestion): Promise<string | Other>;
}

/** Each throws Failure: `declined` where no question can be asked or the input has ended, `interrupted` for Ctrl-C. */
export interface Ask extends Questions<never> {
  /** Throws Failure `declined`, naming all these flags, where they cannot be asked for. */
  demand(flags: readonly string[], hint?: string): void;
  /** No by default and for Esc; true at once under `--yes`. */
  confirm(message: string, options?: ConfirmOptions): Promise<boolean>;
  /** The same for what holds for so long only; `lapsed` when its time ran out before the answer. */
  confirmWithin(message: string, deadline: Deadline): Promise<boolean | 'lapsed'>;
  /** The same questions, which may also be answered `back`: by Esc, `<` for a text, or the last choice of a list. */
  readonly steps: Questions<Back>;
}

interface AskOptions {
  readonly yes: boolean;
  /** Aborted on Ctrl-C, where no prompt catches it. */
  readonly signal?: AbortSignal;
}

export function createAsk(terminal: Terminal, { yes, signal }: AskOptions): Ask {
  if (terminal.isDumb) return createDumbAsk(terminal, yes, signal);
  const plain = createQuestions(terminal, false);
  return {
    demand: (flags, hint) => demand(terminal, flags, hint),
    confirm: async (message, options = {}) => yes || confirm(terminal, message, options),
    confirmWithin: async (message, deadline) => yes || confirmWithin(terminal, message, deadline),
    secret: async (question) => stayed(await plain.secret(question)),
    text: async (question) => stayed(await plain.text(question)),
    parsed: async (question) => stayed(await plain.parsed(question)),
    select: async (question) => stayed(await plain.select(question)),
    search: async (question) => stayed(await plain.search(question)),
    steps: createQuestions(terminal, true),
  };
}

/** The same questions, line by line. */
function createDumbAsk(terminal: Terminal, yes: boolean, signal: AbortSignal | undefined): Ask {
  const lines = createPlainAsk(terminal, signal);
  const confirmed = async (message: string, missing: readonly string[]): Promise<boolean> => {
    if (yes) return true;
    demand(terminal, missing);
    return lines.confirm(message);
  };
  const questions = (canGoBack: boolean): Questions<Back> => {
    const isBack = (answer: string): boolean => canGoBack && answer === '<';
    const text = async (question: TextQuestion): Promise<string | Back> => {
      demand(terminal, [question.flag]);
      lines.over(question.over);
      const validate = question.validate ?? anything;
      const { message, example } = question;
      const answer = await lines.text(example === undefined ? message : `${message} (${example})`, question.default ?? '', async (typed) => isBack(typed) || validate(typed));
      return isBack(answer) ? back : answer;
    };
    const choose = <T>(question: Question & { readonly choices: readonly Choice<T>[] }): Promise<T | Back> => {
      demand(terminal, [question.flag]);
      lines.over(question.over);
      return lines.choose(question.message, question.choices, canGoBack);
    };
    return {
      text,
      parsed: async ({ parse, ...question }) => {
        const answer = await text({ ...question, validate: (typed) => complaint(parse, typed) });
        return answer === back ? back : parse(answer);
      },
      select: choose,
      search: choose,
      secret: async (question) => {
        demand(terminal, [question.flag]);
        lines.over(question.over);
        const validate = question.validate ?? anything;
        const answer = await lines.secret(question.message, async (typed) => isBack(typed) || validate(typed));
        return isBack(answer) ? back : answer;
      },
    };
  };
  const plain = questions(false);
  return {
    demand: (flags, hint) => demand(terminal, flags, hint),
    confirm: (message, { missing } = {}) => confirmed(message, missing ?? ['--yes']),
    confirmWithin: async (message, { noun, left }) => {
      const answer = await confirmed(`${message} [${noun} valid ${formatDuration(Math.max(left(), 0))}]`, ['--yes']);
      return !yes && left() <= 0 ? 'lapsed' : answer;
    },
    secret: async (question) => stayed(await plain.secret(question)),
    text: async (question) => stayed(await plain.text(question)),
    parsed: async (question) => stayed(await plain.parsed(question)),
    select: async (question) => stayed(await plain.select(question)),
    search: async (question) => stayed(await plain.search(question)),
    steps: questions(true),
  };
}

function stayed<T>(answer: T | Back): T {
  if (answer === back) throw new Error('A question that offers no way back was answered with it.');
  return answer;
}

function demand(terminal: Terminal, flags: readonly string[], hint?: string): void {
  if (terminal.canPrompt) return;
  const missing = flags.length < 2 ? flags.join('') : `${flags.slice(0, -1).join(', ')} and ${flags.at(-1)}`;
  throw new Failure('declined', `Missing ${missing}: no question can be asked, ${terminal.whyNoPrompt}.`, { hint });
}

async function confirm(terminal: Terminal, message: string, { missing, note }: ConfirmOptions): Promise<boolean> {
  demand(terminal, missing ?? ['--yes']);
  const prompts = await import('./prompts.js');
  const config = { message: sanitize(message), default: false, theme: prompts.promptTheme(terminal, { note }) };
  const answer = await prompts.runPrompt(terminal, (context) => prompts.confirm(config, context), { canGoBack: true });
  return answer === true;
}

async function confirmWithin(terminal: Terminal, message: string, deadline: Deadline): Promise<boolean | 'lapsed'> {
  demand(terminal, ['--yes']);
  const prompts = await import('./prompts.js');
  const config = { message: sanitize(message), deadline, theme: prompts.promptTheme(terminal, {}) };
  return stayed(await prompts.runPrompt(terminal, (context) => prompts.timedConfirm(config, context), { canGoBack: false }));
}

const anything = (answer: string): Validation => answer !== '' || 'An answer is needed here.';

function createQuestions(terminal: Terminal, canGoBack: boolean): Questions<Back> {
  async function secret(question: TextQuestion): Promise<string | Back> {
    demand(terminal, [question.flag]);
    const prompts = await import('./prompts.js');
    const config = {
      message: sanitize(question.message),
      mask: true,
      toggleMask: false,
      validate: question.validate ?? anything,
      theme: prompts.promptTheme(terminal, { hint: canGoBack ? 'esc back' : undefined }),
    };
    return prompts.runPrompt(terminal, (context) => prompts.password(config, context), { canGoBack, takesPaste: true });
  }

  async function text(question: TextQuestion): Promise<string | Back> {
    demand(terminal, [question.flag]);
    const prompts = await import('./prompts.js');
    const isBack = (answer: string): boolean => canGoBack && answer.trim() === '<';
    const validate = question.validate ?? anything;
    const over = question.over?.(terminal.stderrCanvas);
    const hints = [...(question.example === undefined ? [] : [question.example]), ...(canGoBack ? ['esc back'] : [])];
    const config = {
      message: sanitize(question.message),
      default: question.default ?? '',
      validate: (answer: string) => isBack(answer) || validate(answer.trim()),
      theme: prompts.promptTheme(terminal, { hint: hints.length === 0 ? undefined : hints.join(terminal.unicode ? ' · ' : ', '), over }),
    };
    const manner = { canGoBack, takesPaste: true, isWiped: over !== undefined };
    const answer = await prompts.runPrompt(terminal, (context) => prompts.input(config, context), manner);
    return answer === back || isBack(answer) ? back : answer.trim();
  }

  async function parsed<T>({ parse, ...question }: ParsedQuestion<T>): Promise<T | Back> {
    const answer = await text({ ...question, validate: (typed) => complaint(parse, typed) });
    return answer === back ? back : parse(answer);
  }

  async function select<T>(question: SelectQuestion<T>): Promise<T | Back> {
    demand(terminal, [question.flag]);
    const prompts = await import('./prompts.js');
    const over = question.over?.(terminal.stderrCanvas);
    const config = {
      message: sanitize(question.message),
      choices: [...listed(terminal, question.choices), ...(canGoBack ? [backChoice(terminal, question.backName)] : [])],
      ...(question.default === undefined ? {} : { default: question.default }),
      pageSize: question.pageSize ?? pageSize(terminal, over),
      theme: prompts.promptTheme(terminal, { canGoBack, over }),
    };
    const manner = { canGoBack, isWiped: over !== undefined };
    return prompts.runPrompt(terminal, (context) => prompts.select<T | Back>(config, context), manner);
  }

  async function search<T>(question: SearchQuestion<T>): Promise<T | Back> {
    demand(terminal, [question.flag]);
    const prompts = await import('./prompts.js');
    const over = question.over?.(terminal.stderrCanvas);
    const choices = listed(terminal, question.choices);
    const config = {
      message: sanitize(question.message),
      // While something is typed the way back is Esc: the last choice could be taken for a find.
      source: (typed = '') =>
        typed === '' && canGoBack ? [...choices, backChoice(terminal)] : matching(choices, typed),
      ...(question.default === undefined ? {} : { default: question.default }),
      pageSize: pageSize(terminal, over),
      theme: prompts.promptTheme(terminal, { canGoBack, hint: 'type to search', over }),
    };
    const manner = { canGoBack, isWiped: over !== undefined, narrows: true };
    return prompts.runPrompt(terminal, (context) => prompts.search<T | Back>(config, context), manner);
  }

  return { text, parsed, select, search, secret };
}

/** Room is left for what the question is about: what stands over it, or what was shown before it. */
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
    // Columns of a choice stay apart: blanks within a line are kept.
    name: truncate(sanitize(name.trim().replace(/[\r\n\t]+/g, ' ')), stderrCanvas.columns - 3),
    description: oneLine(description ?? '', stderrCanvas.columns - 1),
  }));
}

function matching<T>(choices: readonly ListedChoice<T>[], typed: string): ListedChoice<T>[] {
  const words = plainLetters(typed).split(/\s+/);
  return choices.filter(({ name, description }) => {
    const text = plainLetters(`${name} ${description}`);
    return words.every((word) => text.includes(word));
  });
}

/** Lower case, without accents: "ngan hang" finds "Ngân Hàng". */
const plainLetters = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').replace(/đ/gi, 'd').toLowerCase();

function complaint(parse: (answer: string) => unknown, typed: string): Validation {
  try {
    parse(typed);
    return true;
  } catch (error) {
    if (error instanceof Failure) return sanitize(error.message);
    throw error;
  }
}
