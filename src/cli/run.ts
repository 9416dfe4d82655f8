// Runs one command line from its start to its exit code, and shows an error only once, in the
// requested format.
import { nextTurn } from '../api/timers.js';
import type { OpeningTransport } from '../api/network.js';
import { Failure } from '../formats/failure.js';
import { messageOf } from '../formats/text.js';
import type { Branch } from './tree.js';
import { readCommandLine, type CommandLine, runProgram } from './program.js';
import type { RunLine } from './context.js';
import { type Process, Ended } from './process.js';
import type { Globals } from './values.js';

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
      version: proc.version,
      stdout: proc.stdout,
      stdin: proc.stdin,
      explain: (text) => void proc.stderr.write(`${text}\n`),
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
