// A name in the command tree: what it is for and where its code is, loaded only when chosen.
import type { Command } from './define.js';

export interface Branch {
  readonly name: string;
  readonly summary: string;
  /** Other names that hands try. */
  readonly aliases?: readonly string[];
  /** The heading under which help shows it. */
  readonly section?: string;
  readonly hidden?: boolean;
  /** It pays: a failure of it says first what became of the money. */
  readonly money?: boolean;
  readonly load?: (() => Promise<Command>) | undefined;
  readonly branches?: readonly Branch[];
}

export const isNamed = ({ name, aliases = [] }: Branch, word: string): boolean => name === word || aliases.includes(word);
