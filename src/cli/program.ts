// Runs one command line from its words to its exit code: finds the chosen command in the command
// tree, loads only that command's code, parses the words with commander, runs the command, and
// shows an error only once, in the requested format.
import { Command as Commander, CommanderError, Help, Option } from 'commander';
import { Failure, invalid } from '../formats/failure.js';
import type { Context, RunLine } from './context.js';
import type { Command } from './define.js';
import {
  demandOwner,
  type Branch,
  isNamed,
  isNearMiss,
  unknownCommand,
  type CommandLine,
} from './tree.js';
import {
  globalOptions,
  type Globals,
  choice,
  flagsOf,
  parseWords,
  readAll,
  takesWord,
  type RawValues,
  type Value,
  type Values,
} from './values.js';
import { firstExamples, tree as commands } from './table.js';
import { nextTurn } from '../api/timers.js';
import type { OpeningTransport } from '../api/network.js';
import { messageOf } from '../formats/text.js';
import { type Process, Ended } from './process.js';

interface ProgramOptions {
  readonly line: CommandLine;
  readonly proc: Process;
  /** Opens connections to the service while the command's code loads. */
  readonly connect: (connections: number) => Promise<void>;
  readonly openContext: (globals: Globals, command: Command) => Promise<Context>;
}

/** Parses and runs one command line. Throws Failure. */
async function runProgram(options: ProgramOptions): Promise<void> {
  const { line } = options;
  const { path, tree } = line;
  // commander accepts only one short form of an option.
  const words = isBare(line) && line.has('V') ? ['--version'] : line.words;
  refuseUnknown(line);
  const leaf = path.at(-1) ?? (opensHome(options) ? tree : undefined);
  if (leaf?.connections !== undefined && !line.asksForHelp) await options.connect(leaf.connections);
  const command = await leaf?.load?.();
  const program = buildProgram(options, command);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    if (leaf?.ownAccount === true && command !== undefined) {
      const context = await options.openContext(globalsOf(program, command).globals, command);
      await refuseSubaccount(context).finally(context.close);
    }
    const { usageFailure } = await import('./help/usage.js');
    throw usageFailure(error, words, path, command);
  }
}

/**
 * Refuses a subaccount if the command acts only for the account of the API key. svcpay checks the
 * account before all other checks and questions.
 */
async function refuseSubaccount({ settings, account }: Context): Promise<void> {
  if (settings.accountId === undefined) return;
  await account().catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'usage') throw error;
  });
}

/**
 * Refuses an unknown command name. In a command group that also accepts arguments, refuses only a
 * misspelled command name.
 */
function refuseUnknown({ path, tree, nextWord: word }: CommandLine): void {
  const group = path.at(-1) ?? tree;
  if (word === undefined || group.branches === undefined) return;
  const takesWords = group.load !== undefined && group !== tree;
  if (takesWords && !/^[a-z-]{2,20}$/i.test(word)) return;
  if (takesWords && !isNearMiss(word, group)) return;
  throw unknownCommand(
    word,
    path.map(({ name }) => name),
    group,
  );
}

/** Whether the command line names no command. */
const isBare = ({ path, nextWord }: CommandLine): boolean =>
  path.length === 0 && nextWord === undefined;

/**
 * Whether the command line runs `svcpay` without a command at a terminal, which opens the home
 * screen.
 */
const opensHome = ({ line, proc: { stdout, stdin } }: ProgramOptions): boolean =>
  isBare(line) && !line.asksForHelp && stdout.isTTY === true && stdin.isTTY;

