// Checks that every command that a run prints as its next step is a command of the program, with
// options and arguments that the command takes.
import { parseArgs } from 'node:util';
import { readCommandLine } from '../../src/cli/command-line.js';
import { globalOptions } from '../../src/cli/globals.js';
import { flagName, negatedFlag, takesWord, type Values } from '../../src/cli/values.js';

const seen = new Set<string>();

/** Throws an error for a printed command that the program would refuse as a usage error. */
export async function checkPrinted(stderr: string): Promise<void> {
  for (const text of stderr.split('\n').flatMap(commandsIn)) {
    if (seen.has(text)) continue;
    seen.add(text);
    await check(text);
  }
}

/**
 * The commands at the end of a line, or at the end of the hint of a failure in JSON. A sentence about
 * the program ends with a full stop.
 */
function commandsIn(line: string): string[] {
  const [, json] = /"hint":("(?:[^"\\]|\\.)*")/.exec(line) ?? [];
  const text = json === undefined ? line : String(JSON.parse(json));
  const [, command] = /(?:^ *|: )(svcpay (?:--?[a-z]|[a-z-]+\b).*[^.])$/.exec(text) ?? [];
  return command?.split(/ (?:\||&&|<) /).filter((each) => each.startsWith('svcpay ')) ?? [];
}

async function check(text: string): Promise<void> {
  const [, ...argv] = (text.match(/(?:'[^']*'|\\'|[^\s'])+/g) ?? []).map((word) =>
    word.replaceAll(/'([^']*)'/g, '$1'),
  );
  const { path, asksForHelp } = readCommandLine(argv);
  const leaf = path.at(-1);
  // A sentence about the program begins with no command.
  if (leaf === undefined || asksForHelp) return;
  const command = await leaf.load?.();
  if (command === undefined) throw new Error(`This printed command is a group: ${text}`);
  const { positionals } = parseArgs({
    args: argv,
    options: { ...optionsOf(globalOptions), ...optionsOf(command.options) },
    allowPositionals: true,
  });
  const takes = Object.values(command.arguments).map(({ shape }) => shape);
  const given = positionals.length - path.length;
  const needed = takes.filter(({ required }) => required).length;
  if (given < needed || (given > takes.length && takes.at(-1)?.kind !== 'words'))
    throw new Error(`This printed command has ${given} arguments: ${text}`);
}

const optionsOf = (values: Values) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const type = takesWord(value) ? ('string' as const) : ('boolean' as const);
      const { short } = value.shape;
      const option = { type, multiple: true, ...(short !== undefined && { short }) };
      return [
        [flagName(name).slice(2), option],
        [negatedFlag(name).slice(2), { type: 'boolean' as const, multiple: true }],
      ];
    }),
  );
