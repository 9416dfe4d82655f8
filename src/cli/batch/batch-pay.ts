// Pays the rows of a batch, shows the progress, writes the result file, and returns the outcome of
// the batch.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import { Failure, ifAvailable, isUnknown } from '../../formats/failure.js';
import {
  progressLine,
  rowLine,
  resultFields,
  type BatchLine,
  type BatchSummary,
} from '../../terminal/cards/batch-view.js';
import { attemptRef, decisive, priceReference } from '../../store/journal/payment.js';
import type { KeptRate } from '../../store/journal/records.js';
import type { QuotedCost } from '../../wallet/batch/check.js';
import { type Row, unpaidOutcomes } from '../../wallet/batch/row.js';
import {
  runBatch,
  type BatchConsent,
  doneRows,
  emptyTally,
  failureOf,
  faultFailure,
  runAgain,
  hasMoved,
  tallied,
} from '../../wallet/batch/run.js';
import { sharedService } from '../../wallet/batch/shared-service.js';
import type { PaymentDeps } from '../../wallet/payment/model.js';
import { methodOf } from '../../wallet/instruction/instruction.js';
import { quote } from '../../wallet/payment/pay.js';
import { type Context, keepMemorySmall, nestedContext } from '../context.js';
import { paymentDeps } from '../payment/payment-flow.js';
import { termsOf } from '../payment/payment-options.js';
import { type BatchSource, type BatchFlags, resultColumns } from './batch-check.js';
import { appendFile, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { codeOf, messageOf } from '../../formats/text.js';
import { csvCell } from '../../terminal/rows/list.js';
import { isProblem, readRows, type BatchRow } from '../../wallet/batch/rows.js';

/** Opens the journal and the client that the payments of the batch share. */
export async function openPayments(concurrency: number, context: Context): Promise<PaymentDeps> {
  const payment = await paymentDeps(context, () => undefined);
  return { ...payment, service: sharedService(payment.service, concurrency, context.now) };
}

/**
 * Quotes a row under a temporary reference and cancels the quote, so that the order under the row's
 * own reference can still change.
 */
export async function quoteRow(
  row: Row,
  flags: BatchFlags,
  payment: PaymentDeps,
): Promise<QuotedCost> {
  let quoted: (QuotedCost & { readonly txnId: string }) | undefined;
  const terms = termsOf(flags, row.from, methodOf(row.instruction));
  const ref = priceReference(payment.newId());
  // The quote is nobody's payment, so it does not claim the row's invoice.
  const instruction = { ...row.instruction, once: null };
  await quote({ instruction, ref, terms, consent: { by: 'nobody' } }, flags, {
    ...payment,
    on: (event) => {
      if (event.type === 'quoted') quoted = event.quote;
    },
  });
  if (quoted === undefined) throw new Failure('unexpected', 'The service returned no quote.');
  // If svcpay cannot cancel a quote, the quote expires without a payment.
  await ifAvailable(payment.service.cancelTransaction(quoted.txnId));
  return quoted;
}

/** The end of a batch. */
export interface BatchEnd {
  readonly summary: BatchSummary;
  /** The rows that have ended, in the order of the file. */
  readonly rows: readonly BatchLine[];
  readonly failure?: Failure | undefined;
}

/**
 * Pays the rows of a batch.
 * @param before the summary of the checked file before any payment
 */
export async function payBatch(
  { check: { rows, columns }, result: path, retry }: BatchSource,
  before: BatchSummary,
  consent: BatchConsent,
  flags: BatchFlags,
  drain: Drain,
  payment: PaymentDeps,
  context: Context,
): Promise<BatchEnd> {
  const { out, globals } = context;
  const write = path === null ? undefined : await openResult(path, columns, globals.rawCells);
  const options = {
    ...flags,
    stopOnError: flags.onError === 'stop',
    terms: (ccy: string, method: string | undefined) => termsOf(flags, ccy, method),
    consent,
    run: before.run,
  };
  const { stop } = drain;
  const warn = (failure: Failure): void => out.warn(`${failure.message} The payment continues.`);
  const record = recorder(rows.length, stop, context);
  drain.begin();
  const { complete, fault } = await runBatch(rows, options, { payment, stop, on: record.add, warn })
    .then(
      (complete) => ({ complete, fault: undefined }),
      (fault: unknown) => ({ complete: false, fault }),
    )
    .finally(record.end);
  const { tally } = record;
  if (fault !== undefined && !hasMoved(tally)) throw fault;
  const ended = record.ended.toSorted((a, b) => a.line.line - b.line.line);
  const lost = await resultLines(ended, context)
    .then(write)
    .then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof Failure) return error;
        throw error;
      },
    );
  const failure =
    (fault === undefined ? undefined : faultFailure(fault, tally, rows.length)) ??
    failureOf(tally, rows.length, complete, stop.aborted) ??
    lost;
  if (lost !== undefined && failure !== lost) out.warn(lost.message);
  const mayRetry = tally.kinds.has('payment-failed') && !flags.retry;
  return {
    summary: {
      ...before,
      ...tally.results,
      paidBefore: tally.before,
      spent: tally.spent.map(({ ccy, value }) => ({ ccy, amount: value })),
      notBegun: rows.length - doneRows(tally),
      result: path,
    },
    rows: ended.map(({ line }) => line),
    failure: failure && mayRetry && !isUnknown(failure) ? withRetry(failure, retry) : failure,
  };
}

