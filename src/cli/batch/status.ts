// Compares the rows of a batch, from a file or a run by its name, with the journal and the service,
// and lists the command for each row that needs work.
import { existsSync } from 'node:fs';
import type { ListedTransaction } from '../../api/types.js';
import { formatAmount } from '../../formats/amount.js';
import { Failure, ifAvailable, invalid } from '../../formats/failure.js';
import { counted, entryOf, grouped } from '../../formats/text.js';
import { attemptNamed, mayHavePaid } from '../../store/journal/payment.js';
import {
  batchStatusList,
  outcomeWords,
  statusHeading,
  type BatchLine,
} from '../../terminal/cards/batch-view.js';
import { commandFor, commandLine, type RunGlobals } from '../../terminal/next-step.js';
import { inJournal, onEach } from '../../wallet/batch/check.js';
import {
  latestRun,
  readRunName,
  runsKept,
  withResult,
  rowOfPayment,
  unpaidOutcomes,
  type Row,
  type RowState,
} from '../../wallet/batch/row.js';
import { isProblem, readRows, type BatchRow } from '../../wallet/batch/file.js';
import { movedAmounts, createdSince } from '../../wallet/history/moved-amounts.js';
import type { Context } from '../context.js';
import { defineCommand, list } from '../define.js';
import { readGivenFile } from '../process.js';
import { file, type ValuesOf } from '../values.js';
import {
  paymentsIn,
  planner,
  batchCommand,
  rowOptions,
  batchColumns,
  resultColumns,
} from './batch-check.js';
import { lineOf } from './batch-output.js';

export const batchStatus = defineCommand({
  arguments: { file: file().describe('the batch file, its result file, or the name of a run') },
  options: rowOptions,
  examples: [
    ['svcpay batch status payroll.csv', 'shows what is left to do, with the next commands'],
    ['svcpay batch status 2026-11 -o csv', 'prints every row of a run by its name'],
  ],
  async run({ file, ...flags }, context: Context): Promise<Status> {
    const rows = await knownRows(file, flags, context);
    const seen = new Set<string>();
    const differing: BatchLine[] = [];
    const lineFor = (row: Row, message: string | undefined): BatchLine => {
      const line = lineOf(row, context.now(), nextOf(row, file, flags, context.globals));
      const whole = message === undefined ? line : { ...line, message };
      if (message !== undefined || !['paid', 'in-flight'].includes(line.outcome))
        differing.push(whole);
      return whole;
    };
    const lines = rows.map((row) =>
      lineFor(
        row,
        seen.size === seen.add(row.ref).size
          ? 'The file contains this row twice.'
          : contradiction(row),
      ),
    );
    const missing = (await missingRows(rows, context)).map((row) =>
      lineFor(row, 'The run paid this row, but the file does not contain it.'),
    );
    return { file, lines: [...lines, ...missing].toSorted(byUrgency), differing };
  },
  view: { ...list(batchStatusList, ({ lines }: Status) => lines), print: printStatus },
  failure: ({ differing }) => differs(differing),
});

interface Status {
  readonly file: string;
  readonly lines: readonly BatchLine[];
  /** The rows that are neither paid nor in flight, or that the file contradicts. */
  readonly differing: readonly BatchLine[];
}

/** Prints every row for machines. For people, prints a summary and the unpaid rows. */
async function printStatus(
  { file, lines, differing }: Status,
  _parts: object,
  { out }: Context,
): Promise<void> {
  if (!out.forPeople) return out.list(lines, batchStatusList);
  out.screen((canvas) => statusHeading(file, lines, canvas));
  const left = lines.filter((line) => line.outcome !== 'paid' || differing.includes(line));
  if (left.length > 0) await out.list(left, batchStatusList);
}

/** Sorts by the outcomes in the order of their words, the most urgent outcome first. */
const urgency = Object.keys(outcomeWords);
const byUrgency = (a: BatchLine, b: BatchLine): number =>
  urgency.indexOf(a.outcome) - urgency.indexOf(b.outcome) || a.line - b.line;

/** The rows that the run of the file paid, and that the file lacks. */
async function missingRows(rows: readonly Row[], context: Context): Promise<Row[]> {
  const { scope, journal } = await context.account();
  const last = latestRun(rows);
  const payments = last === undefined ? [] : await (await journal()).inRun(scope, last);
  const own = new Set(rows.map(({ ref }) => ref));
  return payments.flatMap((payment) => {
    const row = mayHavePaid(payment) && !own.has(payment.ref) ? rowOfPayment(payment) : undefined;
    return row === undefined ? [] : withResult(row, payment);
  });
}

/** How the file contradicts the journal and the service, as a sentence. */
function contradiction({ cells, state, total }: Row): string | undefined {
  const { outcome = '', paid, paidccy } = cells;
  if (state !== 'paid') return undefined;
  if (unpaidOutcomes.has(outcome)) return `The file says ${outcome}, but it was paid.`;
  if (outcome !== 'paid' || paid === undefined || total === undefined) return undefined;
  return paidccy === total.ccy && total.value.eq(paid)
    ? undefined
    : `The file says ${paid} ${paidccy ?? ''} was paid, but it was ${formatAmount(total)}.`;
}