/** Builds the parser and the help of the chosen command, which is a command, a group or svcpay. */
function buildProgram(options: ProgramOptions, command: Command | undefined): Commander {
  const { line, proc } = options;
  const branch = line.path.at(-1);
  const { branches = [], aliases = [], load, summary } = branch ?? line.tree;
  const values = Object.values(command?.arguments ?? {});
  const syntax = [load && '[options]', branches.length > 0 && '[command]']
    .concat(values.map(argumentSyntax))
    .filter((part) => typeof part === 'string');
  const program = new Commander(['svcpay', ...namesOf(line)].join(' '))
    .description(branch === undefined ? summary : sentence(summary))
    .aliases(aliases)
    .usage(syntax.join(' '))
    .exitOverride()
    .passThroughOptions(command?.ownsRest === true)
    .version(proc.version, '-v, --version', 'print the version');
  addValues(program, globalOptions);
  // Only the help of svcpay itself lists the global options.
  if (branch !== undefined) for (const option of program.options) option.hideHelp();
  for (const value of values) program.argument(argumentSyntax(value), value.shape.summary);
  addValues(program, command?.options ?? {});
  addHelp(program, options, branches, command);
  return program.action((...given: unknown[]) =>
    command === undefined
      ? Promise.reject(noCommand(program, options))
      : execute(command, program, given, options),
  );
}

const namesOf = ({ path }: CommandLine): string[] => path.map(({ name }) => name);

