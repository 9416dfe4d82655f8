// Pays the rows of a CSV file. A later run of the same file resumes the batch, and asks about rows
// that were paid long ago.
import { existsSync } from 'node:fs';
import { Failure, invalid } from '../../formats/failure.js';
import type { Payment } from '../../store/journal/payment.js';
import { readRunName, runName, type Row } from '../../wallet/batch/row.js';
import { dayAndMonth } from '../../formats/calendar.js';
import { counted } from '../../formats/text.js';
import type { Command } from '../../terminal/next-step.js';
import { paidAt, staleRows, type BatchCheck } from '../../wallet/batch/check.js';
import { readRows, type BatchRow, type Problem } from '../../wallet/batch/file.js';
import { readGivenFile, readStdinBytes, leftAtOnce } from '../process.js';
import {
  batchColumns,
  batchCommand,
  batchOptions,
  checkRows,
  refuseProblems,
  type BatchFlags,
  type BatchSource,
} from './batch-check.js';
import type { Context } from '../context.js';
import { back, type Back } from '../../terminal/ask/questions.js';
import { defineCommand } from '../define.js';
import { file } from '../values.js';
import { basename } from 'node:path';

import { runDraining } from './batch-flow.js';
import { batchRun, batchRunView, type BatchRun } from './batch-output.js';

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
  async run({ file, ...flags }, context: Context): Promise<BatchRun> {
    const path = file ?? (await askFile(context));
    if (path === back) throw leftAtOnce(context);
    const isOfBatch = ({ batch: mark }: Payment): boolean =>
      mark !== undefined && readRunName(mark.run).name === labelOf(path, flags.name);
    const steps = runDraining(flags.dryRun ? undefined : isOfBatch, context, async (nested) => ({
      source: await openFile(path, flags, nested),
      flags,
    }));
    return batchRun(steps);
  },
  view: batchRunView,
  failure: ({ end }) => end().failure,
});

const askFile = ({ ask }: Context): Promise<string | Back> =>
  ask.pose({
    message: 'CSV file with the rows',
    flag: 'FILE',
    parse: (given) => {
      if (existsSync(given)) return given;
      throw invalid(
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
async function openFile(file: string, given: BatchFlags, context: Context): Promise<BatchSource> {
  const { globals, ask, now } = context;
  const isPiped = file === '-';
  const isAsked = !globals.yes && !given.dryRun;
  if (!isPiped && !existsSync(file))
    throw invalid(`the file ${file} does not exist.`, { money: 'Nothing was sent' });
  if (isAsked) ask.demand(['--yes']);
  const bytes = await (isPiped ? readStdinBytes(context) : readGivenFile(file));
  const rows = readRows(bytes, batchColumns(given.ignoreColumns));
  for (let flags = given; ;) {
    const { name, result } = flags;
    const again = (more: Partial<BatchFlags>): Command => batchCommand(file, { ...flags, ...more });
    const check = await checkRows(rows, flags, context);
    const advice =
      check.isRepeated && name === ''
        ? {
            hint: 'Most references were paid by an earlier run. To pay them again in a new run',
            next: { do: 'run' as const, ...again({ name: today(now()) }) },
          }
        : { hint: 'Fix the file and run the same command again.' };
    refuseProblems(check, advice, context);
    const stale = staleRows(check, now());
    const next =
      stale.length === 0
        ? undefined
        : await newName({ stale, check, rows, flags, isAsked, again }, context);
    if (next === undefined)
      return {
        check,
        file,
        name,
        run: check.run ?? runName(now(), labelOf(file, name)),
        result: result ?? (isPiped ? null : `${file}.result.csv`),
        retry: isPiped ? undefined : again({ retry: true }),
      };
    flags = { ...flags, name: next };
  }
}

/** Returns the name of a batch in the journal. */
const labelOf = (file: string, name: string): string =>
  name || (file === '-' ? 'stdin' : basename(file));

interface Stale {
  /** The rows that were paid long ago. */
  readonly stale: readonly Row[];
  readonly check: BatchCheck;
  readonly rows: readonly (BatchRow | Problem)[];
  readonly flags: BatchFlags;
  readonly isAsked: boolean;
  readonly again: (more: Partial<BatchFlags>) => Command;
}

/** The number of latest runs in which svcpay searches for an unfinished run of a file. */
const runsSearched = 12;

/** Finds the latest run with another name that paid some of the file's rows, but not all. */
async function unfinishedRun({ rows, flags }: Stale, context: Context) {
  const { scope, journal } = await context.account();
  const runs = await (await journal()).runs(scope, runsSearched);
  const names = new Set(runs.map(({ run }) => readRunName(run).name));
  names.delete(flags.name);
  for (const name of names) {
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
async function newName(asked: Stale, context: Context): Promise<string | undefined> {
  const { stale, check, flags, isAsked, again } = asked;
  const { ask, now } = context;
  const unfinished = await unfinishedRun(asked, context);
  const day = dayAndMonth(Math.max(...stale.map(({ payment }) => paidAt(payment))), now());
  const which =
    stale.length === check.rows.length
      ? 'every row was'
      : `${counted(stale.length, 'row')} without a reference ` +
        (stale.length === 1 ? 'was' : 'were');
  // The suggested name of the run is today's date, because a month may have several weekly runs.
  const suggested = today(now());
  if (!isAsked) {
    const also = unfinished && `, and the run ${unfinished.text} of this file is unfinished`;
    throw invalid(`${which} already paid on ${day}${also ?? ''}.`, {
      money: 'Nothing was sent',
      hint:
        unfinished === undefined
          ? 'To pay these rows again, give this run a name'
          : 'To pay all rows again, give this run a new name. To finish the earlier run',
      next: { do: 'run', ...again({ name: unfinished?.name ?? suggested }) },
    });
  }
  const left = check.toPay.length;
  const others = left === 0 ? 'pay nothing' : `pay the other ${counted(left, 'row')}`;
  const nameAgain = (): Promise<string | Back> =>
    ask.pose({
      message: 'Name of this run',
      flag: '--name NAME',
      default: suggested,
      parse: (text) => {
        if (text.trim() !== flags.name) return text.trim();
        throw invalid(`The run ${flags.name} was already paid. Choose another name.`);
      },
    });
  const choice = await ask.pose<() => string | Back | undefined | Promise<string | Back>>({
    message: `On ${day}, ${which} already paid. What now?`,
    flag: '--name NAME',
    choices: [
      ...(unfinished
        ? [{ value: () => unfinished.name, name: `Finish the run ${unfinished.text}` }]
        : []),
      { value: nameAgain, name: 'Pay these rows again, in a new run' },
      { value: () => (left > 0 ? undefined : back), name: `Skip these rows and ${others}` },
    ],
    default: undefined,
  });
  const name = choice === back ? back : await choice();
  if (name === back) throw new Failure('declined', '', { money: 'Nothing was sent' });
  return name;
}

const today = (now: number): string => new Date(now).toISOString().slice(0, 10);
