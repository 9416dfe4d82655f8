// Defines the questions, and asks a sequence of questions in which the person can go back.
import type { LiveOptions } from '../live.js';
import type { Canvas } from '../terminal.js';
import { formatDuration } from '../../formats/calendar.js';
import { Failure, invalid } from '../../formats/failure.js';

/**
 * Draws the lines above a question. A terminal that supports escape sequences erases the lines
 * above a question together with the question.
 */
export type LinesAbove = (canvas: Canvas) => readonly string[];

interface Asked {
  readonly message: string;
  readonly over?: LinesAbove | undefined;
  /** The flag that answers the question, as a person types it, such as `--institution CODE`. */
  readonly flag: string;
}

/**
 * A question that a person answers with a text, which `parse` reads. If `parse` throws a Failure,
 * svcpay shows the message and asks again.
 */
export interface TextQuestion<T> extends Asked {
  readonly parse: (answer: string) => T;
  /** A hint with an example, such as `e.g. 50000sat, or all`, shown while the question is open. */
  readonly example?: string | undefined;
  readonly default?: string | undefined;
  /** Whether the answer is secret, so that the terminal shows it as a mask. */
  readonly isSecret?: true;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  /** A line shown while the cursor is on the choice. */
  readonly description?: string | undefined;
}

/** A choice that is not in the list, and that a key chooses. */
interface Shortcut<T> extends Choice<T> {
  readonly key: string;
}

/**
 * A question with choices. A search shows a choice if its name or description contains every typed
 * word, or the letters of the word in order.
 */
export interface ChoiceQuestion<T> extends Asked {
  readonly choices: readonly Choice<T>[];
  readonly default?: T | undefined;
  /** The number of visible choices, by default as many as fit on the screen. */
  readonly pageSize?: number;
  /** Whether the person searches the choices by typing. */
  readonly isSearch?: true;
  /** Choices that a search always offers, below the matching choices. */
  readonly always?: readonly Choice<T>[];
  /**
   * Converts the typed text to a choice if the search matches none of the listed choices. Throws
   * Failure for an invalid text.
   */
  readonly typed?: (text: string) => Choice<T>;
  /** Whether the typed choice follows the matching choices, instead of preceding them. */
  readonly isTypedLast?: boolean;
  /**
   * Whether a search without a default starts without choices, so that Enter cannot choose the
   * first of many choices.
   */
  readonly startsEmpty?: boolean;
  /** The label of the choice that goes back, by default "Back". A search has no such choice. */
  readonly backName?: string;
  readonly shortcut?: Shortcut<T> | undefined;
  /**
   * The lines above the question. svcpay draws the lines before the question, and redraws the lines
   * when the window size changes.
   */
  readonly above?: LinesAbove | undefined;
}

type Question<T> = TextQuestion<T> | ChoiceQuestion<T>;

/**
 * Asks a question. The answer is `back` if the person presses Esc, types `<`, or chooses the last
 * choice of a list.
 */
export type Pose = <T>(question: Question<T>) => Promise<T | Back>;

/** The answer that returns to the previous question. */
export const back = Symbol('back');
export type Back = typeof back;

/** Reads an answer that must not be empty. */
export function anyText(answer: string): string {
  if (answer === '') throw invalid('Enter a value.');
  return answer;
}

export const interrupted = (): Failure =>
  new Failure('interrupted', 'Interrupted during a question.');
export const inputEnded = (): Failure =>
  new Failure('declined', 'The input ended before the question was answered.');

/**
 * The result of validating an answer: true if the answer is valid, or a text that describes the
 * problem.
 */
export type Validation = true | string;

/** A question that a person answers with a text, and the function that validates the answer. */
interface JudgedText extends Omit<TextQuestion<unknown>, 'parse'> {
  readonly validate: (answer: string) => Validation;
}

/** The time limit of a question, such as the expiry of a quote. */
export interface Deadline {
  /** Returns the remaining time in milliseconds. */
  readonly left: () => number;
  readonly every: LiveOptions['every'];
}

export const tickMs = 1000;

/** The remaining time in words, rounded up to a second. */
export const validFor = ({ left }: Deadline): string =>
  `quote valid ${formatDuration(Math.ceil(Math.max(left(), 0) / tickMs) * tickMs)}`;

export const isOver = (deadline: Deadline | undefined): boolean =>
  deadline !== undefined && deadline.left() <= 0;

