// One command line from start to exit code: what is thrown is shown once, here, in the form that was asked for.
import { Failure } from '../formats/failure.js';
import type { Process, RunLine } from './context.js';
import { Ended } from './exit-with.js';
import { runProgram } from './program.js';
import { tree } from './tree.js';

/** Runs a command line and resolves with its exit code. */
export async function runCli(argv: readonly string[], proc: Process): Promise<number> {
  const runLine: RunLine = (line, env) => runCli(line, { ...proc, env: { ...proc.env, ...env } });
  try {
    await runProgram({
      tree,
      version: proc.version,
      argv,
      atTerminal: proc.stdout.isTTY === true && proc.stdin.isTTY,
      columns: proc.stdout.columns,
      print: (text) => void proc.stdout.write(text),
      explain: (text) => void proc.stderr.write(`${text}\n`),
      // Help needs none of it, and is there to be quick.
      openContext: async (globals, { createsProfile }) =>
        (await import('./context.js')).openContext(proc, globals, { argv, runLine, createsProfile }),
    });
    return 0;
  } catch (error) {
    if (error instanceof Ended) return error.exitCode;
    const failure = error instanceof Failure ? error : unexpected(error);
    const { showFailure } = await import('./show-failure.js');
    showFailure(failure, argv, proc);
    return failure.exitCode;
  }
}

function unexpected(error: unknown): Failure {
  const reason = error instanceof Error ? error.message : String(error);
  return new Failure('unexpected', `Something unexpected went wrong: ${reason}`, {
    hint: 'Add --debug to see where, and svcpay tx pending to see what is open.',
    cause: error,
  });
}
