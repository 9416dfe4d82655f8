// Pays the rows of a CSV file. A later run of the same file resumes the batch, and asks about rows
// that were paid long ago.
import { existsSync } from 'node:fs';
import { Failure } from '../../formats/failure.js';
import type { Payment } from '../../store/journal/payment.js';
import { readRunName, runName, type Row } from '../../wallet/batch/row.js';
import { journalFirst, unfinished } from '../../wallet/payment/pay.js';
import { basename } from 'node:path';
import { dayAndMonth } from '../../formats/calendar.js';
import { counted } from '../../formats/text.js';
import type { Command } from '../../terminal/next-step.js';
import { paidAt, staleRows, type BatchCheck } from '../../wallet/batch/check.js';
import { readRows, type BatchRow, type Problem } from '../../wallet/batch/rows.js';
import { readGivenFile, readStdinBytes } from '../stdin.js';
import {
  batchColumns,
  batchCommand,
  batchOptions,
  checkRows,
  refuseProblems,
  type BatchFlags,
  type BatchSource,
  type FailureAdvice,
} from './batch-check.js';
import { batchResultView, runRows, type BatchResult } from './batch-flow.js';
import type { Context } from '../context.js';
import { back, type Back } from '../../terminal/ask/questions.js';
import { defineCommand } from '../define.js';
import { leftAtOnce } from '../exit-with.js';
import { draining } from './batch-pay.js';
import { file } from '../values.js';

export const batch = defineCommand({
  arguments: {
    file: file()
      .optional()
      .describe(
        'CSV file with a header (ref, to, amount, currency, note, from; for payouts, ' +
          'columns named like the flags of svcpay payout), or - for stdin',
      ),
  },
  options: batchOptions,
  examples: [
    ['svcpay batch payroll.csv --dry-run', 'checks every row and shows the totals'],
    ['svcpay batch payroll.csv', 'asks once, then pays; a second run pays no row twice'],
    ['svcpay batch payroll.csv --name 2026-11', 'pays the same rows as last month again'],
    [
      'make-rows | svcpay batch - --yes --result paid.csv -o jsonl',
      'reads the rows from a pipe, and prints one line of JSON per row',
    ],
  ],
  changes: true,
  run: ({ file, ...flags }, context: Context): Promise<BatchResult> =>
    draining(context, async (drain, nested) => {
      const path = file ?? (await askFile(context));
      if (path === back) throw leftAtOnce(context);
      const label = labelOf(path, flags.name);
      const isOfBatch = ({ batch: mark }: Payment): boolean =>
        mark !== undefined && readRunName(mark.run).name === label;
      return journalFirst(
        flags.dryRun ? undefined : unfinished(isOfBatch),
        context.journal,
        async () => runRows(await openFile(path, flags, nested), flags, drain, nested),
      );
    }),
  view: batchResultView,
  failure: ({ failure }) => failure,
});

const askFile = ({ ask }: Context): Promise<string | Back> =>
  ask.steps.parsed({
    message: 'CSV file with the rows',
    flag: 'FILE',
    parse: (given) => {
      if (existsSync(given)) return given;
      throw new Failure(
        'usage',
        given === ''
          ? 'Enter the name of a CSV file.'
          : `File ${given.slice(0, 80)} does not exist.`,
      );
    },
  });

/**
 * Checks the batch file. Throws Failure `usage` or `limit` for invalid rows, and lists the problems
 * on stderr. If an earlier run paid rows long ago, svcpay asks whether to pay these rows again.
 * With `--yes` or `--dry-run`, svcpay does not ask but throws Failure `usage`.
 */
export async function openFile(
  file: string,
  flags: BatchFlags,
  context: Context,
): Promise<BatchSource> {
  const { globals, ask, now } = context;
  const needsYes = !globals.yes && !flags.dryRun;
  if (needsYes && file === '-') ask.demand(['--yes']);
  const rows = readRows(await bytesOf(file, context), batchColumns(flags.ignoreColumns));
  if (needsYes) ask.demand(['--yes']);
  const isPiped = file === '-';
  for (let { name } = flags; ;) {
    const check = await checkRows(rows, { ...flags, name }, context);
    refuseProblems(check, adviceFor(check, file, { ...flags, name }, now()), context);
    const stale = staleRows(check, now());
    const source = {
      check,
      file,
      name,
      run: check.run ?? runName(now(), labelOf(file, name)),
      result: flags.result ?? (isPiped ? null : `${file}.result.csv`),
      again: isPiped
        ? undefined
        : (more: Command['options']) => batchCommand(file, { ...flags, name }, more),
    };
    if (stale.length === 0) return source;
    const unfinished = await unfinishedRun(rows, { ...flags, name }, context);
    const next = await nameFor(stale, check, { file, flags, needsYes, name, unfinished }, context);
    if (next === undefined) return source;
    name = next;
  }
}

