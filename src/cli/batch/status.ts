// Lists the outcome of each row of a batch, and the command for each row that needs work.
import Big from 'big.js';
import { decisive } from '../../store/journal/payment.js';
import {
  commandFor,
  commandLine,
  type Command,
  type RunGlobals,
} from '../../terminal/next-step.js';
import {
  batchStatusList,
  statusHeading,
  type StatusLine,
} from '../../terminal/views/batch-status-view.js';
import { rowState, rowStates, type RowState } from '../../wallet/batch/status.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { list } from '../show.js';
import { file } from '../values.js';
import { batchCommand, batchOptions, type RerunFlags } from './batch-pay.js';
import { knownRows, type KnownRow } from './batch-rows.js';

const { name, from, ignoreColumns } = batchOptions;

export const batchStatus = defineCommand({
  arguments: { file: file().describe('the batch file, or the name of a run') },
  options: { name, from, ignoreColumns },
  examples: [
    ['svcpay batch status payroll.csv', 'shows what is left to do, with the next commands'],
    ['svcpay batch status 2026-11 -o csv', 'prints every row of a run by its name'],
  ],
  async run({ file, ...flags }, context: Context) {
    const rows = await knownRows(file, flags, context);
    return {
      file,
      lines: rows.map((row) => lineOf(file, row, flags, context.globals)).toSorted(byUrgency),
    };
  },
  view: { ...list(batchStatusList, ({ lines }: Status) => lines), print: printStatus },
});

interface Status {
  readonly file: string;
  readonly lines: readonly StatusLine[];
}

/** Prints every row for machines. For people, prints a summary and the unpaid rows. */
async function printStatus(
  { file, lines }: Status,
  _parts: object,
  { out }: Context,
): Promise<void> {
  if (!out.forPeople) return out.list(lines, batchStatusList);
  out.screen((canvas) => statusHeading(file, lines, canvas));
  const left = lines.filter(({ state }) => state !== 'paid');
  if (left.length > 0) await out.list(left, batchStatusList);
}

const rank = (state: RowState): number => rowStates.indexOf(state);
const byUrgency = (a: StatusLine, b: StatusLine): number =>
  rank(a.state) - rank(b.state) || a.line - b.line;

function lineOf(
  file: string,
  { ref, paid, payment, txn }: KnownRow,
  flags: RerunFlags,
  run: RunGlobals,
): StatusLine {
  const state = rowState(payment, txn);
  const txnId = payment === undefined ? null : decisive(payment).txnId;
  return {
    line: paid.line,
    payee: paid.name ?? paid.account ?? '',
    amount: new Big(paid.amount),
    ccy: paid.ccy,
    state,
    ref,
    txnId,
    next: nextOf(state, txnId ?? ref, run, (more) =>
      commandLine(batchCommand(file, flags, more), run),
    ),
  };
}

/** Returns the next command for a row, or null if the row needs no command. */
function nextOf(
  state: RowState,
  id: string,
  run: RunGlobals,
  batch: (more: Command['options']) => string,
): string | null {
  switch (state) {
    case 'paid':
      return null;
    case 'in-flight':
      return commandFor({ do: 'watch', id }, run);
    case 'unknown':
      return commandFor({ do: 'resume', id }, run);
    case 'failed':
      return batch({ '--retry': true });
    case 'not-started':
      return batch({});
    default:
      return commandFor({ do: 'show', id }, run);
  }
}
