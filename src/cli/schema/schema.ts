// Prints the table of commands as JSON, for programs and agents.
import { defineCommand, type Command, type Deps, text } from '../define.js';
import { type Branch, branchNamed, loadBelow } from '../tree.js';
import {
  globalOptions,
  valueSchema,
  flagsOf,
  phrase,
  type ValueSchema,
  type Values,
} from '../values.js';
import { exitCodeRows } from '../help/help.js';

interface Option extends ValueSchema {
  readonly flag: string;
}

interface CommandSchema {
  readonly command: string;
  readonly summary: string;
  /**
   * Whether the command moves money. `depends` means that the arguments and options decide whether
   * money moves.
   */
  readonly money: 'moves' | 'none' | 'depends';
  /** The positional arguments in order. */
  readonly arguments: readonly (ValueSchema & {
    readonly name: string;
    readonly required: boolean;
  })[];
  readonly options: Readonly<Record<string, Option>>;
  readonly fields: readonly string[];
  readonly formats: readonly string[];
  readonly examples: Command['examples'];
}

export const schema = (tree: Branch): Command =>
  defineCommand({
    arguments: {
      command: phrase('COMMAND')
        .suggesting('command')
        .describe('only this command, or the commands of this group'),
    },
    examples: [
      ['svcpay schema', 'prints every command, the global options and the exit codes'],
      ['svcpay schema send lightning', 'prints one command'],
    ],
    async run({ command = '' }, { version }: Deps<'version'>) {
      const words = command.split(' ').filter((word) => word !== '');
      return JSON.stringify(await wholeSchema(tree, version, words));
    },
    view: text,
  });

/** @param words the command or the group to describe, by default all commands */
export const wholeSchema = async (
  tree: Branch,
  version: string,
  words: readonly string[] = [],
) => ({
  version,
  globalOptions: optionsOf(globalOptions),
  exitCodes: exitCodeRows,
  commands: (await loadBelow(branchNamed(words, tree), words)).flatMap(
    ({ branch, path, command }) =>
      command === undefined || path === '' ? [] : schemaOf(branch, command, path),
  ),
});

const schemaOf = ({ summary, money }: Branch, command: Command, path: string): CommandSchema => ({
  command: path,
  summary,
  money: money === true ? 'moves' : (money ?? 'none'),
  arguments: Object.entries(command.arguments).map(([name, value]) => ({
    name,
    required: value.shape.required,
    ...valueSchema(value),
  })),
  options: optionsOf(command.options),
  fields: [...new Set(command.fields)],
  formats: command.formats,
  examples: command.examples,
});

const optionsOf = (options: Values): Record<string, Option> =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      { flag: flagsOf(name, value)[0] ?? '', ...valueSchema(value) },
    ]),
  );
