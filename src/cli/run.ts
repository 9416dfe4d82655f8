// One command line from start to exit code: what is thrown is shown once, here, in the form that was asked for.
import { Failure } from '../formats/failure.js';
import { failureJson, failureLines } from '../terminal/failure-view.js';
import { sanitize } from '../terminal/sanitize.js';
import { openTerminal } from '../terminal/terminal.js';
import { openContext, type Process, type RunLine } from './context.js';
import { runProgram } from './program.js';
import { chosenPath, tree } from './tree.js';

/** Runs a command line and resolves with its exit code. */
export async function runCli(argv: readonly string[], proc: Process): Promise<number> {
  const runLine: RunLine = (line, env) => runCli(line, { ...proc, env: { ...proc.env, ...env } });
  try {
    await runProgram({
      tree,
      version: proc.version,
      argv,
      atTerminal: proc.stdin.isTTY === true && proc.stdout.isTTY === true,
      columns: proc.stdout.columns,
      print: (text) => void proc.stdout.write(text),
      explain: (text) => void proc.stderr.write(`${text}\n`),
      openContext: (globals) => openContext(proc, globals, runLine),
    });
    return 0;
  } catch (error) {
    const failure = error instanceof Failure ? error : unexpected(error);
    showFailure(failure, argv, proc);
    return failure.exitCode;
  }
}

function showFailure(failure: Failure, argv: readonly string[], proc: Process): void {
  const { stderr } = proc;
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  if (wantsJson.test(words.join(' '))) {
    if (words.includes('--debug')) stderr.write(causesOf(failure));
    stderr.write(`${failureJson(failure)}\n`);
    return;
  }
  const terminal = openTerminal({ ...proc, flags: { noColor: words.includes('--no-color') } });
  const money = chosenPath(tree, argv).some((branch) => branch.money === true);
  const canvas = terminal.stderrIsTty ? terminal.stderrCanvas : undefined;
  stderr.write(`${failureLines(failure, { money, canvas }).join('\n')}\n`);
  if (words.includes('--debug')) stderr.write(causesOf(failure));
}

/** The command line itself may be what is wrong, so it is not parsed for this. */
const wantsJson = /(^| )(--json|(-o ?|--output[= ])jsonl?)( |$)/;

function unexpected(error: unknown): Failure {
  const reason = error instanceof Error ? error.message : String(error);
  return new Failure('unexpected', `Something unexpected went wrong: ${reason}`, {
    hint: 'Add --debug to see where, and svcpay tx pending to see what is open.',
    cause: error,
  });
}

function causesOf(failure: Failure): string {
  const stacks: string[] = [];
  for (let error: unknown = failure; error instanceof Error; error = error.cause) {
    stacks.push(sanitizeLines(error.stack ?? error.message));
  }
  return `${stacks.join('\ncaused by ')}\n`;
}

const sanitizeLines = (text: string): string => text.split('\n').map(sanitize).join('\n');