/** Adds a hint about `--retry` to the failure of a batch in which payments failed. */
const withRetry = (failure: Failure, command: BatchSource['retry']): Failure =>
  failure.saying(failure.why, {
    hint: `To retry the failed rows${command ? '' : ', run the same command with --retry.'}`,
    next: command && { do: 'run', ...command },
  });

/**
 * The time in ms between two reports of finished rows, because a report of each row would delay the
 * requests of a fast batch.
 */
const shownEveryMs = 100;

/** Shows the progress until `end`, and keeps the finished rows and their counts. */
function recorder(rows: number, stop: AbortSignal, context: Context) {
  const { out, live, terminal, now } = context;
  const { stderr, stderrCanvas, canAnimate } = terminal;
  /** The finished rows that svcpay has not shown yet. */
  let waiting: (() => void)[] = [];
  const show = (): void => {
    if (waiting.length === 0) return;
    stderr.cork();
    for (const say of waiting) say();
    stderr.uncork();
    waiting = [];
    live.progress(doneRows(record.tally), rows);
    live.update();
  };
  const progress = (elapsedMs: number): string => {
    const { results, before: skipped } = record.tally;
    const failed = results.failed + results.unknown;
    const done = doneRows(record.tally);
    return progressLine(
      { done, rows, failed, elapsedMs, skipped, stopping: stop.aborted },
      stderrCanvas,
    );
  };
  const stopShowing = context.every(shownEveryMs, show);
  if (canAnimate) {
    live.start(progress);
    stop.addEventListener('abort', () => live.update(), { once: true });
  }
  const record = {
    tally: emptyTally,
    /** The lines of the rows that have ended, which need less memory than the rows. */
    ended: [] as Omit<ResultLine, 'worth'>[],
    add(row: Row): void {
      record.tally = tallied(record.tally, row);
      const line = lineOf(row, now());
      record.ended.push({ line, cells: row.cells });
      out.change(line);
      const text = rowLine(line, doneRows(record.tally), rows);
      const facts = { reference: line.ref, ...(line.txnId !== null && { txnId: line.txnId }) };
      waiting.push(() => {
        if (!canAnimate && !line.before) out.say(text, facts);
      });
    },
    end(): void {
      stopShowing();
      show();
      live.stop();
    },
  };
  return record;
}

