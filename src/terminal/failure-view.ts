// Shows a failure as text: first the state of the money, then the reason, then the next command.
// For scripts, a failure is one line of JSON.
import { isUnknown, type Failure, type FailureKind } from '../formats/failure.js';
import { adviceOf, commandFor, type Advice, type RunGlobals } from './next-step.js';
import { toJson } from './rows/json.js';
import { sanitize } from './sanitize.js';
import type { Canvas } from './terminal.js';
import { widthOf, wrap } from './layout.js';

/**
 * For each kind of failure, what happened to the money of a failure that does not state it itself.
 */
const moneyOf: Partial<Record<FailureKind, string>> = {
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
  const paragraph = sanitize(money ? withMoney(failure) : failure.message);
  const lines = canvas === undefined ? [paragraph] : marked(paragraph, failure.kind, canvas);
  // svcpay does not wrap the request id, so that people can copy the id.
  if (failure.requestId !== undefined) lines.push(`  Request ${sanitize(failure.requestId)}`);
  const advice = money ? [failure, explanationOf(failure)] : [failure];
  return [...lines, ...advice.flatMap((each) => adviceLines(each, canvas, run))];
}

function withMoney({ kind, money, message }: Failure): string {
  const start = money === undefined ? moneyOf[kind] : undefined;
  return start === undefined ? message : `${start}. ${message}`;
}

/** The command that tells the story of a payment that was submitted and not paid. */
const explanationOf = ({ kind, txnId, ref }: Failure): Advice =>
  ref === undefined || (kind !== 'payment-failed' && kind !== 'outcome-unknown')
    ? {}
    : { hint: 'What happened', next: { do: 'explain', id: txnId ?? ref } };

/**
 * Draws the advice. If the advice does not fit on one line, each command has its own line. The
 * terminal wraps a command that does not fit into the window.
 */
function adviceLines(given: Advice, canvas: Canvas | undefined, run: RunGlobals): string[] {
  const { hint, next } = given;
  const advice = adviceOf(given, run);
  if (advice === undefined) return [];
  if (canvas === undefined || widthOf(advice) + 2 <= canvas.columns)
    return [`  ${sanitize(advice)}`];
  const text = next === undefined ? hint : hint && `${hint}:`;
  return [
    ...(text === undefined ? [] : wrap(sanitize(text), canvas.columns - 2)),
    ...(next === undefined ? [] : [sanitize(commandFor(next, run))]),
  ].map((line) => `  ${line}`);
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

/** Describes a service that gave no response or an error response. */
export const unreachedText = ({ status }: Failure): string =>
  status === undefined ? 'service not reached' : `service error (${status})`;

/** Converts a failure to JSON, which is the last line of stderr with `--json`. */
export const failureJson = (failure: Failure, run: RunGlobals): string =>
  toJson({ error: failureFields(failure, run) });

export function failureFields(failure: Failure, run: RunGlobals) {
  const { kind, message, status, code, ref, txnId, txnState, proposal, requestId } = failure;
  const hint = adviceOf(failure, run);
  return {
    kind,
    message,
    status,
    code,
    ref,
    txnId,
    txnState,
    proposal,
    requestId,
    hint,
    exitCode: failure.exitCode,
  };
}
