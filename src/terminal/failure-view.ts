// A failure as text: the state of the money first, then the reason, then the next command; and as
// one JSON line for scripts.
import type { Failure, FailureKind } from '../formats/failure.js';
import { adviceOf } from './next-step.js';
import { toJson } from './rows/json.js';
import { sanitize } from './sanitize.js';
import type { Canvas } from './terminal.js';
import { widthOf, wrap } from './text.js';

/** The certain state of the money by kind; nothing is certain for other kinds. */
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
  /** Whether the command moves money: only then is the state of the money shown. */
  readonly money: boolean;
  /** Wraps to the window; without it (in a pipe) the paragraph stays on one line. */
  readonly canvas?: Canvas | undefined;
}

export function failureLines(failure: Failure, { money, canvas }: FailureViewOptions): string[] {
  const paragraph = sanitize(money ? withOutcome(failure) : failure.message);
  const lines = canvas === undefined ? [paragraph] : marked(paragraph, failure.kind, canvas);
  // A command or an id is never wrapped, so that it can be copied.
  if (failure.requestId !== undefined) lines.push(`  Request ${sanitize(failure.requestId)}`);
  const advice = adviceOf(failure);
  return advice === undefined ? lines : [...lines, ...adviceLines(sanitize(advice), canvas)];
}

/** On separate lines. A command that does not fit gets a line too, which the terminal breaks. */
function adviceLines(advice: string, canvas: Canvas | undefined): string[] {
  if (canvas === undefined || widthOf(advice) + 2 <= canvas.columns) return [`  ${advice}`];
  const parts = advice.split(/ (?=svcpay )/);
  return parts
    .flatMap((part) => (part.startsWith('svcpay ') ? [part] : wrap(part, canvas.columns - 2)))
    .map((line) => `  ${line}`);
}

/**
 * `✗` and the paragraph, its lines under each other; what is still on its way is no failure yet and
 * has a yellow `●`.
 */
function marked(paragraph: string, kind: FailureKind, { columns, style }: Canvas): string[] {
  const [first = '', ...rest] = wrap(paragraph, columns - mark.length);
  return [
    `${kind === 'pending' ? style.yellow('●') : style.red('✗')} ${first}`,
    ...rest.map((line) => `  ${line}`),
  ];
}

const mark = '✗ ';

/** Messages that begin or end with the state of the money. */
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

/** Whether the service gave no answer, or an error. */
export const unreachedText = ({ status }: Failure): string =>
  status === undefined ? 'service not reached' : `service error (${status})`;

/** The last line of stderr under `--json`, and a part of it under `--log-format json`. */
export const failureJson = (failure: Failure): string => toJson({ error: failureFields(failure) });

export function failureFields(failure: Failure) {
  const { kind, message, status, code, txnId, requestId, exitCode } = failure;
  return { kind, message, status, code, txnId, requestId, hint: adviceOf(failure), exitCode };
}
