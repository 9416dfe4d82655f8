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

export type Validation = true | string;

export interface TextQuestion extends Question {
  /** What an answer may be, shown as long as it is asked: `as in 50000sat`. */
  readonly example?: string | undefined;
  readonly default?: string | undefined;
  /** True, or what is wrong with the answer. Without it any answer will do but an empty one. */
  readonly validate?: ((answer: string) => Validation | Promise<Validation>) | undefined;
}

/** `parse` throws a Failure for what it cannot take; its message is shown and the question stays. */
export interface ParsedQuestion<T> extends Question {
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

/** A search is narrowed to the choices that have every word typed in their name or description. */
export interface ChoiceQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  readonly default?: T | undefined;
}

export interface SelectQuestion<T> extends ChoiceQuestion<T> {
  /** What the way back is called, where there is one; "Back" unless said otherwise. */
  readonly backName?: string;
  /** How many choices stand on the screen at once; as many as fit unless said otherwise. */
  readonly pageSize?: number;
}

/** A text with what judges it; an answer is handed to it as it is typed. */
export type JudgedText = Omit<TextQuestion, 'validate'> & { readonly validate: (answer: string) => Promise<Validation> };

/** How questions are asked where they can be. With `canGoBack` there is a way to answer `back`. */
export interface Manner {
  /** `note` is a dim remark after the question. */
  confirm(message: string, note: string | undefined): Promise<boolean>;
  confirmWithin(message: string, deadline: Deadline): Promise<boolean | 'lapsed'>;
  text(question: JudgedText, canGoBack: boolean): Promise<string | Back>;
  secret(question: JudgedText, canGoBack: boolean): Promise<string | Back>;
  select<T>(question: SelectQuestion<T>, canGoBack: boolean): Promise<T | Back>;
  search<T>(question: ChoiceQuestion<T>, canGoBack: boolean): Promise<T | Back>;
}