/** Reads `y`, `yes`, `n`, `no` or an empty answer, which means no. Undefined for another answer. */
export function readYesOrNo(typed: string): boolean | undefined {
  const word = typed.trim().toLowerCase();
  if ('no'.startsWith(word)) return false;
  return 'yes'.startsWith(word) ? true : undefined;
}

export const notYesOrNo = 'Answer y or n.';

/** Asks the questions, as prompts or as plain lines. */
export interface Prompter {
  /** Asks a yes-or-no question, which lapses at its deadline. `note` is a dim remark. */
  confirm(
    message: string,
    more: { readonly note?: string | undefined; readonly deadline?: Deadline },
  ): Promise<boolean | 'lapsed'>;
  /** @param canGoBack whether the question accepts the answer `back` */
  text(question: JudgedText, canGoBack: boolean): Promise<string | Back>;
  choose<T>(question: ChoiceQuestion<T>): Promise<T | Back>;
}

/**
 * Asks the question of a wizard's step. Returns undefined if the question does not apply, or if a
 * flag has already answered the question. After a step back, `before` contains the
 * withdrawn answers, which the question then suggests.
 */
export type Step<Answers> = (
  soFar: Answers,
  before: Answers | undefined,
  pose: Pose,
) => Promise<Answers | Back | undefined> | undefined;

/** The questions of a wizard, in order. */
export interface Questions<Answers> {
  readonly steps: readonly Step<Answers>[];
  /** Called before each step. Returns the lines above its question. */
  readonly onStep?: ((soFar: Answers, index: number) => LinesAbove) | undefined;
}

interface Walk<Answers> extends Pick<Questions<Answers>, 'onStep'> {
  /** The answers of an earlier run of the wizard, which the questions suggest. */
  readonly before?: Answers | undefined;
}

/**
 * Asks the steps in order. Each step back withdraws the last answer and repeats the question for
 * that answer. A step back from the first question ends the wizard with `back`.
 */
export async function walk<Answers>(
  pose: Pose,
  start: Answers,
  steps: readonly Step<Answers>[],
  { before, onStep }: Walk<Answers> = {},
): Promise<Answers | Back> {
  const asked: { readonly index: number; readonly soFar: Answers }[] = [];
  let soFar = start;
  let furthest: { readonly index: number; readonly soFar: Answers | undefined } = {
    index: 0,
    soFar: before,
  };
  for (let index = 0; index < steps.length; index++) {
    const over = onStep?.(soFar, index);
    const answers = await steps[index]?.(soFar, furthest.soFar, (question) =>
      pose({ ...question, over }),
    );
    if (answers === undefined) continue;
    if (answers === back) {
      const previous = asked.pop();
      if (previous === undefined) return back;
      if (index >= furthest.index) furthest = { index, soFar };
      soFar = previous.soFar;
      index = previous.index - 1;
    } else {
      asked.push({ index, soFar });
      soFar = answers;
    }
  }
  return soFar;
}

/**
 * Creates a step for one of the answers. The step asks only if the answer is missing and required,
 * and suggests the withdrawn answer instead of the question's default.
 * @param take adds the given answer, by default without further changes
 */
export const stepFor =
  <Answers extends object>() =>
  <K extends keyof Answers>(
    name: K,
    question: (soFar: Answers, before: Answers | undefined) => Question<Answers[K]>,
    wanted: (soFar: Answers) => boolean = () => true,
    take = (soFar: Answers, given: Answers[K]): Answers => ({ ...soFar, [name]: given }),
  ): Step<Answers> =>
  (soFar, before, pose) =>
    soFar[name] === undefined && wanted(soFar)
      ? taking(pose(suggesting(before?.[name], question(soFar, before))), (given) =>
          take(soFar, given),
        )
      : undefined;

const suggesting = <T>(earlier: T | undefined, question: Question<T>): Question<T> =>
  'choices' in question
    ? { ...question, default: earlier ?? question.default }
    : { ...question, default: typeof earlier === 'string' ? earlier : question.default };

/** Waits for an answer. Returns `back` unchanged, and converts any other answer with `take`. */
export async function taking<T, Answers>(
  answer: Promise<T | Back>,
  take: (given: T) => Answers,
): Promise<Answers | Back> {
  const given = await answer;
  return given === back ? back : take(given);
}
