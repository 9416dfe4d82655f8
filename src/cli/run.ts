// Runs one command line from start to exit code; shows errors once, in the requested form.
import type { OpeningTransport } from '../api/network/exchange.js';
import { Failure } from '../formats/failure.js';
import { messageOf } from '../formats/unknown.js';
import type { Process, RunLine } from './context.js';
import { Ended } from './exit-with.js';
import type { Globals } from './globals.js';
import { runProgram } from './program.js';
import { tree } from './table.js';
import { movesMoney } from './tree.js';

export async function runCli(argv: readonly string[], given: Process): Promise<number> {
  const proc = await withLog(argv, given);
  const runLine: RunLine = (line, changes) =>
    runCli(line, { ...proc, ...changes, env: { ...proc.env, ...changes?.env } });
  let globals: Globals | undefined;
  let early: OpeningTransport | undefined;
  try {
    await runProgram({
      tree,
      version: proc.version,
      argv,
      page: proc.page,
      stdin: proc.stdin,
      explain: (text) => void proc.stderr.write(`${text}\n`),
      connect: async (connections) => {
        early = (await import('./early-connection.js')).connectEarly(argv, connections, proc);
      },
      // Loaded here because help does not need it.
      openContext: async (options, { createsProfile = false }) => {
        globals = options;
        const { openContext } = await import('./context.js');
        // Gives the event loop a turn for the TLS handshake.
        if (early !== undefined) await new Promise((turn) => setImmediate(turn));
        return openContext(proc, options, { argv, runLine, createsProfile, early });
      },
    });
    return 0;
  } catch (error) {
    if (error instanceof Ended) return error.exitCode;
    return show(error instanceof Failure ? error : unexpected(error), argv, proc, globals);
  } finally {
    await early?.close();
  }
}

/** Makes stderr a JSON log if the command line or environment asks for it, even if the command line is invalid. */
async function withLog(argv: readonly string[], proc: Process): Promise<Process> {
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  const flag = words.findLastIndex((word) => /^--log-format(=|$)/.test(word));
  const [, asked = words[flag + 1]] = words[flag]?.split('=') ?? [
    undefined,
    proc.env['SVCPAY_LOG_FORMAT'],
  ];
  if (asked !== 'json') return proc;
  const { jsonLog } = await import('../terminal/json-log.js');
  return { ...proc, stderr: jsonLog(proc.stderr, proc.now, proc.newId()) };
}

/** Shows an uncaught error. */
export async function showUnexpected(
  error: unknown,
  argv: readonly string[],
  proc: Process,
): Promise<void> {
  await show(unexpected(error), argv, proc);
}

/**
 * Reports that stdout cannot be written; resolves with the exit code. A payment keeps its result,
 * any other command fails.
 */
export async function showLost(
  reason: string,
  isSubmitted: boolean,
  argv: readonly string[],
  proc: Process,
): Promise<number> {
  const message = `stdout cannot be written (${reason}): its output is lost.`;
  if (!isSubmitted && (!movesMoney(argv) || argv.some((word) => showsOnly.has(word))))
    return show(new Failure('unexpected', message), argv, proc);
  proc.stderr.write(`Warning: ${message}\n`);
  return 0;
}

/** With one of these, a command that moves money only prints. */
const showsOnly: ReadonlySet<string> = new Set(['-h', '--help', '--quote-only', '--dry-run']);

async function show(
  failure: Failure,
  argv: readonly string[],
  proc: Process,
  globals?: Globals,
): Promise<number> {
  const { showFailure } = await import('./show-failure.js');
  showFailure(failure, argv, await withLog(argv, proc), globals);
  return failure.exitCode;
}

function unexpected(error: unknown): Failure {
  return new Failure('unexpected', `Something unexpected went wrong: ${messageOf(error)}`, {
    hint: '--debug shows where; svcpay tx pending lists unfinished payments.',
    cause: error,
  });
}
