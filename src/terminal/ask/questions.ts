// Defines the types of questions, and the interface of the two implementations: prompts and plain
// lines.
import type { Canvas } from '../terminal.js';
import type { Deadline } from './timed-confirm.js';
import type { Back } from './wizard.js';

/**
 * Draws the lines above a question. A terminal that supports escape sequences erases the lines
 * above a question together with the question.
 */
export type LinesAbove = (canvas: Canvas) => readonly string[];

export interface Question {
  readonly message: string;
  readonly over?: LinesAbove | undefined;
  /** The flag that answers the question, as a person types it, such as `--institution CODE`. */
  readonly flag: string;
}

/**
 * The result of validating an answer: true if the answer is valid, or a text that describes the
 * problem.
 */
export type Validation = true | string;

export interface TextQuestion extends Question {
  /** A hint with an example, such as `e.g. 50000sat, or all`, shown while the question is open. */
  readonly example?: string | undefined;
  readonly default?: string | undefined;
}

/**
 * A question whose answer `parse` reads. If `parse` throws a Failure, svcpay shows the message and
 * asks again.
 */
export interface ParsedQuestion<T> extends TextQuestion {
  readonly parse: (answer: string) => T;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  /** A line shown while the cursor is on the choice. */
  readonly description?: string | undefined;
}

/** A choice that is not in the list, and that a key chooses. */
export interface Shortcut<T> extends Choice<T> {
  readonly key: string;
}

/**
 * A question with choices. A search shows a choice if its name or description contains every typed
 * word, or the letters of the word in order.
 */
export interface ChoiceQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  readonly default?: T | undefined;
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
  /** The number of visible choices, by default as many as fit on the screen. */
  readonly pageSize?: number;
}

export interface SelectQuestion<T> extends ChoiceQuestion<T> {
  /** The label of the choice that goes back, by default "Back". */
  readonly backName?: string;
  readonly shortcut?: Shortcut<T> | undefined;
  /**
   * The lines above the question. svcpay draws the lines before the question, and redraws the lines
   * when the window size changes.
   */
  readonly above?: LinesAbove | undefined;
}

/** A question that a person answers with a text, and the function that validates the answer. */
export interface JudgedText extends TextQuestion {
  readonly validate: (answer: string) => Validation;
}

/**
 * Asks the questions. Every question except a confirmation accepts the answer `back`. A question
 * for a secret accepts `back` only with `canGoBack`.
 */
export interface Prompter {
  confirm(message: string, note: string | undefined): Promise<boolean>;
  confirmWithin(message: string, deadline: Deadline): Promise<boolean | 'lapsed'>;
  text(question: JudgedText): Promise<string | Back>;
  secret(question: JudgedText, canGoBack: boolean): Promise<string | Back>;
  select<T>(question: SelectQuestion<T>): Promise<T | Back>;
  search<T>(question: ChoiceQuestion<T>): Promise<T | Back>;
}
