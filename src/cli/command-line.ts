// Reads a command line once: finds the named command without loading the command's code, and reads
// the options.
import { parseArgs } from 'node:util';
import { isNamed, type Branch } from './define.js';
import { globalOptions } from './globals.js';
import { tree as commands } from './table.js';
import { flagName, negatedFlag, takesWord, type Value, type Values } from './values.js';

export interface CommandLine {
  readonly argv: readonly string[];
  /** All commands of the program. */
  readonly tree: Branch;
  /** The branches of the command tree that lead to the command, outermost first. */
  readonly path: readonly Branch[];
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
  readonly tokens: readonly Token[];
}

type Token = ReturnType<typeof parse>['tokens'][number];

export function readCommandLine(argv: readonly string[], tree: Branch = commands): CommandLine {
  const { values, tokens } = parse(argv);
  const words = leadingWords(tokens);
  const path = branchesNamed(words, tree);
  const has = (...options: readonly string[]): boolean =>
    options.some((option) => values[option] === true);
  return {
    argv,
    tree,
    path,
    nextWord: words[path.length],
    word(option) {
      const value = values[option];
      return typeof value === 'string' ? value : undefined;
    },
    has,
    asksForHelp: has('h', 'help', 'v', 'V', 'version'),
    movesMoney: path.at(-1)?.money === true,
    readsStdin: tokens.some((token) => token.kind === 'positional' && token.value === '-'),
    tokens,
  };
}

/**
 * Parses a command line. Only the code of a command knows which of its options take a value, and
 * that code is not loaded yet, so every option of the command counts as a switch.
 */
const parse = (argv: readonly string[]) =>
  parseArgs({ args: [...argv], options: globalConfig, strict: false, tokens: true });

const nameOf = (name: string, value: Value<unknown>): string =>
  (value.shape.kind === 'off' ? negatedFlag(name) : flagName(name)).slice(2);

const globalConfig = Object.fromEntries(
  Object.entries(globalOptions).map(([name, value]) => {
    const { short } = value.shape;
    const type = takesWord(value) ? ('string' as const) : ('boolean' as const);
    return [nameOf(name, value), { type, ...(short !== undefined && { short }) }];
  }),
);

/**
 * Returns the words before `--` and before the first option of a command. The first option of a
 * command ends the command's name, so `send --via lightning` names `send`.
 */
function leadingWords(tokens: readonly Token[]): readonly string[] {
  const isOther = (token: Token): boolean =>
    token.kind === 'option'
      ? !Object.hasOwn(globalConfig, token.name)
      : token.kind === 'option-terminator';
  const end = tokens.findIndex(isOther);
  return tokens
    .slice(0, end < 0 ? tokens.length : end)
    .flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
}

function branchesNamed(words: readonly string[], tree: Branch): readonly Branch[] {
  const path: Branch[] = [];
  for (const word of words) {
    const next = (path.at(-1) ?? tree).branches?.find((branch) => isNamed(branch, word));
    if (next === undefined) break;
    path.push(next);
  }
  return path;
}

/**
 * Inserts `--` after the command's name and its `options`, so that later options belong to the
 * program that the command runs, as in `sandbox run npm --version`.
 */
export function withRestApart(
  { argv, path, tokens }: CommandLine,
  options: Values,
): readonly string[] {
  const takingWord = new Set(
    Object.entries(options).flatMap(([name, value]) => (takesWord(value) ? [flagName(name)] : [])),
  );
  let words = 0;
  let valueAt = -1;
  for (const token of tokens) {
    if (token.index === valueAt) continue;
    if (token.kind === 'option-terminator') return argv;
    if (token.kind === 'option') {
      if (takingWord.has(token.rawName) && token.inlineValue !== true) valueAt = token.index + 1;
    } else if (words === path.length) return argv.toSpliced(token.index, 0, '--');
    else words += 1;
  }
  return argv;
}
