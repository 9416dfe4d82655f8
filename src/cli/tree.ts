// Finds the command that a command line names, without loading its code.
import { isNamed, type Branch } from './define.js';
import { globalOptions } from './globals.js';
import { tree } from './table.js';
import { flagName, negatedFlag, takesWord, type Values } from './values.js';

/** Every spelling of an option, and whether a value follows it. */
const flagsOf = (options: Values): ReadonlyMap<string, boolean> =>
  new Map(
    Object.entries(options).flatMap(([name, value]): [string, boolean][] => {
      const { kind, short } = value.shape;
      const long = kind === 'off' ? negatedFlag(name) : flagName(name);
      const spellings = short === undefined ? [long] : [long, `-${short}`];
      return spellings.map((spelling) => [spelling, takesWord(value)]);
    }),
  );

const globalFlags = flagsOf(globalOptions);

/**
 * The words of a command line up to the first option that is not global, or `--`; global options and their
 * values are skipped. A command's own option ends its name: `send --via lightning` is `send`.
 */
export function plainWords(argv: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (!word.startsWith('-') || word === '-') words.push(word);
    else if (globalFlags.get(word) === true) index += 1;
    else if (!isGlobal(word)) break;
  }
  return words;
}

/** Also with its value attached: `--output=json`, `-ojson`, `-qy`. */
const isGlobal = (word: string): boolean =>
  globalFlags.has(word.split('=', 1)[0] ?? '') ||
  (!word.startsWith('--') && globalFlags.has(word.slice(0, 2)));

/**
 * Inserts `--` after the command's name, so that options after it belong to the program that it runs,
 * as in `sandbox run npm --version`.
 */
export function withRestApart(
  argv: readonly string[],
  nameLength: number,
  options: Values,
): readonly string[] {
  const flags = new Map([...globalFlags, ...flagsOf(options)]);
  let words = 0;
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') return argv;
    if (word.startsWith('-')) index += flags.get(word) === true ? 1 : 0;
    else if (words === nameLength) return argv.toSpliced(index, 0, '--');
    else words += 1;
  }
  return argv;
}

/** Whether the command line moves money. */
export const movesMoney = (argv: readonly string[]): boolean =>
  chosenPath(tree, argv).at(-1)?.money === true;

/** The branches that a command line names, outermost first. */
export function chosenPath(root: Branch, argv: readonly string[]): readonly Branch[] {
  const path: Branch[] = [];
  for (const word of plainWords(argv)) {
    const next = (path.at(-1) ?? root).branches?.find((branch) => isNamed(branch, word));
    if (next === undefined) break;
    path.push(next);
  }
  return path;
}
