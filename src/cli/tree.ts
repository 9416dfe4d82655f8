// Defines the tree of commands and the command line that names one. Finds a command by its words,
// or refuses an unknown word.
import type { Context } from './context.js';
import type { Command } from './define.js';
import { type Failure, invalid } from '../formats/failure.js';
import { nearest, clip } from '../formats/text.js';

/** A command name in the command tree, and the function that loads the command's code. */
export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly aliases?: readonly string[];
  /** The heading in help under which the command is listed. */
  readonly section?: string;
  /**
   * Whether the command moves money, so that its failures begin with the state of the money.
   * `depends` means that the arguments and options decide whether money moves.
   */
  readonly money?: true | 'depends';
  /**
   * Whether the command refuses a subaccount in `--account`, because the service runs the command's
   * requests only for the account of the API key.
   */
  readonly ownAccount?: boolean;
  /** Whether only the owner may run the command, so that a run that charges a budget may not. */
  readonly ownerOnly?: boolean;
  /** The number of connections to open while the command's code loads. */
  readonly connections?: number;
  readonly load?: (() => Promise<Command>) | undefined;
  readonly branches?: readonly Branch[];
}

export interface CommandLine {
  readonly argv: readonly string[];
  /** All commands of the program. */
  readonly tree: Branch;
  /** The branches of the command tree that lead to the command, outermost first. */
  readonly path: readonly Branch[];
  /** The command line without the command's name. */
  readonly words: readonly string[];
  /** The word after the command's name, or undefined if an option follows the name. */
  readonly nextWord: string | undefined;
  /** Returns the last value of a global option. */
  word(option: string): string | undefined;
  /** Returns whether one of the given options occurs before `--`. */
  has(...options: readonly string[]): boolean;
  /**
   * Whether the command line requests help or the version, which svcpay prints regardless of all
   * other words.
   */
  readonly asksForHelp: boolean;
  readonly movesMoney: boolean;
  /** Whether the command line contains the word `-`, so that the command reads stdin as data. */
  readonly readsStdin: boolean;
}

export const isNamed = ({ name, aliases = [] }: Branch, word: string): boolean =>
  name === word || aliases.includes(word);

/** Whether a word is similar to the name of a command in a command group. */
export const isNearMiss = (word: string, { branches = [] }: Branch): boolean =>
  nearest(
    word,
    branches.map(({ name }) => name),
  ) !== undefined;

/**
 * Refuses an unknown command.
 * @param path the words before the wrong word
 */
export function unknownCommand(
  word: string,
  path: readonly string[],
  { branches = [] }: Branch,
  also: readonly string[] = [],
): Failure {
  const names = [...branches.flatMap(({ name, aliases = [] }) => [name, ...aliases]), ...also];
  const meant = nearest(word, names);
  const shown = branches.map(({ name }) => name);
  const rest = path.length === 0 ? '' : ` There are ${shown.join(', ')}.`;
  const message = `There is no command "${[...path, clip(word)].join(' ')}".`;
  return invalid(
    meant === undefined ? message + rest : `${message} Did you mean ${[...path, meant].join(' ')}?`,
    { next: { do: 'run', command: [...path, '--help'].join(' ') } },
  );
}

/**
 * Finds the branch with the given name in the command tree. Throws Failure `usage` with a
 * suggestion for an unknown name.
 * @param more further candidates for the first word
 */
export function branchNamed(
  words: readonly string[],
  tree: Branch,
  more: readonly string[] = [],
): Branch {
  let branch = tree;
  words.forEach((word, index) => {
    const next = branch.branches?.find((each) => isNamed(each, word));
    if (next === undefined)
      throw unknownCommand(word, words.slice(0, index), branch, index === 0 ? more : []);
    branch = next;
  });
  return branch;
}

/** Refuses a run that charges a budget what only the owner of the wallet may do. */
export function demandOwner({ settings: { budget } }: Pick<Context, 'settings'>): void {
  if (budget === undefined) return;
  throw invalid(`Only the owner may do this, and this run belongs to the budget ${budget}.`, {
    hint: 'The owner runs svcpay without --budget and without SVCPAY_BUDGET.',
  });
}

/** Returns a branch and all branches below it, with their code. */
export async function loadBelow(
  branch: Branch,
  path: readonly string[] = [],
): Promise<{ branch: Branch; path: string; command: Command | undefined }[]> {
  const command = await branch.load?.();
  const below = await Promise.all(
    (branch.branches ?? []).map((each) => loadBelow(each, [...path, each.name])),
  );
  return [{ branch, path: path.join(' '), command }, ...below.flat()];
}
