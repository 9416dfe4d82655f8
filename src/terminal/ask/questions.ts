// The questions, and the interface of their two implementations: prompts and lines.
import type { Canvas } from '../terminal.js';
import type { Deadline } from './timed-confirm.js';
import type { Back } from './wizard.js';

/** Lines above a question, erased with the question if possible. */
export type LinesAbove = (canvas: Canvas) => readonly string[];

export interface Question {
  readonly message: string;
  readonly over?: LinesAbove | undefined;
  /** The flag that answers the question, as typed: `--institution CODE`. */
  readonly flag: string;
}

/** True, or the problem with the answer. */
export type Validation = true | string;

export interface TextQuestion extends Question {
  /** An example, shown while the question is open: `as in 50000sat`. */
  readonly example?: string | undefined;
  readonly default?: string | undefined;
}

/**
 * A question whose answer `parse` reads. For an invalid answer `parse` throws a Failure. Its
 * message is shown, and the question stays.
 */
export interface ParsedQuestion<T> extends TextQuestion {
  readonly parse: (answer: string) => T;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  /** A line shown while the cursor is on this choice. */
  readonly description?: string | undefined;
}

/**
 * A question with choices. A search shows the choices whose name or description has every typed
 * word, or else its letters in order.
 */
export interface ChoiceQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  readonly default?: T | undefined;
  /** Choices below the others, offered whatever a person types in a search. */
  readonly always?: readonly Choice<T>[];
  /**
   * Reads an answer to a search that matches no choice, as a choice. Throws Failure for an invalid
   * text.
   */
  readonly typed?: (text: string) => Choice<T>;
  /** The number of choices on the screen. The default is as many as fit. */
  readonly pageSize?: number;
}

export interface SelectQuestion<T> extends ChoiceQuestion<T> {
  /** The label of the way back. The default is "Back". */
  readonly backName?: string;
  /** Lines printed above the question beforehand, and again if the window changes. */
  readonly above?: LinesAbove | undefined;
}

/** A text with its validation. */
export interface JudgedText extends TextQuestion {
  readonly validate: (answer: string) => Validation;
}

/**
 * Asks the questions. All except a confirmation may be answered `back`. A secret may be answered
 * `back` only if the question allows that.
 */
export interface Prompter {
  confirm(message: string, note: string | undefined): Promise<boolean>;
  confirmWithin(message: string, deadline: Deadline): Promise<boolean | 'lapsed'>;
  text(question: JudgedText): Promise<string | Back>;
  secret(question: JudgedText, canGoBack: boolean): Promise<string | Back>;
  select<T>(question: SelectQuestion<T>): Promise<T | Back>;
  search<T>(question: ChoiceQuestion<T>): Promise<T | Back>;
}