function differs(lines: readonly BatchLine[]): Failure | undefined {
  if (lines.length === 0) return undefined;
  const states = [...grouped(lines, ({ outcome }) => outcome)].map(([state, group]) => {
    const words = { ...outcomeWords, paid: 'paid, but not as in the file' };
    return `${group.length} ${entryOf(words, state) ?? ''}`;
  });
  const message = `${counted(lines.length, 'row')} of the batch differ: ${states.join(', ')}.`;
  return new Failure('books-differ', message);
}

type RowFlags = ValuesOf<typeof rowOptions>;

/** What to do with a payment that is neither paid nor to be paid again. */
const steps: Readonly<Partial<Record<RowState, 'watch' | 'resume' | 'resolve' | 'show'>>> = {
  'in-flight': 'watch',
  unknown: 'resume',
  error: 'resolve',
  returned: 'show',
  underpaid: 'show',
};

/** Returns the next command for a row, or null if the row needs no command. */
function nextOf(row: Row, file: string, flags: RowFlags, run: RunGlobals): string | null {
  const { state, txnId, ref } = row;
  if (state === 'paid') return null;
  const step = steps[state];
  return step === undefined
    ? commandLine(batchCommand(file, { ...flags, retry: state === 'failed' }), run)
    : commandFor({ do: step, id: txnId ?? ref }, run);
}

/**
 * Reads the rows of a batch with their outcomes. Throws Failure `usage` for a file with an invalid
 * row, and `not-found` for an unknown run.
 */
export async function knownRows(named: string, flags: RowFlags, context: Context): Promise<Row[]> {
  const rows = existsSync(named)
    ? await rowsOfFile(named, flags, context)
    : await rowsOfRun(named, context);
  const known = rows.map((row) => withResult(row, row.payment));
  const listed = await listedOf(known, context);
  return known.map((row) => {
    const txn = listed.get(nameOf(row));
    if (txn === undefined) return row;
    return { ...withResult(row, row.payment, txn), total: row.total ?? movedAmounts(txn)?.left };
  });
}

/** The id of the row's transaction, otherwise the reference by which the service lists it. */
const nameOf = ({ txnId, ref }: Row): string => txnId ?? ref;

async function rowsOfFile(file: string, flags: RowFlags, context: Context): Promise<Row[]> {
  const bytes = await readGivenFile(file);
  const source = readRows(bytes, batchColumns(flags.ignoreColumns));
  const { rows, problems } = await onEach(source, planner(flags, context));
  const [problem] = problems;
  if (problem !== undefined) throw invalid(`${file}, line ${problem.line}: ${problem.message}`);
  const results = new Map<number, BatchRow['cells']>();
  for (const row of readRows(bytes, resultColumns))
    if (!isProblem(row)) results.set(row.line, row.cells);
  const { found } = await inJournal(rows, { name: flags.name, paymentsUnder: paymentsIn(context) });
  return found.map((row) => ({ ...row, cells: results.get(row.line) ?? row.cells }));
}

async function rowsOfRun(named: string, context: Context): Promise<Row[]> {
  const { scope, journal } = await context.account();
  const opened = await journal();
  const runs = await opened.runs(scope, runsKept);
  const found = runs.find(({ run }) => run === named || readRunName(run).name === named);
  if (found === undefined) {
    const names = runs.slice(0, 5).map(({ run }) => `"${readRunName(run).name}"`);
    throw new Failure('not-found', `There is no file or batch run named "${named}".`, {
      hint: names.length === 0 ? undefined : `Latest runs: ${names.join(', ')}.`,
    });
  }
  return (await opened.inRun(scope, found.run)).flatMap((payment) => rowOfPayment(payment) ?? []);
}

/**
 * Finds the transactions of the rows in the service's list, by the id that the journal has or by
 * the reference. Returns no transactions if svcpay cannot read the service's list.
 */
async function listedOf(
  rows: readonly Row[],
  { account, live, out, now }: Context,
): Promise<ReadonlyMap<string, ListedTransaction>> {
  const wanted = new Set(rows.map(nameOf));
  const times = rows.map(
    ({ payment, cells }) =>
      payment?.openedAt ?? (Date.parse(cells['at'] ?? '') || now() - recentMs),
  );
  const since = Math.min(...times) - marginMs;
  const found = new Map<string, ListedTransaction>();
  if (wanted.size === 0) return found;
  const { client } = await account();
  const read = async (): Promise<void> => {
    const pages = client.eachTransactionPage({
      time: 'other',
      startTime: new Date(since).toISOString(),
    });
    for await (const page of createdSince(pages, since)) {
      for (const txn of page)
        for (const key of [txn.txnId, attemptNamed(txn.extRefId ?? '')[0]])
          if (wanted.has(key) && !found.has(key)) found.set(key, txn);
      if (found.size === wanted.size) return;
    }
  };
  await ifAvailable(
    live.during(
      () => `Reading the service's list: ${found.size} of ${wanted.size} payments found`,
      read,
    ),
    (why) => out.say(`Outcomes are as of the last run. ${why}`),
  );
  return found;
}

/** The largest accepted difference between the clocks of this machine and the service, in ms. */
const marginMs = 3_600_000;

/** How far back svcpay looks for the payment of a row that the journal lacks, in ms. */
const recentMs = 35 * 86_400_000;
