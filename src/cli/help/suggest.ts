// Refuses an unknown command, and suggests the most similar name.
import { Failure } from '../../formats/failure.js';
import { nearest, clip } from '../../formats/text.js';
import { isNamed, type Branch } from '../define.js';

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
  return new Failure(
    'usage',
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
