// The questions, and the interface of their two implementations: prompts, or line by line.
import type { Canvas } from '../terminal.js';
import type { Deadline } from './timed-confirm.js';
import type { Back } from './wizard.js';

/** Lines above a question, erased with it if possible. */
export type Over = (canvas: Canvas) => readonly string[];

export interface Question {
  readonly message: string;
  readonly over?: Over | undefined;
  /** The flag that answers it, as typed: `--institution CODE`. */
  readonly flag: string;
}

/** True, or the problem with the answer. */
export type Validation = true | string;

export interface TextQuestion extends Question {
  /** An example, shown while the question is open: `as in 50000sat`. */
  readonly example?: string | undefined;
  readonly default?: string | undefined;
}

/** `parse` throws a Failure for an invalid answer; its message is shown and the question stays. */
export interface ParsedQuestion<T> extends TextQuestion {
  readonly parse: (answer: string) => T;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  /** A line shown while the choice is the active one. */
  readonly description?: string | undefined;
}

/**
 * A search is narrowed to the choices that have every word typed in their name or description, or
 * else its letters in order.
 */
export interface ChoiceQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  readonly default?: T | undefined;
  /** Offered below the others, whatever is typed in a search. */
  readonly always?: readonly Choice<T>[];
  /**
   * Reads an answer to a search that is none of the choices, as one; throws Failure for an invalid
   * text.
   */
  readonly typed?: (text: string) => Choice<T>;
  /** The number of choices on the screen; by default as many as fit. */
  readonly pageSize?: number;
}

export interface SelectQuestion<T> extends ChoiceQuestion<T> {
  /** The label of the way back; by default "Back". */
  readonly backName?: string;
  /** Lines printed above the question beforehand, and again when the window changes. */
  readonly above?: Over | undefined;
}

/** A text with its validation. */
export interface JudgedText extends TextQuestion {
  readonly validate: (answer: string) => Validation;
}

/**
 * Asks the questions. All but a confirmation may be answered `back`, a secret only if it allows
 * that.
 */
export interface Prompter {
  confirm(message: string, note: string | undefined): Promise<boolean>;
  confirmWithin(message: string, deadline: Deadline): Promise<boolean | 'lapsed'>;
  text(question: JudgedText): Promise<string | Back>;
  secret(question: JudgedText, canGoBack: boolean): Promise<string | Back>;
  select<T>(question: SelectQuestion<T>): Promise<T | Back>;
  search<T>(question: ChoiceQuestion<T>): Promise<T | Back>;
}