function adviceFor(
  { isRepeated }: BatchCheck,
  file: string,
  flags: BatchFlags,
  now: number,
): FailureAdvice {
  return isRepeated && flags.name === ''
    ? {
        hint: 'Most references were paid by an earlier run. To pay them again in a new run',
        next: { do: 'run', ...batchCommand(file, { ...flags, name: today(now) }) },
      }
    : { hint: 'Fix the file and run the same command again.' };
}

/** Returns the name of a batch in the journal. */
export const labelOf = (file: string, name: string): string =>
  name === '' ? (file === '-' ? 'stdin' : basename(file)) : name;

interface NameRequest {
  readonly file: string;
  readonly flags: BatchFlags;
  readonly needsYes: boolean;
  /** The name of the run, which is empty for a run without a name. */
  readonly name: string;
  readonly unfinished: UnfinishedRun | undefined;
}

interface UnfinishedRun {
  readonly name: string;
  readonly text: string;
}

/** The number of latest runs in which svcpay searches for an unfinished run of a file. */
const runsSearched = 12;

/** Finds the latest run with another name that paid some of the file's rows, but not all. */
async function unfinishedRun(
  rows: readonly (BatchRow | Problem)[],
  flags: BatchFlags,
  context: Context,
): Promise<UnfinishedRun | undefined> {
  const { scope, journal } = await context.account();
  const runs = await (await journal()).runs(scope, runsSearched);
  const names = new Set(runs.map(({ run }) => readRunName(run).name));
  for (const name of names) {
    if (name === flags.name) continue;
    const { count, toPay } = await checkRows(rows, { ...flags, name }, context);
    const paid = count - toPay.length;
    if (paid === count) return undefined;
    if (paid > 0) return { name, text: `${name} (${paid} of ${counted(count, 'row')} paid)` };
  }
  return undefined;
}

/**
 * Asks for a new run name, under which svcpay pays the already paid rows again. Returns undefined
 * if the person decides to pay only the other rows.
 */
async function nameFor(
  stale: readonly Row[],
  { rows, toPay }: BatchCheck,
  { file, flags, needsYes, name: before, unfinished }: NameRequest,
  { ask, now }: Context,
): Promise<string | undefined> {
  const day = dayAndMonth(Math.max(...stale.map(({ payment }) => paidAt(payment))), now());
  const which =
    stale.length === rows.length
      ? 'every row was'
      : `${counted(stale.length, 'row')} without a reference ` +
        (stale.length === 1 ? 'was' : 'were');
  // The suggested name of the run is today's date, because a month may have several weekly runs.
  const suggested = today(now());
  if (!needsYes) {
    const also =
      unfinished === undefined ? '' : `, and the run ${unfinished.text} of this file is unfinished`;
    throw new Failure('usage', `${which} already paid on ${day}${also}.`, {
      money: 'Nothing was sent',
      hint:
        unfinished === undefined
          ? 'To pay these rows again, give this run a name'
          : 'To pay all rows again, give this run a new name. To finish the earlier run',
      next: { do: 'run', ...batchCommand(file, { ...flags, name: unfinished?.name ?? suggested }) },
    });
  }
  const left = toPay.length;
  const choice = await ask.steps.select<string | boolean | Back>({
    message: `On ${day}, ${which} already paid. What now?`,
    flag: '--name NAME',
    choices: [
      ...(unfinished === undefined
        ? []
        : [{ value: unfinished.name, name: `Finish the run ${unfinished.text}` }]),
      { value: true, name: 'Pay these rows again, in a new run' },
      {
        value: false,
        name:
          left === 0
            ? 'Skip these rows and pay nothing'
            : `Skip these rows and pay the other ${counted(left, 'row')}`,
      },
    ],
    default: undefined,
  });
  if (choice === false && left > 0) return undefined;
  if (choice !== back && typeof choice === 'string') return choice;
  const name =
    choice === true
      ? await ask.steps.parsed({
          message: 'Name of this run',
          flag: '--name NAME',
          default: suggested,
          parse: (text) => newName(text.trim(), before),
        })
      : back;
  if (name === back) throw new Failure('declined', '', { money: 'Nothing was sent' });
  return name;
}

const today = (now: number): string => new Date(now).toISOString().slice(0, 10);

function newName(name: string, before: string): string {
  if (name === before)
    throw new Failure('usage', `The run ${name} was already paid. Choose another name.`);
  return name;
}

async function bytesOf(file: string, context: Context): Promise<Buffer> {
  if (file === '-') return readStdinBytes(context);
  if (!existsSync(file))
    throw new Failure('usage', `the file ${file} does not exist.`, { money: 'Nothing was sent' });
  return readGivenFile(file);
}
