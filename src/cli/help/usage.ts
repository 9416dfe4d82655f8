// Describes what is wrong with a command line, in one message for all its words.
import type { CommanderError } from 'commander';
import { Failure, invalid } from '../../formats/failure.js';
import { counted, didYouMean } from '../../formats/text.js';
import type { Command } from '../define.js';
import type { Branch } from '../tree.js';
import { flagsOf, globalOptions, parseWords, readAll, type Values } from '../values.js';

/** Describes every problem of a command line that commander refused. */
export function usageFailure(
  error: CommanderError,
  argv: readonly string[],
  path: readonly Branch[],
  command: Command | undefined,
): Failure {
  const name = path.map((branch) => branch.name).join(' ');
  const options = { ...globalOptions, ...command?.options };
  const { tokens } = parseWords(argv, options);
  const words = tokens.filter(({ kind }) => kind === 'positional').length;
  const problems = [
    ...wrongWords(name, words, command?.arguments ?? {}),
    ...wrongOptions(argv, tokens, options),
  ];
  return invalid(problems.join(' ') || error.message, {
    next: { do: 'run', command: `${name} --help`.trimStart() },
  });
}

function wrongWords(name: string, given: number, values: Values): string[] {
  const shapes = Object.values(values).map(({ shape }) => shape);
  if (given > shapes.length && shapes.at(-1)?.kind !== 'words') {
    const taken = shapes.length === 0 ? 'no arguments' : counted(shapes.length, 'argument');
    return [`${name} takes ${taken} (got ${given}).`];
  }
  const missing = shapes.slice(given).flatMap((each) => (each.required ? each.placeholder : []));
  const verb = missing.length > 1 ? 'are' : 'is';
  return missing.length === 0 ? [] : [`${missing.join(' and ')} ${verb} missing.`];
}

/** Describes the unknown options, and the missing and wrong values of options. */
function wrongOptions(
  argv: readonly string[],
  tokens: ReturnType<typeof parseWords>['tokens'],
  options: Values,
): string[] {
  const known = new Map(
    Object.entries(options).flatMap(([name, value]) =>
      flagsOf(name, value).map((flag) => [flag, { name, shape: value.shape }] as const),
    ),
  );
  const raw: Record<string, string | string[]> = {};
  const problems: string[] = [];
  let unknownAt = -1;
  for (const token of tokens) {
    if (token.kind !== 'option' || token.index === unknownAt) continue;
    const { name, shape } = known.get(`--${token.name}`) ?? {};
    if (name === undefined || shape === undefined) {
      // Hides the text after `=`, because the text may be a secret.
      const [word = ''] = (argv[token.index] ?? '').split('=', 1);
      const isFirst = tokens.find(({ index }) => index === token.index) === token;
      problems.push(noOption(isFirst ? word : token.rawName, [...known.keys()]));
      unknownAt = token.index;
    } else if (shape.kind !== 'word' && shape.kind !== 'words') {
      if (token.inlineValue === true) problems.push(`${token.rawName} takes no value.`);
    } else if (token.value === undefined) {
      problems.push(`--${token.name} must be followed by ${shape.placeholder}.`);
    } else raw[name] = shape.kind === 'words' ? [...(raw[name] ?? []), token.value] : token.value;
  }
  const given = Object.entries(options).filter(([name]) => Object.hasOwn(raw, name));
  try {
    readAll(Object.fromEntries(given), raw);
    return problems;
  } catch (error) {
    if (error instanceof Failure) return [...problems, error.message];
    throw error;
  }
}

function noOption(given: string, names: readonly string[]): string {
  if (/^-\d/.test(given)) return `"${given}" is negative. An amount must be more than zero.`;
  const meant = given.startsWith('--') ? didYouMean(given, names) : '';
  return `There is no option "${given}".${meant}`;
}
