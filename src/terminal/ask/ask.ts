// Asks a person questions on stderr. If svcpay cannot ask a question, svcpay fails immediately and
// names the flag that answers the question.
import { Failure, orFailure } from '../../formats/failure.js';
import { sanitize } from '../text.js';
import type { Terminal } from '../terminal.js';
import {
  anyText,
  back,
  interrupted,
  type Back,
  type Deadline,
  type Pose,
  type Prompter,
  type TextQuestion,
  type Validation,
} from './questions.js';

/**
 * Asks questions. Each method of `Ask` throws Failure `declined` if svcpay cannot ask or the input
 * has ended, and `interrupted` for Ctrl-C.
 */
export interface Ask {
  /** Throws Failure `declined` with the names of all `flags` if svcpay cannot ask a question. */
  demand(flags: readonly string[], hint?: string): void;
  /**
   * Asks a yes-or-no question. Enter and Esc answer no. With `--yes`, svcpay answers yes without a
   * question. `note` is a dim remark below the question.
   */
  confirm(message: string, note?: string): Promise<boolean>;
  /**
   * Asks a yes-or-no question like `confirm`, but throws Failure `declined` if the answer is
   * no. `otherwise` is what then happened, without a full stop.
   */
  agree(message: string, otherwise: string): Promise<void>;
  /**
   * Asks a yes-or-no question like `confirm`, but with a time limit. The answer is `lapsed` if the
   * time limit passes before the person answers.
   */
  confirmWithin(message: string, deadline: Deadline): Promise<boolean | 'lapsed'>;
  /**
   * Asks for a secret text, which the terminal shows as a mask. The question does not accept the
   * answer `back`.
   */
  secret(question: Pick<TextQuestion<string>, 'message' | 'flag'>): Promise<string>;
  readonly pose: Pose;
}

interface AskOptions {
  readonly yes: boolean;
  /** The abort signal that Ctrl-C triggers outside of prompts. */
  readonly signal?: AbortSignal;
  /** Wraps each question, so that the live line is hidden while svcpay asks the question. */
  readonly around?: <T>(question: () => Promise<T>) => Promise<T>;
  /**
   * Called at each key of a prompt, but not for a question that reads a plain line of input.
   */
  readonly onKey?: () => void;
}

export function createAsk(
  terminal: Terminal,
  { yes, signal, around = (question) => question(), onKey = () => undefined }: AskOptions,
): Ask {
  let opened: Promise<Prompter> | undefined;
  const prompt = async <T>(
    flag: string,
    question: (prompter: Prompter) => Promise<T>,
  ): Promise<T> => {
    demand(terminal, [flag]);
    // Ctrl-C may have come between the last request and the question.
    if (signal?.aborted === true) throw interrupted();
    terminal.measure();
    const prompter = await (opened ??= openPrompter(terminal, signal, onKey));
    return around(() => question(prompter));
  };
  const confirm = async (message: string, note?: string): Promise<boolean> =>
    yes || (await prompt('--yes', (prompter) => prompter.confirm(message, { note }))) === true;
  const typed = async <T>(
    { parse, ...question }: TextQuestion<T>,
    canGoBack: boolean,
  ): Promise<T | Back> => {
    const isBack = (answer: string): boolean => canGoBack && answer.trim() === '<';
    const validate = (answer: string): Validation =>
      isBack(answer) || complaint(parse, answer.trim());
    const answer = await prompt(question.flag, (prompter) =>
      prompter.text({ ...question, validate }, canGoBack),
    );
    return answer === back || isBack(answer) ? back : parse(answer.trim());
  };
  return {
    demand: (flags, hint) => demand(terminal, flags, hint),
    confirm,
    async agree(message, otherwise) {
      if (!(await confirm(message))) throw new Failure('declined', '', { money: otherwise });
    },
    confirmWithin: async (message, deadline) =>
      yes || prompt('--yes', (prompter) => prompter.confirm(message, { deadline })),
    async secret(question) {
      const answer = await typed({ ...question, isSecret: true, parse: anyText }, false);
      if (answer === back)
        throw new Error('A question that does not offer Back was answered with Back.');
      return answer;
    },
    pose: (question) =>
      'choices' in question
        ? prompt(question.flag, (prompter) => prompter.choose(question))
        : typed(question, true),
  };
}

/** Loads the code that asks questions, at the first question of a command. */
async function openPrompter(
  terminal: Terminal,
  signal: AbortSignal | undefined,
  onKey: () => void,
): Promise<Prompter> {
  return terminal.isDumb
    ? (await import('./plain.js')).askByLines(terminal, signal)
    : (await import('./prompted.js')).askByPrompts(terminal, onKey);
}

function demand(terminal: Terminal, flags: readonly string[], hint?: string): void {
  if (terminal.canPrompt) return;
  const missing =
    flags.length < 2 ? flags.join('') : `${flags.slice(0, -1).join(', ')} and ${flags.at(-1)}`;
  throw new Failure(
    'declined',
    `Missing ${missing}. svcpay cannot ask, because ${terminal.whyNoPrompt}.`,
    { hint, missing },
  );
}

function complaint(parse: (answer: string) => unknown, typed: string): Validation {
  const read = orFailure(() => parse(typed));
  if (!(read instanceof Failure)) return true;
  return typed === '' ? 'Enter a value.' : sanitize(read.message);
}
