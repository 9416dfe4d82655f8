// Describes a failure to an agent: with tools and inputs instead of commands and flags, and without
// advice that only a person can follow.
import { exitCodes, type Failure, type NextStep } from '../../formats/failure.js';
import { commandFor, type RunGlobals } from '../../terminal/next-step.js';
import { flagName } from '../values.js';
import type { ToolRow } from './tools.js';

interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** The form in which a tool returns a failure. */
export interface ToolError {
  readonly kind: string;
  readonly message: string;
  readonly exitCode: number;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly ref?: string | undefined;
  readonly txnId?: string | undefined;
  readonly txnState?: string | undefined;
  readonly hint?: string | undefined;
  readonly next: readonly Call[];
}

export function errorFor(
  row: ToolRow,
  failure: Failure,
  offered: readonly string[],
  run: RunGlobals,
): ToolError {
  const { missing, status, code, ref, txnId, txnState, next } = failure;
  const call = next === undefined ? undefined : callFor(next);
  const isOffered = call !== undefined && offered.includes(call.tool);
  // Nobody can be asked for an answer that the command line would ask for.
  const isMissing = missing !== undefined;
  const kind = isMissing ? 'usage' : failure.kind;
  return {
    kind,
    message: inInputs(row, isMissing ? `Not called: missing ${missing}.` : failure.message),
    exitCode: exitCodes[kind],
    status,
    code,
    ref,
    txnId,
    txnState,
    hint: hintFor(row, failure, isOffered ? call.tool : undefined, run),
    next: isOffered ? [call] : [],
  };
}

/** Replaces flags in a message with the names of the tool's inputs. */
const inInputs = ({ takes }: ToolRow, words: string): string =>
  Object.keys(takes).reduce(
    (text, name) => text.replaceAll(new RegExp(`${flagName(name)}(?![a-z-])`, 'g'), name),
    words,
  );

function hintFor(
  row: ToolRow,
  { kind, hint, next }: Failure,
  tool: string | undefined,
  run: RunGlobals,
): string | undefined {
  if (kind === 'limit') {
    const person = 'Only a person can change the limits and the highest fee.';
    return next?.do === 'run' ? `${person} A person can run: ${commandFor(next, run)}` : person;
  }
  if (next !== undefined && tool === undefined)
    return `Only a person can run: ${commandFor(next, run)}`;
  if (kind === 'temporary' || kind === 'pending')
    return row.effect === 'reads'
      ? `Call ${row.name} again.`
      : `Call ${row.name} again with the same inputs.`;
  if (hint === undefined) return undefined;
  return inInputs(row, tool === undefined ? hint : `${hint}: call ${tool}`);
}

/** Returns the tool for a next step, or undefined for a step that only a person can take. */
function callFor(step: NextStep): Call | undefined {
  switch (step.do) {
    case 'see-wallets':
      return { tool: 'wallets', arguments: {} };
    case 'see-rates':
      return { tool: 'rates', arguments: {} };
    case 'see-limits':
      return { tool: 'limits', arguments: {} };
    case 'see-payout-methods':
      return { tool: 'payout_methods', arguments: {} };
    case 'see-institutions':
      return { tool: 'institutions', arguments: { country: step.country } };
    case 'see-history':
      return { tool: 'transactions', arguments: {} };
    case 'see-open-payments':
      return { tool: 'pending', arguments: {} };
    case 'show':
      return { tool: 'transaction', arguments: { id: step.id } };
    case 'watch':
      return { tool: 'watch', arguments: { id: step.id } };
    case 'resume':
      return { tool: 'resume', arguments: { id: step.id } };
    case 'confirm':
      return { tool: 'pay', arguments: { txnId: step.id } };
    default:
      return undefined;
  }
}