const sentence = (summary: string): string =>
  `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;

function addHelp(
  program: Commander,
  { line: { path }, proc: { stdout } }: ProgramOptions,
  branches: readonly Branch[],
  command: Command | undefined,
): void {
  const width = Math.min(stdout.columns ?? 80, 100);
  const listed = branches.map(({ name, aliases = [], summary, section }) => {
    const child = new Commander(name).summary(summary).aliases(aliases);
    return section === undefined ? child : child.helpGroup(`${section}:`);
  });
  program.configureOutput({
    writeOut: (text) => void stdout.write(text),
    writeErr: () => undefined,
    getOutHelpWidth: () => width,
    // Replaces commander's detection of colours, which would open stdout.
    getOutHasColors: () => false,
  });
  program.configureHelp({
    minWidthToWrap: 10,
    visibleCommands: () => listed,
    optionTerm: (option) => bothWays(option, program),
    formatHelp: (shown, helper) => optionsLast(new Help().formatHelp.call(helper, shown, helper)),
  });
  if (path.length > 0) program.addHelpText('after', `\n${wrapped(globalsToo, width)}`);
  const examples = path.length === 0 ? firstExamples : (command?.examples ?? []);
  program.addHelpText('after', examplesText(examples, width));
}

async function execute(
  command: Command,
  program: Commander,
  given: readonly unknown[],
  { line, openContext }: ProgramOptions,
): Promise<void> {
  const { globals, format } = globalsOf(program, command);
  const words = Object.keys(command.arguments).map((name, index) => [name, rawWord(given[index])]);
  const raw: RawValues = {
    ...program.opts<RawValues>(),
    ...Object.fromEntries(words),
    ...(format !== undefined && { format }),
  };
  const context = await openContext(globals, command);
  const { ownerOnly, ownAccount } = line.path.at(-1) ?? {};
  try {
    if (ownerOnly === true) demandOwner(context);
    if (ownAccount === true) await refuseSubaccount(context);
    await command.execute(raw, context);
  } finally {
    await context.close();
  }
}

/**
 * Reads the global options. If only the chosen command supports the output format, returns the
 * format as `format` and not as a global option.
 */
function globalsOf(
  program: Commander,
  { formats }: Command,
): { readonly globals: Globals; readonly format?: string } {
  const { output, ...rest } = program.opts<RawValues>();
  const isOwn = typeof output === 'string' && formats.includes(output.toLowerCase());
  return isOwn
    ? { globals: readAll(globalOptions, rest), format: choice(formats).read(output) }
    : { globals: readAll(globalOptions, { ...rest, output }) };
}

/** The failure of a command line that names no command, or only a group of commands. */
function noCommand(program: Commander, { line, proc: { stderr } }: ProgramOptions): Failure {
  const words = namesOf(line).join(' ');
  const next = { do: 'run', command: `${words} --help`.trimStart() } as const;
  const group = line.path.at(-1);
  if (group === undefined) {
    stderr.write(`${program.helpInformation()}\n`);
    return invalid('Name a command.', { next });
  }
  const names = group.branches?.map(({ name }) => name).join(', ');
  return invalid(`"${words}" must be followed by one of: ${names}.`, { next });
}

function rawWord(received: unknown): RawValues[string] {
  if (Array.isArray(received)) return received.map(String);
  return typeof received === 'string' ? received : undefined;
}

function argumentSyntax({ shape }: Value<unknown>): string {
  const dots = shape.kind === 'words' ? '...' : '';
  return shape.required ? `<${shape.placeholder}${dots}>` : `[${shape.placeholder}${dots}]`;
}

function addValues(program: Commander, values: Values): void {
  for (const [name, value] of Object.entries(values)) {
    const { kind, short, summary, placeholder } = value.shape;
    const [flag = '', negated] = flagsOf(name, value);
    const letter = short === undefined ? '' : `-${short}, `;
    const word = takesWord(value) ? ` <${placeholder}>` : '';
    const option = new Option(letter + flag + word, summary);
    if (kind === 'words')
      option.argParser((word: string, before: string[] | undefined) => [...(before ?? []), word]);
    program.addOption(option);
    // Hides the second flag of a pair, because help shows both flags on one line (see optionTerm).
    if (negated !== undefined) program.addOption(new Option(negated).hideHelp());
  }
}

/** Moves the options below the commands. */
function optionsLast(help: string): string {
  const parts = help.trimEnd().split('\n\n');
  const isOptions = (part: string): boolean => part.startsWith('Options:');
  const others = parts.filter((part) => !isOptions(part));
  return `${[...others, ...parts.filter(isOptions)].join('\n\n')}\n`;
}

/** Returns the two flags of a pair as one text, such as `--wait, --no-wait`. */
function bothWays(option: Option, { options }: Commander): string {
  const negated = options.find(
    ({ long, negate }) => negate && long === option.long?.replace('--', '--no-'),
  );
  return negated === undefined ? option.flags : `${option.flags}, ${negated.flags}`;
}

const globalsToo = 'Global options such as --json and --yes work here too: svcpay --help';

const wrapped = (text: string, width: number): string => new Help().boxWrap(text, width);

/**
 * Wraps only the description of an example. The command of an example stays on one line, because
 * people copy the command.
 */
function examplesText(examples: Command['examples'], width: number): string {
  if (examples.length === 0) return '';
  const lines = examples.flatMap(([line, purpose]) => [
    `  ${line}`,
    ...wrapped(purpose, width - 6)
      .split('\n')
      .map((each) => `      ${each}`),
  ]);
  return `\nExamples:\n${lines.join('\n')}`;
}

type Token = ReturnType<typeof parseWords>['tokens'][number];

export function readCommandLine(argv: readonly string[], tree: Branch = commands): CommandLine {
  // Only the code of a command knows which of its options take a value, and that code is not loaded
  // yet.
  const { values, tokens } = parseWords(argv, globalOptions);
  const leading = leadingWords(tokens);
  const path = branchesNamed(
    leading.map(({ value }) => value),
    tree,
  );
  const names = leading.slice(0, path.length).map(({ index }) => index);
  const has = (...options: readonly string[]): boolean =>
    options.some((option) => values[option] === true);
  return {
    argv,
    tree,
    path,
    words: argv.filter((_, index) => !names.includes(index)),
    nextWord: leading[path.length]?.value,
    word(option) {
      const value = values[option];
      return typeof value === 'string' ? value : undefined;
    },
    has,
    asksForHelp: has('h', 'help', 'v', 'V', 'version'),
    movesMoney: path.at(-1)?.money === true,
    readsStdin: tokens.some((token) => token.kind === 'positional' && token.value === '-'),
  };
}

const globalFlags = Object.entries(globalOptions).flatMap((entry) => flagsOf(...entry));

/**
 * Returns the words before `--` and before the first option of a command. The first option of a
 * command ends the command's name, so `send --via lightning` names `send`.
 */
function leadingWords(tokens: readonly Token[]) {
  const isOther = (token: Token): boolean =>
    token.kind === 'option'
      ? !globalFlags.includes(`--${token.name}`)
      : token.kind === 'option-terminator';
  const end = tokens.findIndex(isOther);
  return tokens
    .slice(0, end < 0 ? tokens.length : end)
    .filter((token) => token.kind === 'positional');
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

/** @param commands the commands of the program, by default all commands of svcpay */
export const runCli = (
  argv: readonly string[],
  proc: Process,
  commands?: Branch,
): Promise<number> => runCommandLine(readCommandLine(argv, commands), proc);

export async function runCommandLine(line: CommandLine, given: Process): Promise<number> {
  const proc = await withLog(line, given);
  const runLine: RunLine = (argv, changes) =>
    runCli(argv, { ...proc, ...changes, env: { ...proc.env, ...changes?.env } }, line.tree);
  const { argv, readsStdin } = line;
  let globals: Globals | undefined;
  let early: OpeningTransport | undefined;
  try {
    await runProgram({
      line,
      proc,
      connect: async (connections) => {
        const { connectEarly } = await import('./context.js');
        const flags = {
          profile: line.word('profile'),
          baseUrl: line.word('base-url'),
          sandbox: line.has('sandbox'),
        };
        early = connectEarly(flags, connections, proc);
      },
      // svcpay loads the context only for a command, because help does not use the context.
      openContext: async (options, { createsProfile = false }) => {
        globals = options;
        const { openContext } = await import('./context.js');
        if (early !== undefined) await nextTurn();
        const door = line.path.map(({ name }) => name).join(' ') || 'home';
        const given = { argv, door, readsStdin, runLine, createsProfile, early };
        return openContext(proc, options, given);
      },
    });
    return 0;
  } catch (error) {
    if (error instanceof Ended) return error.exitCode;
    const failure = error instanceof Failure ? error : unexpected(error);
    return show(failure, line, proc, globals);
  } finally {
    await early?.close();
  }
}

/**
 * Makes stderr a JSON log if the command line or the environment requests a JSON log, even for an
 * invalid command line.
 */
async function withLog(line: CommandLine, proc: Process): Promise<Process> {
  if ((line.word('log-format') ?? proc.env['SVCPAY_LOG_FORMAT']) !== 'json') return proc;
  const { jsonLog } = await import('../terminal/json-log.js');
  return { ...proc, stderr: jsonLog(proc.stderr, proc.now, proc.newId()) };
}

/** Shows an uncaught error. */
export async function showUnexpected(
  error: unknown,
  line: CommandLine,
  proc: Process,
): Promise<void> {
  await show(unexpected(error), line, proc);
}

/**
 * Reports that svcpay cannot write to stdout, and resolves with the exit code. The exit code is 0
 * if the command can move money or has submitted a payment, otherwise the exit code of Failure
 * `unexpected`. With `--help`, `--quote-only` or `--dry-run`, a payment command cannot move money.
 */
export async function showLost(
  reason: string,
  isSubmitted: boolean,
  line: CommandLine,
  proc: Process,
): Promise<number> {
  const message = `svcpay could not write its output to stdout (${reason}).`;
  if (!isSubmitted && (!line.movesMoney || line.asksForHelp || line.has(...printingOptions)))
    return show(new Failure('unexpected', message), line, proc);
  proc.stderr.write(`Warning: ${message}\n`);
  return 0;
}

/** The options with which a payment command moves no money and only prints a result. */
const printingOptions = ['quote-only', 'dry-run'];

async function show(
  failure: Failure,
  line: CommandLine,
  proc: Process,
  globals?: Globals,
): Promise<number> {
  const { showFailure } = await import('./show-failure.js');
  const isTerminated = failure.kind === 'interrupted' && proc.isTerminated?.() === true;
  const shown = isTerminated ? failure.saying(failure.why, { kind: 'terminated' }) : failure;
  showFailure(shown, line, await withLog(line, proc), globals);
  return shown.exitCode;
}

function unexpected(error: unknown): Failure {
  return new Failure('unexpected', `Something unexpected went wrong: ${messageOf(error)}`, {
    hint: 'For details, add --debug. To list unfinished payments',
    next: { do: 'run', command: 'tx pending' },
    cause: error,
  });
}
