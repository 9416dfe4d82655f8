// A name in the command tree: what it is for and where its code is, loaded only when chosen.
import type { Command } from './define.js';

export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly hidden?: boolean;
  /** It pays: a failure of it says first what became of the money. */
  readonly money?: boolean;
  readonly load?: () => Promise<Command>;
  readonly branches?: readonly Branch[];
}
