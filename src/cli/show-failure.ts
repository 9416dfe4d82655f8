// Shows what was thrown, once, in the form that was asked for: a paragraph, or one line of JSON.
import type { Failure } from '../formats/failure.js';
import { failureJson, failureLines } from '../terminal/failure-view.js';
import { sanitize } from '../terminal/sanitize.js';
import { openTerminal } from '../terminal/terminal.js';
import type { Process } from './context.js';
import { movesMoney } from './tree.js';

export function showFailure(failure: Failure, argv: readonly string[], proc: Process): void {
  const { stderr } = proc;
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  if (wantsJson.test(words.join(' '))) {
    if (words.includes('--debug')) stderr.write(causesOf(failure));
    stderr.write(`${failureJson(failure)}\n`);
    return;
  }
  const terminal = openTerminal({ ...proc, flags: { noColor: words.includes('--no-color') } });
  const money = movesMoney(argv);
  const canvas = terminal.stderrIsTty ? terminal.stderrCanvas : undefined;
  stderr.write(`${failureLines(failure, { money, canvas }).join('\n')}\n`);
  if (words.includes('--debug')) stderr.write(causesOf(failure));
}

/** The command line itself may be what is wrong, so it is not parsed for this. */
const wantsJson = /(^| )(--json|(-o ?|--output[= ])jsonl?)( |$)/;

function causesOf(failure: Failure): string {
  const stacks: string[] = [];
  for (let error: unknown = failure; error instanceof Error; error = error.cause) {
    stacks.push(sanitizeLines(error.stack ?? error.message));
  }
  return `${stacks.join('\ncaused by ')}\n`;
}

const sanitizeLines = (text: string): string => text.split('\n').map(sanitize).join('\n');
