// Describes every command as data, for completion and the manual, and prints help on a topic or a
// command, as in `svcpay help exit-codes` or `svcpay help send lightning`.
import { detailLines } from '../../terminal/cards/card.js';
import type { Output } from '../../terminal/output.js';
import { type Branch, type Command, defineCommand } from '../define.js';
import {
  flagName,
  negatedFlag,
  phrase,
  type Shape,
  takesWord,
  type Value,
  type Values,
} from '../values.js';
import { exitCodeRows, topicNames, topics, topicText } from './topics.js';
import { branchNamed } from './suggest.js';
import { globalOptions } from '../globals.js';

export const help = (tree: Branch): Command =>
  defineCommand({
    arguments: {
      topic: phrase('COMMAND')
        .suggesting('command')
        .describe(`a command, or one of ${topicNames.join(', ')}`),
    },
    examples: [
      ['svcpay help', 'lists all commands by purpose'],
      ['svcpay help exit-codes', 'shows every exit code and what it means for the money'],
      ['svcpay help scripting', 'how to write a script that can run again safely'],
      ['svcpay help send lightning', 'same as svcpay send lightning --help'],
    ],
    async run({ topic }, { out, runLine, terminal }) {
      if (topic === 'exit-codes') return printExitCodes(out);
      const page = topics.find(({ name }) => name === topic);
      if (page !== undefined)
        return void out.text(topicText(page, Math.min(terminal.columns, 100)));
      const words = topic?.split(' ') ?? [];
      branchNamed(words, tree, topicNames);
      await runLine([...words, '--help']);
    },
  });

async function printExitCodes(out: Output): Promise<void> {
  if (out.forPeople) {
    out.screen((canvas) =>
      detailLines(
        exitCodeRows.map(({ code, meaning }) => ({ label: String(code), value: meaning })),
        canvas,
        3,
      ),
    );
    return;
  }
  await out.list(exitCodeRows, {
    columns: [
      { name: 'code', title: 'Code', align: 'right' },
      { name: 'kind', only: 'rows' },
      { name: 'meaning', title: 'Meaning' },
    ],
    quiet: ({ code }) => String(code),
    empty: '',
  });
}

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

interface NamedEntry {
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
