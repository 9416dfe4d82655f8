// Questions to a person: asked on stderr only where they can be answered, and refused at once, naming the flag, where not.
import type { Terminal } from './terminal.js';

/** The person wants the question before this one again. */
export const back = Symbol('back');
export type Back = typeof back;

interface Question {
  readonly message: string;
  /** The flag that answers it, as a person would type it: `--institution CODE`. */
  readonly flag: string;
}

export interface TextQuestion extends Question {
  readonly default?: string | undefined;
  /** True, or what is wrong with the answer. */
  readonly validate?: (answer: string) => true | string | Promise<true | string>;
}

/** `parse` throws a Failure for what it cannot take; its message is shown and the question stays. */
export interface ParsedQuestion<T> extends Question {
  readonly default?: string | undefined;
  readonly parse: (answer: string) => T;
}

export interface Choice<T> {
  readonly value: T;
  readonly name: string;
  /** A line shown while the choice is the active one. */
  readonly description?: string | undefined;
}

export interface SelectQuestion<T> extends Question {
  readonly choices: readonly Choice<T>[];
  readonly default?: T | undefined;
}

export interface SearchQuestion<T> extends Question {
  /** Filtered by every word that is typed, in name and description. */
  readonly choices: readonly Choice<T>[];
}

export interface ConfirmOptions {
  /** Flags that were not given and without a terminal would have to be; `--yes` when empty. */
  readonly missing?: readonly string[];
  /** A dim remark after the question, such as "quote valid 29 s". */
  readonly note?: string | undefined;
}

/**
 * Each question throws Failure: `declined` where none can be asked or the input has ended, `interrupted` for Ctrl-C.
 * A question with `back: true` may be answered with `back`: Esc, `<`, or the last choice of a list.
 */
export interface Ask {
  /** No by default; true at once under `--yes`. */
  confirm(message: string, options?: ConfirmOptions): Promise<boolean>;
  text(question: TextQuestion): Promise<string>;
  text(question: TextQuestion & { readonly back: true }): Promise<string | Back>;
  /** A text that is read by a function, such as an amount. */
  parsed<T>(question: ParsedQuestion<T>): Promise<T>;
  parsed<T>(question: ParsedQuestion<T> & { readonly back: true }): Promise<T | Back>;
  /** Masked, never echoed. */
  secret(question: TextQuestion): Promise<string>;
  select<T>(question: SelectQuestion<T>): Promise<T>;
  select<T>(question: SelectQuestion<T> & { readonly back: true }): Promise<T | Back>;
  search<T>(question: SearchQuestion<T>): Promise<T>;
  search<T>(question: SearchQuestion<T> & { readonly back: true }): Promise<T | Back>;
}

export function createAsk(terminal: Terminal, options: { readonly yes: boolean }): Ask {
  throw new Error(`not there yet: ${terminal.columns} ${options.yes}`);
}
