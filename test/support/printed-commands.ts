// The commands that svcpay prints as next steps, in messages, hints, results and tables. Each must be
// a command of the program, with options and arguments that the command takes.
import { parseArgs } from 'node:util';
import { readCommandLine } from '../../src/cli/program.js';
import { globalOptions, flagName, takesWord, type Values } from '../../src/cli/values.js';

/** A printed command. */
export interface Printed {
  /** The command as printed. */
  readonly text: string;
  readonly words: readonly string[];
  /** The name of the command, such as `tx resume`. */
  readonly name: string;
  /** The text that leads to the command, such as `To retry the failed rows`. */
  readonly reason: string;
  readonly movesMoney: boolean;
}

const known = new Map<string, Omit<Printed, 'reason'> | undefined>();

/**
 * Returns the commands in an output, without duplicates. Throws an error for a command that the
 * program would refuse as a usage error.
 */
export async function printedCommands(output: string): Promise<Printed[]> {
  const found = new Map<string, Printed>();
  for (const line of output.split('\n').flatMap(linesOf))
    for (const { text, reason } of commandsIn(line)) {
      if (!known.has(text)) known.set(text, await read(text));
      const command = known.get(text);
      if (command !== undefined) found.set(text, { ...command, reason });
    }
  return [...found.values()];
}

/** A line of text, or the lines in the strings of a line of JSON. */
function linesOf(line: string): string[] {
  if (!line.includes('svcpay ')) return [];
  const strings = /^\s*["[{]/.test(line) ? (line.match(/"(?:[^"\\]|\\.)*"/g) ?? []) : [];
  return strings.length === 0
    ? [line]
    : strings.flatMap((string) => String(JSON.parse(string)).split('\n'));
}

/** The commands at the end of a line or of a cell. A sentence about svcpay ends with a full stop. */
function commandsIn(line: string): { text: string; reason: string }[] {
  const [, reason = '', command] =
    /^(\W*|.*?(?:: | {2,}|\t))(svcpay(?: (?:'[^']*'|\\'|[^\s'])+)+)(?<!\.)(?= {2}|\t|$)/.exec(
      line.trimEnd(),
    ) ?? [];
  const each = command?.split(/ (?:\||&&|<) /).filter((part) => part.startsWith('svcpay ')) ?? [];
  return each.map((text) => ({ text, reason }));
}

async function read(text: string): Promise<Omit<Printed, 'reason'> | undefined> {
  const [, ...words] = (text.match(/(?:'[^']*'|\\'|[^\s'])+/g) ?? []).map((word) =>
    word.replaceAll(/'([^']*)'|\\(')/g, '$1$2'),
  );
  const { path, asksForHelp, movesMoney } = readCommandLine(words);
  const leaf = path.at(-1);
  // A sentence about the program begins with no command.
  if (leaf === undefined || asksForHelp) return undefined;
  const command = await leaf.load?.();
  if (command === undefined) throw new Error(`This printed command is a group: ${text}`);
  const { positionals } = parseArgs({
    args: words,
    options: { ...optionsOf(globalOptions), ...optionsOf(command.options) },
    allowPositionals: true,
  });
  const takes = Object.values(command.arguments).map(({ shape }) => shape);
  const given = positionals.length - path.length;
  const needed = takes.filter(({ required }) => required).length;
  if (given < needed || (given > takes.length && takes.at(-1)?.kind !== 'words'))
    throw new Error(`This printed command has ${given} arguments: ${text}`);
  const name = path.map((part) => part.name).join(' ');
  return { text, words, name, movesMoney };
}

const optionsOf = (values: Values) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const type = takesWord(value) ? ('string' as const) : ('boolean' as const);
      const { short } = value.shape;
      const option = { type, multiple: true, ...(short !== undefined && { short }) };
      return [
        [flagName(name).slice(2), option],
        [`no-${flagName(name).slice(2)}`, { type: 'boolean' as const, multiple: true }],
      ];
    }),
  );
