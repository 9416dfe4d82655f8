// Questions to a person: asked on stderr, and only where they can be answered; elsewhere refused at once, naming the flag.
import { Failure } from '../../formats/failure.js';
import { sanitize } from '../sanitize.js';
import type { Terminal } from '../terminal.js';
import type { ChoiceQuestion, Manner, ParsedQuestion, SelectQuestion, TextQuestion, Validation } from './questions.js';
import type { Deadline } from './timed-confirm.js';
import { back, type Back } from './wizard.js';

export { back, type Back } from './wizard.js';
export type { Choice, Over } from './questions.js';

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
  search<T>(question: ChoiceQuestion<T>): Promise<T | Other>;
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
  let opened: Promise<Manner> | undefined;
  const manner = (flags: readonly string[]): Promise<Manner> => {
    demand(terminal, flags);
    terminal.measure();
    return (opened ??= openManner(terminal, signal));
  };
  const plain = questionsOf(manner, false);
  return {
    demand: (flags, hint) => demand(terminal, flags, hint),
    confirm: async (message, { missing = ['--yes'], note } = {}) => yes || (await manner(missing)).confirm(message, note),
    confirmWithin: async (message, deadline) => yes || (await manner(['--yes'])).confirmWithin(message, deadline),
    text: async (question) => stayed(await plain.text(question)),
    parsed: async (question) => stayed(await plain.parsed(question)),
    select: async (question) => stayed(await plain.select(question)),
    search: async (question) => stayed(await plain.search(question)),
    secret: async (question) => stayed(await plain.secret(question)),
    steps: questionsOf(manner, true),
  };
}

/** Loaded when the first question is asked. */
async function openManner(terminal: Terminal, signal: AbortSignal | undefined): Promise<Manner> {
  return terminal.isDumb
    ? (await import('./plain.js')).askByLines(terminal, signal)
    : (await import('./prompted.js')).askByPrompts(terminal);
}

function demand(terminal: Terminal, flags: readonly string[], hint?: string): void {
  if (terminal.canPrompt) return;
  const missing = flags.length < 2 ? flags.join('') : `${flags.slice(0, -1).join(', ')} and ${flags.at(-1)}`;
  throw new Failure('declined', `Missing ${missing}: no question can be asked, ${terminal.whyNoPrompt}.`, { hint });
}

function stayed<T>(answer: T | Back): T {
  if (answer === back) throw new Error('A question that offers no way back was answered with it.');
  return answer;
}

const noAnswer = 'An answer is needed here.';
const anything = (answer: string): Validation => answer !== '' || noAnswer;

function questionsOf(manner: (flags: readonly string[]) => Promise<Manner>, canGoBack: boolean): Questions<Back> {
  const isBack = (answer: string): boolean => canGoBack && answer === '<';
  const typed = async (kind: 'text' | 'secret', { validate = anything, ...question }: TextQuestion): Promise<string | Back> => {
    const judge = async (answer: string): Promise<Validation> => isBack(answer.trim()) || validate(answer.trim());
    const answer = await (await manner([question.flag]))[kind]({ ...question, validate: judge }, canGoBack);
    return answer === back || isBack(answer.trim()) ? back : answer.trim();
  };
  return {
    text: (question) => typed('text', question),
    parsed: async ({ parse, ...question }) => {
      const answer = await typed('text', { ...question, validate: (text) => complaint(parse, text) });
      return answer === back ? back : parse(answer);
    },
    select: async (question) => (await manner([question.flag])).select(question, canGoBack),
    search: async (question) => (await manner([question.flag])).search(question, canGoBack),
    secret: (question) => typed('secret', question),
  };
}

function complaint(parse: (answer: string) => unknown, typed: string): Validation {
  try {
    parse(typed);
    return true;
  } catch (error) {
    if (error instanceof Failure) return typed === '' ? noAnswer : sanitize(error.message);
    throw error;
  }
}
