// Shows a failure as text: first the state of the money, then the reason, then the next command.
// For scripts, a failure is one line of JSON.
import { isUnknown, type Failure, type FailureKind } from '../formats/failure.js';
import { adviceOf, commandFor, type RunGlobals } from './next-step.js';
import { toJson } from './rows/json.js';
import { sanitize } from './sanitize.js';
import type { Canvas } from './terminal.js';
import { widthOf, wrap } from './layout.js';

/**
 * For each kind of failure, a statement about the money that svcpay prints before the failure's
 * message, such as `Not sent`. If the message itself states what happened to the money, svcpay
 * prints only the message.
 */
const outcomes: Partial<Record<FailureKind, string>> = {
  usage: 'Not sent',
  'already-paid': 'Not sent',
  refused: 'Nothing moved',
  authentication: 'Nothing moved',
  'not-found': 'Nothing moved',
  limit: 'Not sent',
  pending: 'Outcome unknown',
  'outcome-unknown': 'Outcome unknown',
  declined: 'Not sent',
  temporary: 'Nothing moved',
  interrupted: 'Nothing moved',
  terminated: 'Nothing moved',
};

export interface FailureViewOptions {
  /** Whether the command moves money, so that a failure mentions the state of the money. */
  readonly money: boolean;
  /**
   * The window to which svcpay wraps the text of the failure. In a pipe, which has no window, each
   * paragraph stays on one line.
   */
  readonly canvas?: Canvas | undefined;
  /** The options that the printed command repeats. */
  readonly run: RunGlobals;
}

export function failureLines(
  failure: Failure,
  { money, canvas, run }: FailureViewOptions,
): string[] {
  const paragraph = sanitize(money ? withOutcome(failure) : failure.message);
  const lines = canvas === undefined ? [paragraph] : marked(paragraph, failure.kind, canvas);
  // svcpay does not wrap the request id, so that people can copy the id.
  if (failure.requestId !== undefined) lines.push(`  Request ${sanitize(failure.requestId)}`);
  const advice = [adviceOf(failure, run), money ? explanationOf(failure, run) : undefined];
  return [
    ...lines,
    ...advice.flatMap((text) => (text === undefined ? [] : adviceLines(sanitize(text), canvas))),
  ];
}

/** The command that tells the story of a payment that was submitted and not paid. */
function explanationOf({ kind, txnId, ref }: Failure, run: RunGlobals): string | undefined {
  if (ref === undefined || (kind !== 'payment-failed' && kind !== 'outcome-unknown'))
    return undefined;
  return `What happened: ${commandFor({ do: 'explain', id: txnId ?? ref }, run)}`;
}

/**
 * Draws the advice. If the advice does not fit on one line, each command has its own line. The
 * terminal wraps a command that does not fit into the window.
 */
function adviceLines(advice: string, canvas: Canvas | undefined): string[] {
  if (canvas === undefined || widthOf(advice) + 2 <= canvas.columns) return [`  ${advice}`];
  const parts = advice.split(/ (?=svcpay )/);
  return parts
    .flatMap((part) => (part.startsWith('svcpay ') ? [part] : wrap(part, canvas.columns - 2)))
    .map((line) => `  ${line}`);
}

/**
 * Draws a paragraph with the mark `✗`, with a yellow `●` for a payment under way, or with a dim `–`
 * for a command that the person ended, because neither has failed.
 */
function signOf(kind: FailureKind, style: Canvas['style']): string {
  if (isUnknown({ kind })) return style.yellow('●');
  return kind === 'declined' || kind === 'interrupted' ? style.dim('–') : style.red('✗');
}

function marked(paragraph: string, kind: FailureKind, { columns, style }: Canvas): string[] {
  const [first = '', ...rest] = wrap(paragraph, columns - mark.length);
  return [`${signOf(kind, style)} ${first}`, ...rest.map((line) => `  ${line}`)];
}

const mark = '✗ ';

/** Whether a message already states what happened to the money. */
const namesOutcome = (message: string): boolean =>
  /^(?:Not|Nothing|Paid|Sent|Outcome)\b[^.]*:/.test(message) ||
  /^(?:Not|Sent|Nothing was)\b[^:.]*[.,]|^You (?:left|said)\b/.test(message) ||
  message.endsWith(': nothing moved.');

const firstWords =
  /^(The|This|That|There|A|An|No|It|You|Your|Missing|Too|Interrupted|Use|Give|Name)\b/;

function withOutcome({ kind, message }: Failure): string {
  const outcome = outcomes[kind];
  if (outcome === undefined || namesOutcome(message)) return message;
  return `${outcome}: ${message.replace(firstWords, (word) => word.toLowerCase())}`;
}

/** Describes a service that gave no response or an error response. */
export const unreachedText = ({ status }: Failure): string =>
  status === undefined ? 'service not reached' : `service error (${status})`;

/** Converts a failure to JSON, which is the last line of stderr with `--json`. */
export const failureJson = (failure: Failure, run: RunGlobals): string =>
  toJson({ error: failureFields(failure, run) });

export function failureFields(failure: Failure, run: RunGlobals) {
  const { kind, message, status, code, ref, txnId, txnState, requestId, exitCode } = failure;
  const hint = adviceOf(failure, run);
  return { kind, message, status, code, ref, txnId, txnState, requestId, hint, exitCode };
}
