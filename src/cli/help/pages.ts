// Describes every command as data, for completion and the manual.
import type { Branch, Command } from '../define.js';
import { globalOptions } from '../globals.js';
import {
  flagName,
  negatedFlag,
  takesWord,
  type Shape,
  type Value,
  type Values,
} from '../values.js';
import { topicNames } from './topics.js';

/** A value in a command line: a choice, a word from local data, or any word. */
export interface Slot extends Omit<Shape, 'kind' | 'short'> {
  readonly repeated: boolean;
}

export interface Flag {
  /** Every spelling of the option, the long spelling first. */
  readonly names: readonly string[];
  readonly summary: string;
  /** The value of the option, or undefined for a switch. */
  readonly value?: Slot;
}

export interface NamedEntry {
  readonly name: string;
  readonly summary: string;
}

export interface Page extends NamedEntry {
  /** The path of the command, such as `send lightning`, or an empty string for svcpay itself. */
  readonly path: string;
  readonly aliases: readonly string[];
  readonly section?: string | undefined;
  readonly runs: boolean;
  readonly money: boolean;
  readonly commands: readonly NamedEntry[];
  readonly arguments: readonly Slot[];
  readonly flags: readonly Flag[];
  /** The formats that `-o` accepts in addition to the usual formats. */
  readonly formats: readonly string[];
  readonly fields: readonly string[];
  readonly examples: Command['examples'];
}

/**
 * Returns a page for every command. The first page describes the program and the global
 * options.
 */
export async function pagesOf(branch: Branch, path: readonly string[] = []): Promise<Page[]> {
  const command = await branch.load?.();
  const branches = branch.branches ?? [];
  const isRoot = path.length === 0;
  const page: Page = {
    path: path.join(' '),
    name: branch.name,
    summary: branch.summary,
    aliases: branch.aliases ?? [],
    section: branch.section,
    runs: command !== undefined,
    money: branch.money === true,
    commands: branches.flatMap(({ name, aliases = [], summary }) =>
      [name, ...aliases].map((each) => ({ name: each, summary })),
    ),
    arguments: Object.values(command?.arguments ?? {}).map(slotOf),
    flags: flagsOf(isRoot ? globalOptions : (command?.options ?? {})),
    formats: command?.formats ?? [],
    fields: command?.fields ?? [],
    examples: command?.examples ?? [],
  };
  const below = await Promise.all(branches.map((each) => pagesOf(each, [...path, each.name])));
  return [page, ...below.flat()];
}

const slotOf = ({ shape: { kind, short: _short, ...shape } }: Value<unknown>): Slot => ({
  ...shape,
  choices: shape.suggests === 'command' ? topicNames : shape.choices,
  repeated: kind === 'words',
});

const flagsOf = (values: Values): Flag[] =>
  Object.entries(values).map(([name, value]) => {
    const { summary, short } = value.shape;
    const names = [...longNames(name, value), ...(short === undefined ? [] : [`-${short}`])];
    return takesWord(value) ? { names, summary, value: slotOf(value) } : { names, summary };
  });

function longNames(name: string, { shape }: Value<unknown>): string[] {
  if (shape.kind === 'off') return [negatedFlag(name)];
  return shape.kind === 'on-off' ? [flagName(name), negatedFlag(name)] : [flagName(name)];
}
