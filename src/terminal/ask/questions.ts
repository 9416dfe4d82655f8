// What can be asked, and in what way a manner of asking answers it: by prompts on a terminal, or line by line.
import type { Canvas } from '../terminal.js';
import type { Deadline } from './timed-confirm.js';
import type { Back } from './wizard.js';

/** Lines over a question, wiped with it where something can be wiped. */
export type Over = (canvas: Canvas) => readonly string[];

export interface Question {
  readonly message: string;
  readonly over?: Over | undefined;
  /** The flag that answers it, as a person would type it: `--institution CODE`. */
  readonly flag: string;
}

/** True, or what is wrong with the answer. */
export type Validation = true | string;

export interface TextQuestion extends Question {
  /** What an answer may be, shown as long as it is asked: `as in 50000sat`. */
  readonly example?: string | undefined;
  readonly default?: string | undefined;
}

/** `parse` throws a Failure for what it cannot take; its message is shown and the question stays. */
export interface ParsedQuestion<T> extends TextQuestion {
  readonly parse: (answer: string) => T;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  /** A line shown while the choice is the active one. */
  readonly description?: string | undefined;
}

/** A search is narrowed to the choices that have every word typed in their name or description, or else its letters in order. */
export interface ChoiceQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  readonly default?: T | undefined;
  /** How many choices stand on the screen at once; as many as fit unless said otherwise. */
  readonly pageSize?: number;
}

export interface SelectQuestion<T> extends ChoiceQuestion<T> {
  /** What the way back is called; "Back" unless said otherwise. */
  readonly backName?: string;
}

/** A text with what judges it as it is typed. */
export interface JudgedText extends TextQuestion {
  readonly validate: (answer: string) => Validation;
}

/** How questions are asked where they can be. All but a confirmation may be answered `back`, a secret where it says so. */
export interface Prompter {
  confirm(message: string, note: string | undefined): Promise<boolean>;
  confirmWithin(message: string, deadline: Deadline): Promise<boolean | 'lapsed'>;
  text(question: JudgedText): Promise<string | Back>;
  secret(question: JudgedText, canGoBack: boolean): Promise<string | Back>;
  select<T>(question: SelectQuestion<T>): Promise<T | Back>;
  search<T>(question: ChoiceQuestion<T>): Promise<T | Back>;
}
