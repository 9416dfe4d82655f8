// The output of a batch: the progress, the result for people and programs, and the result file.
import Big from 'big.js';
import { appendFile, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { decimalsOf } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { codeOf, messageOf } from '../../formats/text.js';
import { attemptRef, decisive } from '../../store/journal/payment.js';
import type { KeptRate } from '../../store/journal/records.js';
import {
  batchFields,
  batchRowList,
  batchStatusList,
  batchView,
  dryRunLines,
  progressLine,
  remarkText,
  resultFields,
  rowLine,
  shownFailures,
  type BatchLine,
  type BatchPlan,
  type BatchSummary,
} from '../../terminal/cards/batch-view.js';
import { csvCell } from '../../terminal/rows/list.js';
import { unpaidOutcomes, type Row } from '../../wallet/batch/row.js';
import { isProblem, readRows, type BatchRow } from '../../wallet/batch/file.js';
import { countsOf, runAgain } from '../../wallet/batch/run.js';
import type { Context } from '../context.js';
import type { View } from '../define.js';
import { resultColumns } from './batch-check.js';

/** A step of a batch while its rows are paid. */
export interface BatchStep {
  /** The row that has ended, or undefined in the first step. */
  readonly line?: BatchLine;
  /** The number of all rows. */
  readonly rows: number;
}

/** The end of a batch, or of its dry run. */
export interface BatchEnd {
  readonly summary: BatchSummary;
  /** The rows that have ended, in the order of the file. */
  readonly rows: readonly BatchLine[];
  readonly failure?: Failure | undefined;
  /** The plan of a dry run, without its rows. */
  readonly plan?: BatchPlan;
}

export type BatchSteps = AsyncGenerator<BatchStep, BatchEnd>;

/** A batch whose rows are paid while its reader takes the steps. */
export interface BatchRun {
  readonly steps: AsyncIterable<BatchStep>;
  /** Returns the end of the batch after its last step. */
  readonly end: () => BatchEnd;
}

/** Lets one reader take the steps, and another one the end. */
export function batchRun(batch: BatchSteps): BatchRun {
  let end: BatchEnd | undefined;
  return {
    steps: (async function* () {
      end = yield* batch;
    })(),
    end() {
      if (end === undefined) throw new Error('The batch has not ended.');
      return end;
    },
  };
}

/** The first rows that failed. */
const failedFirst = (rows: readonly BatchLine[]): readonly BatchLine[] =>
  rows.filter(({ error }) => error !== null).slice(0, shownFailures);

export const batchRunView: View<BatchRun> = {
  fields: batchFields,
  async dataOf({ steps, end }) {
    for await (const step of steps) void step;
    const { summary, rows } = end();
    const failures = failedFirst(rows);
    return failures.length === 0 ? summary : { ...summary, failures };
  },
  async print({ steps, end }, _parts, context) {
    await drawSteps(steps, context);
    const { summary, rows, plan } = end();
    const { out } = context;
    const { list } = summary;
    if (list === undefined) {
      if (['csv', 'tsv'].includes(out.format) && !out.quiet) return out.list(rows, batchStatusList);
      if (out.format === 'jsonl') return;
    }
    if (list === undefined || out.format === 'json')
      return out.record(summary, batchView(summary, failedFirst(rows)));
    await out.list(list, batchRowList);
    if (!out.forPeople) return warnOf(summary, context);
    if (plan !== undefined) out.screen((canvas) => ['', ...dryRunLines(summary, plan, canvas)]);
  },
};

/**
 * The time in ms between two reports of finished rows, because a report of each row would delay the
 * requests of a fast batch.
 */
const shownEveryMs = 100;

/** Draws the progress on the live line, or prints a line of the log for each row. */
async function drawSteps(
  steps: BatchRun['steps'],
  { out, live, terminal, every, signal: stop }: Context,
): Promise<void> {
  const { stderr, stderrCanvas, canAnimate } = terminal;
  const ended: BatchLine[] = [];
  let [shown, rows] = [0, 0];
  const show = (): void => {
    if (shown === ended.length) return;
    stderr.cork();
    for (const line of ended.slice(shown)) {
      shown += 1;
      if (line.before || canAnimate) continue;
      const { ref: reference, txnId } = line;
      out.say(rowLine(line, shown, rows), { reference, ...(txnId !== null && { txnId }) });
    }
    stderr.uncork();
    live.progress(shown, rows);
    live.update();
  };
  const progress = (elapsedMs: number): string => {
    const { failed: unpaid, unknown, paidBefore: skipped } = countsOf(ended);
    const [done, failed] = [ended.length, unpaid + unknown];
    const counts = { done, rows, failed, elapsedMs, skipped, stopping: stop.aborted };
    return progressLine(counts, stderrCanvas);
  };
  const stopShowing = every(shownEveryMs, show);
  try {
    for await (const step of steps) {
      ({ rows } = step);
      if (step.line !== undefined) {
        out.change(step.line);
        ended.push(step.line);
      } else if (canAnimate) {
        live.start(progress);
        stop.addEventListener('abort', () => live.update(), { once: true });
      }
    }
  } finally {
    stopShowing();
    show();
    live.stop();
  }
}

export const warnOf = ({ remarks }: BatchSummary, { out }: Context): void => {
  for (const each of remarks) out.warn(`${remarkText(each)}.`);
};

/** @param next the command to run next for the row */
export function lineOf(row: Row, now: number, next: string | null = null): BatchLine {
  const { cost, failure, settledAt, state, payment } = row;
  const total = unpaidOutcomes.has(state) ? undefined : row.total;
  const attempt = payment && decisive(payment).number;
  return {
    line: row.line,
    ref: row.ref,
    payee: row.name,
    bank: row.institutionName ?? row.institution,
    to: row.to,
    amount: row.written,
    from: row.from,
    method: row.method,
    cost: cost?.total.value ?? null,
    fees: cost?.fees.value ?? null,
    outcome: state,
    before: row.before ?? row.standing === 'settled',
    txnId: row.txnId ?? null,
    txnState: row.txnState ?? null,
    paid: total?.value ?? null,
    paidCcy: total?.ccy ?? null,
    error: failure?.kind ?? null,
    message:
      failure?.message ??
      (attempt === undefined || attempt === 1
        ? null
        : 'A further attempt, whose reference at the service is ' + attemptRef(row.ref, attempt)),
    next,
    at: new Date(now).toISOString(),
    settled: settledAt === undefined ? null : new Date(settledAt).toISOString(),
  };
}

/** A row that has ended, with the cells of its line in the batch file. */
export interface Ended {
  readonly line: BatchLine;
  readonly cells: BatchRow['cells'];
}

/**
 * Opens the result file, and returns a function that writes the ended rows. They replace earlier
 * lines with their references, except lines that already record a paid row. Throws Failure `usage`
 * if the file is not a batch result or cannot be written.
 * @param columns the columns of the batch file
 */
export async function openResult(
  path: string,
  columns: readonly string[],
  context: Context,
): Promise<(ended: readonly Ended[]) => Promise<void>> {
  const lines = new Map<string, BatchRow['cells']>();
  const names = new Set([...resultFields, ...columns]);
  try {
    // Creates the file, so that a folder without write access stops the batch before any payment.
    await appendFile(path, '', { mode: 0o600 });
    const bytes = await readFile(path);
    for (const row of bytes.length > 0 ? readRows(bytes, resultColumns) : []) {
      if (isProblem(row)) throw new Error(`line ${row.line}: ${row.message}`);
      const { cells } = row;
      if (cells['outcome'] === undefined) throw new Error('the file is not a batch result');
      lines.set(cells['ref'] ?? '', cells);
      for (const name of Object.keys(cells)) if (!resultColumns.ofResult.has(name)) names.add(name);
    }
  } catch (cause) {
    throw new Failure('usage', `the results cannot be written to ${path}: ${messageOf(cause)}.`, {
      money: 'Nothing was sent',
      hint: 'Name another file for the results.',
      cause,
    });
  }
  const fields = [...names];
  return async (ended) => {
    const rates = await keptRates(ended, context);
    for (const { line, cells } of ended) {
      const isKept = line.outcome === 'paid' && lines.get(line.ref)?.['outcome'] === 'paid';
      if (!isKept)
        lines.set(line.ref, { ...cells, ...cellsOf({ ...line, ...worthOf(line, rates) }) });
    }
    const rows = [...lines.values()].map((cells) =>
      fields.map((name) => csvCell(cells[name.toLowerCase()] ?? '', context.globals.rawCells)),
    );
    await replace(path, stringify([fields, ...rows])).catch((cause: unknown) => {
      throw new Failure(
        'unexpected',
        `The results cannot be written to ${path} (${codeOf(cause)}). The journal contains all ` +
          'payments.',
        { ...runAgain, cause },
      );
    });
  };
}

type Rates = ReadonlyMap<string, KeptRate>;

/** Reads the rates in the profile's fiat currency at the settlement of the paid rows. */
async function keptRates(
  ended: readonly Ended[],
  { account, rates, ratesKept, settings }: Context,
): Promise<Rates | undefined> {
  const ids = ended.flatMap(({ line }) => (line.outcome === 'paid' ? (line.txnId ?? []) : []));
  if (settings.profile.fiat === undefined || ids.length === 0) return undefined;
  const read = async (): Promise<Rates> => {
    await ratesKept();
    return (await rates()).of((await account()).scope, ids);
  };
  return read().catch(() => undefined);
}

/** Returns the value of a debit in the profile's fiat currency, if its rate is known. */
function worthOf({ paid, paidCcy, txnId }: BatchLine, kept: Rates | undefined) {
  const { fiat = '', rates } = kept?.get(txnId ?? '') ?? {};
  const rate = rates?.[paidCcy ?? ''];
  if (rate === undefined || paid === null) return undefined;
  return { fiatRate: new Big(rate), fiatValue: paid.times(rate).round(decimalsOf(fiat)), fiat };
}

/** The values of a line as cells, under the names that `readRows` gives columns. */
const cellsOf = (values: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    resultFields.flatMap((name) => {
      const value = values[name] ?? null;
      if (value === null) return [];
      return [[name.toLowerCase(), value instanceof Big ? value.toFixed() : String(value)]];
    }),
  );

/** Replaces a file atomically and durably. */
async function replace(path: string, text: string): Promise<void> {
  const place = await realpath(path);
  const unfinished = `${place}.${process.pid}`;
  try {
    await writeFile(unfinished, text, { flush: true, mode: (await stat(place)).mode });
    await rename(unfinished, place);
  } finally {
    await rm(unfinished, { force: true });
  }
}
