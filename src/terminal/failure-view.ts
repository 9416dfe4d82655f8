// A failure as text: first the state of the money, then the reason, then the next command. For
// scripts, a failure is one JSON line.
import type { Failure, FailureKind } from '../formats/failure.js';
import { adviceOf } from './next-step.js';
import { toJson } from './rows/json.js';
import { sanitize } from './sanitize.js';
import type { Canvas } from './terminal.js';
import { widthOf, wrap } from './layout.js';

/** The certain state of the money, by kind. For other kinds nothing is certain. */
const outcomes: Partial<Record<FailureKind, string>> = {
  usage: 'Not sent',
  refused: 'Nothing moved',
  authentication: 'Nothing moved',
  'not-found': 'Nothing moved',
  limit: 'Not sent',
  pending: 'Outcome unknown',
  declined: 'Not sent',
  temporary: 'Nothing moved',
  interrupted: 'Nothing moved',
};

export interface FailureViewOptions {
  /** Whether the command moves money. Only then is the state of the money shown. */
  readonly money: boolean;
  /** The window to which the text wraps. Without it (in a pipe) the paragraph stays on one line. */
  readonly canvas?: Canvas | undefined;
}

export function failureLines(failure: Failure, { money, canvas }: FailureViewOptions): string[] {
  const paragraph = sanitize(money ? withOutcome(failure) : failure.message);
  const lines = canvas === undefined ? [paragraph] : marked(paragraph, failure.kind, canvas);
  // A command or an id is never wrapped, so that people can copy it.
  if (failure.requestId !== undefined) lines.push(`  Request ${sanitize(failure.requestId)}`);
  const advice = adviceOf(failure);
  return advice === undefined ? lines : [...lines, ...adviceLines(sanitize(advice), canvas)];
}

/** The advice on separate lines. The terminal breaks a command that does not fit. */
function adviceLines(advice: string, canvas: Canvas | undefined): string[] {
  if (canvas === undefined || widthOf(advice) + 2 <= canvas.columns) return [`  ${advice}`];
  const parts = advice.split(/ (?=svcpay )/);
  return parts
    .flatMap((part) => (part.startsWith('svcpay ') ? [part] : wrap(part, canvas.columns - 2)))
    .map((line) => `  ${line}`);
}

/**
 * `✗` and the paragraph, its lines below each other. A payment that is still under way is not a
 * failure yet, and has a yellow `●`.
 */
function marked(paragraph: string, kind: FailureKind, { columns, style }: Canvas): string[] {
  const [first = '', ...rest] = wrap(paragraph, columns - mark.length);
  return [
    `${kind === 'pending' ? style.yellow('●') : style.red('✗')} ${first}`,
    ...rest.map((line) => `  ${line}`),
  ];
}

const mark = '✗ ';

/** Whether a message begins or ends with the state of the money. */
const namesOutcome = (message: string): boolean =>
  /^(?:Not|Nothing|Paid|Sent|Outcome)\b[^.]*:/.test(message) ||
  /^(?:Not|Sent)\b[^:.]*[.,]|^You (?:left|said)\b/.test(message) ||
  message.endsWith(': nothing moved.');

const firstWords = /^(The|This|That|There|A|An|No|It|You|Your|Missing|Too|Interrupted)\b/;

function withOutcome({ kind, message }: Failure): string {
  const outcome = outcomes[kind];
  if (outcome === undefined || namesOutcome(message)) return message;
  return `${outcome}: ${message.replace(firstWords, (word) => word.toLowerCase())}`;
}

/** Whether the service gave no response, or an error. */
export const unreachedText = ({ status }: Failure): string =>
  status === undefined ? 'service not reached' : `service error (${status})`;

/** The last line of stderr under `--json`, and the field `error` under `--log-format json`. */
export const failureJson = (failure: Failure): string => toJson({ error: failureFields(failure) });

export function failureFields(failure: Failure) {
  const { kind, message, status, code, txnId, requestId, exitCode } = failure;
  return { kind, message, status, code, txnId, requestId, hint: adviceOf(failure), exitCode };
}
