// What to do next, as a menu over the same commands, which ask for what they need.
import type { Ask, Back } from '../../terminal/ask/ask.js';

/** The words of a command line, without `svcpay`. */
export type Words = readonly string[];

/** The history, of which a row can be opened. */
export const history: Words = ['tx', 'list'];

/** Home once more. */
export const again: Words = [];

export interface MenuDeps {
  readonly ask: Ask['steps'];
  /** False where the service did not answer: the menu begins with another try. */
  readonly isReached: boolean;
  /** Something can be resumed. */
  readonly isPending: boolean;
}

const entries: readonly { readonly name: string; readonly words: Words; readonly onlyPending?: boolean }[] = [
  { name: 'Receive', words: ['receive'] },
  { name: 'Send', words: ['send'] },
  { name: 'Swap', words: ['swap'] },
  { name: 'Pay out to a bank or phone', words: ['payout'] },
  { name: 'History', words: history },
  { name: 'Resume what is pending', words: ['tx', 'resume'], onlyPending: true },
];

/** Resolves with the chosen command line; `back` when the person leaves. */
export function askWhatNext({ ask, isPending, isReached }: MenuDeps): Promise<Words | Back> {
  const offered = entries.filter(({ onlyPending }) => onlyPending !== true || isPending);
  const choices = [...(isReached ? [] : [{ name: 'Try again', words: again }]), ...offered].map(({ name, words }) => ({ value: words, name }));
  return ask.select({ message: 'What next?', flag: 'COMMAND', choices, backName: 'Leave' });
}