/** The lines of the result file, with the values of the debits in the profile's fiat currency. */
async function resultLines(
  ended: readonly Omit<ResultLine, 'worth'>[],
  { account, rates, ratesKept, settings }: Context,
): Promise<ResultLine[]> {
  const ids = ended.flatMap(({ line }) => (line.outcome === 'paid' ? (line.txnId ?? []) : []));
  const read = async () => {
    await ratesKept();
    return (await rates()).of((await account()).scope, ids);
  };
  const hasWorth = settings.profile.fiat !== undefined && ids.length > 0;
  const kept = hasWorth ? await read().catch(() => undefined) : undefined;
  return ended.map((each) => ({ ...each, worth: worthOf(each.line, kept) }));
}

function worthOf(
  { outcome, paid, paidCcy, txnId }: BatchLine,
  kept: ReadonlyMap<string, KeptRate> | undefined,
): SettledWorth | undefined {
  const { fiat = '', rates } = kept?.get(txnId ?? '') ?? {};
  const rate = rates?.[paidCcy ?? ''];
  if (rate === undefined || paid === null || outcome !== 'paid') return undefined;
  return { fiatRate: new Big(rate), fiatValue: paid.times(rate).round(decimalsOf(fiat)), fiat };
}

const graceMs = 10_000;

export interface Drain {
  /** The signal after which no payment begins. */
  readonly stop: AbortSignal;
  /** Called before the first payment of the batch. */
  begin(): void;
}

/**
 * Runs a batch. After Ctrl-C, svcpay begins no payment, and gives the payments in flight a grace
 * period before it aborts the signal of the batch.
 */
export async function draining<T>(
  context: Context,
  work: (drain: Drain, context: Context) => Promise<T>,
): Promise<T> {
  await keepMemorySmall(context);
  const { signal: stop, sleep } = context;
  const cut = new AbortController();
  const ended = new AbortController();
  let isPaying = false;
  const interrupt = (): void => {
    if (!isPaying) cut.abort();
    else
      sleep(graceMs, ended.signal).then(
        () => cut.abort(),
        () => undefined,
      );
  };
  if (stop.aborted) interrupt();
  else stop.addEventListener('abort', interrupt, { once: true });
  const nested = nestedContext(context, { signal: cut.signal });
  context.onClose(nested.close);
  try {
    return await work({ stop, begin: () => void (isPaying = true) }, nested);
  } finally {
    stop.removeEventListener('abort', interrupt);
    ended.abort();
  }
}

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

/** The fiat value of a debit at the settlement. */
interface SettledWorth {
  readonly fiatRate: Big;
  readonly fiatValue: Big;
  readonly fiat: string;
}

/** A line of the result file, with the cells of the batch file. */
interface ResultLine {
  readonly cells: BatchRow['cells'];
  readonly line: BatchLine;
  readonly worth: SettledWorth | undefined;
}

/**
 * Opens the result file, and returns a function that writes its lines. The lines replace earlier
 * lines with their references, except lines that already record a paid row. Throws Failure `usage`
 * if the file is not a batch result or cannot be written.
 * @param columns the columns of the batch file
 */
async function openResult(
  path: string,
  columns: readonly string[],
  rawCells: boolean,
): Promise<(lines: readonly ResultLine[]) => Promise<void>> {
  const earlier = new Map<string, BatchRow['cells']>();
  const names = new Set([...resultFields, ...columns]);
  try {
    // Creates the file, so that a folder without write access stops the batch before any payment.
    await appendFile(path, '', { mode: 0o600 });
    const bytes = await readFile(path);
    for (const row of bytes.length > 0 ? readRows(bytes, resultColumns) : []) {
      if (isProblem(row)) throw new Error(`line ${row.line}: ${row.message}`);
      const { cells } = row;
      if (cells['outcome'] === undefined) throw new Error('the file is not a batch result');
      earlier.set(cells['ref'] ?? '', cells);
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
  return async (lines) => {
    for (const { line, cells, worth } of lines) {
      const isKept = line.outcome === 'paid' && earlier.get(line.ref)?.['outcome'] === 'paid';
      if (!isKept) earlier.set(line.ref, { ...cells, ...cellsOf({ ...line, ...worth }) });
    }
    const rows = [...earlier.values()].map((cells) =>
      fields.map((name) => csvCell(cells[name.toLowerCase()] ?? '', rawCells)),
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
