// Shows an error as a paragraph or as one line of JSON.
import type { Failure } from '../formats/failure.js';
import { failureFields, failureJson, failureLines } from '../terminal/next-step.js';
import { asciiGlyphs, sanitize } from '../terminal/text.js';
import { isLog, openTerminal } from '../terminal/terminal.js';
import type { CommandLine } from './tree.js';
import type { Process } from './process.js';
import type { Globals } from './values.js';

/**
 * Shows a failure on stderr.
 * @param globals undefined if svcpay could not parse the command line
 */
export function showFailure(
  failure: Failure,
  line: CommandLine,
  proc: Process,
  globals?: Globals,
): void {
  const { stderr } = proc;
  const { json, output, debug, color } = globals ?? {
    json: line.has('json'),
    output: line.word('output'),
    debug: line.has('debug'),
    color: !line.has('no-color'),
  };
  if (isLog(stderr)) {
    const { txnId, requestId } = failure;
    if (debug) stderr.entry('debug', causesOf(failure).trimEnd());
    const facts = {
      ...(txnId !== undefined && { txnId }),
      ...(requestId !== undefined && { requestId }),
    };
    return stderr.entry('error', failure.message, {
      ...facts,
      error: failureFields(failure, globals ?? {}),
    });
  }
  if (json || /^jsonl?$/.test(output ?? '')) {
    if (debug) stderr.write(causesOf(failure));
    stderr.write(`${failureJson(failure, globals ?? {})}\n`);
    return;
  }
  const terminal = openTerminal({ ...proc, flags: { noColor: !color } });
  const canvas = terminal.stderrIsTty ? terminal.stderrCanvas : undefined;
  const lines = failureLines(failure, {
    money: line.movesMoney,
    canvas,
    run: globals ?? {},
  });
  stderr.write(`${(terminal.unicode ? lines : lines.map(asciiGlyphs)).join('\n')}\n`);
  if (debug) stderr.write(causesOf(failure));
}

function causesOf(failure: Failure): string {
  const stacks: string[] = [];
  for (let error: unknown = failure; error instanceof Error; error = error.cause) {
    stacks.push(sanitizeLines(error.stack ?? error.message));
  }
  return `${stacks.join('\ncaused by ')}\n`;
}

const sanitizeLines = (text: string): string => text.split('\n').map(sanitize).join('\n');
