// Describes what is wrong with a command line, in one message for all its words.
import type { Command as Commander, CommanderError, Option } from 'commander';
import { Failure } from '../../formats/failure.js';
import { didYouMean, counted } from '../../formats/text.js';
import type { Branch } from '../tree.js';
import type { Command } from '../define.js';
import { globalOptions, readAll, type RawValues, type Values } from '../values.js';

interface Given {
  readonly argv: readonly string[];
  /** The branches of the command tree that lead to the command. */
  readonly path: readonly Branch[];
}

/**
 * Describes every problem of a command line that commander refused.
 * @param along the program and the commands that lead to the chosen command
 */
export function usageFailure(
  error: CommanderError,
  line: Given,
  along: readonly Commander[],
  command: Command | undefined,
): Failure {
  const { path } = line;
  const name = path.map((branch) => branch.name).join(' ');
  return new Failure('usage', usageText(error, name, line, along, command), {
    next: { do: 'run', command: `${name} --help`.trimStart() },
  });
}

function usageText(
  { code, message }: CommanderError,
  name: string,
  line: Given,
  along: readonly Commander[],
  command: Command | undefined,
): string {
  const { argv } = line;
  const { registeredArguments = [], args = [] } = along.at(-1) ?? {};
  const options = along.flatMap((each) => each.options);
  switch (code) {
    case 'commander.excessArguments': {
      const most = registeredArguments.length;
      const taken = most === 0 ? 'no arguments' : counted(most, 'argument');
      return `${name} takes ${taken} (got ${args.length}).`;
    }
    case 'commander.missingArgument':
    case 'commander.unknownOption':
      return problemsOf(line, along, command).join(' ');
    case 'commander.optionMissingArgument': {
      // Only the last word of a command line has no word after it.
      const last = argv.at(-1) ?? '';
      const option = options.find(({ short, long }) => short === last || long === last);
      return `${option?.long} must be followed by ${option?.flags.split(/[<>]/)[1]}.`;
    }
    default:
      return message;
  }
}

/** Describes all missing arguments, unknown options and wrong values of options. */
function problemsOf(
  { path, argv }: Given,
  along: readonly Commander[],
  command: Command | undefined,
): string[] {
  const { registeredArguments = [] } = along.at(-1) ?? {};
  const options = along.flatMap((each) => each.options);
  const raw: Record<string, string | string[]> = {};
  const unknown: string[] = [];
  let words = -path.length;
  const end = argv.indexOf('--');
  const given = end < 0 ? [...argv] : argv.slice(0, end);
  for (let word = given.shift(); word !== undefined; word = given.shift()) {
    // Hides the text after `=`, because the text may be a secret.
    const [name = '', inline] = word.split(/=(.*)/s);
    const option = options.find(({ short, long }) => name === short || name === long);
    if (!/^-./.test(word)) words += 1;
    else if (option?.required === true) {
      const value = inline ?? given.shift() ?? '';
      const before = raw[option.attributeName()] ?? [];
      raw[option.attributeName()] = option.parseArg === undefined ? value : [...before, value];
    } else if (option !== undefined && inline !== undefined)
      unknown.push(`${name} takes no value.`);
    else if (option === undefined)
      unknown.push(...unknownIn(name, options).map((each) => noOption(each, options)));
  }
  const missing = registeredArguments
    .slice(Math.max(words, 0))
    .flatMap((argument) => (argument.required ? [argument.name()] : []));
  const values = Object.entries({ ...globalOptions, ...command?.options });
  return [
    ...(missing.length === 0
      ? []
      : [`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing.`]),
    ...unknown,
    ...wrongValues(Object.fromEntries(values.filter(([name]) => Object.hasOwn(raw, name))), raw),
  ];
}

/** Returns the unknown option that a word is, or the unknown letters in a word such as `-qy`. */
function unknownIn(word: string, options: readonly Option[]): string[] {
  const [first, ...others] = Array.from(word.slice(1), (letter) =>
    options.find(({ short }) => short === `-${letter}`),
  );
  if (word.startsWith('--') || first === undefined) return [word];
  const at = first.required ? -1 : others.indexOf(undefined);
  return at < 0 ? [] : [`-${word.charAt(at + 2)}`];
}

function noOption(given: string, options: readonly Option[]): string {
  if (/^-\d/.test(given)) return `"${given}" is negative. An amount must be more than zero.`;
  const names = options.flatMap(({ long, hidden }) => (hidden ? [] : [long ?? '']));
  const meant = given.startsWith('--') ? didYouMean(given, names) : '';
  return `There is no option "${given}".${meant}`;
}

function wrongValues(values: Values, raw: RawValues): string[] {
  try {
    readAll(values, raw);
    return [];
  } catch (error) {
    if (error instanceof Failure) return [error.message];
    throw error;
  }
}
