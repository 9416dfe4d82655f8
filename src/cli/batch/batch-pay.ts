// Pays the rows of a batch, shows the progress, writes the result file, and returns the outcome of
// the batch.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import { Failure, ifAvailable, isUnknown } from '../../formats/failure.js';
import {
  progressLine,
  rowLine,
  shownFailures,
  resultFields,
  type BatchLine,
  type BatchSummary,
} from '../../terminal/cards/batch-view.js';
import { priceReference } from '../../store/journal/payment.js';
import type { KeptRate } from '../../store/journal/records.js';
import type { QuotedCost } from '../../wallet/batch/check.js';
import { type Row, unpaidOutcomes, furtherAttempt } from '../../wallet/batch/row.js';
import {
  runBatch,
  type BatchConsent,
  doneRows,
  emptyTally,
  failureOf,
  faultFailure,
  hasMoved,
  tallied,
  type BatchTally,
} from '../../wallet/batch/run.js';
import { sharedService } from '../../wallet/batch/shared-service.js';
import type { PaymentDeps } from '../../wallet/payment/model.js';
import { methodOf } from '../../wallet/instruction/instruction.js';
import { quote } from '../../wallet/payment/pay.js';
import { type Context, nestedContext } from '../context.js';
import { paymentDeps } from '../payment/payment-flow.js';
import { termsOf } from '../payment/payment-options.js';
import { type BatchSource, type BatchFlags, resultColumns } from './batch-check.js';
import type { Process } from '../process.js';
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
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
      if (event.type === 'quoted') quoted = event.approval.quote;
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
  /** The first rows that failed. */
  readonly failures: readonly BatchLine[];
  readonly failure?: Failure | undefined;
}

/**
 * Pays the rows of a batch.
 * @param before the summary of the checked file before any payment
 */
export async function payBatch(
  { check: { rows, columns }, result: path, again }: BatchSource,
  before: BatchSummary,
  consent: BatchConsent,
  flags: BatchFlags,
  drain: Drain,
  payment: PaymentDeps,
  context: Context,
): Promise<BatchEnd> {
  const { out } = context;
  const write =
    path === null ? undefined : await openResult(path, columns, context.globals.rawCells);
  const record = recorder(rows.length, drain, context);
  const options = {
    ...flags,
    stopOnError: flags.onError === 'stop',
    terms: (ccy: string, method: string | undefined) => termsOf(flags, ccy, method),
    consent,
    run: before.run,
  };
  try {
    record.begin();
    drain.begin();
    const { complete, fault } = await runBatch(rows, options, {
      payment,
      stop: drain.stop,
      on: record.add,
      warn: (failure) => out.warn(`${failure.message} The payment continues.`),
    }).then(
      (complete) => ({ complete, fault: undefined }),
      (fault: unknown) => ({ complete: false, fault }),
    );
    record.end();
    const { tally, failures } = record;
    if (fault !== undefined && !hasMoved(tally)) throw fault;
    const ended = record.ended.toSorted((a, b) => a.line.line - b.line.line);
    const lost = await resultLines(ended, context)
      .then(write)
      .then(() => undefined, lostResult);
    const summary = {
      ...before,
      ...tally.results,
      paidBefore: tally.before,
      spent: tally.spent.map(({ ccy, value }) => ({ ccy, amount: value })),
      notBegun: rows.length - doneRows(tally),
      result: path,
    };
    const failure =
      (fault === undefined ? undefined : faultFailure(fault, tally, rows.length)) ??
      failureOf(tally, rows.length, complete, drain.stop.aborted) ??
      lost;
    if (lost !== undefined && failure !== lost) out.warn(lost.message);
    return {
      summary,
      rows: ended.map(({ line }) => line),
      failures,
      failure: failure === undefined || flags.retry ? failure : withRetry(failure, tally, again),
    };
  } finally {
    record.end();
  }
}

function lostResult(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

/** Adds a hint about `--retry` to the failure of a batch in which payments failed. */
function withRetry(failure: Failure, { kinds }: BatchTally, again: BatchSource['again']): Failure {
  if (!kinds.has('payment-failed') || isUnknown(failure)) return failure;
  const command = again?.({ '--retry': true });
  return failure.saying(failure.why, {
    hint:
      command === undefined
        ? 'To retry the failed rows, run the same command with --retry.'
        : 'To retry the failed rows',
    next: command && { do: 'run', ...command },
  });
}

/**
 * The time in ms between two reports of finished rows, because a report of each row would delay the
 * requests of a fast batch.
 */
const shownEveryMs = 100;

function recorder(rows: number, drain: Drain, context: Context) {
  const { out, live, terminal, now } = context;
  const ended: Omit<ResultLine, 'worth'>[] = [];
  const failures: BatchLine[] = [];
  let tally = emptyTally;
  /** The finished rows that svcpay has not shown yet. */
  let waiting: (() => void)[] = [];
  let stopShowing = (): void => undefined;
  const progress = (elapsedMs: number): string => {
    const { results, before } = tally;
    const failed = results.failed + results.unknown;
    const stopping = drain.stop.aborted;
    return progressLine(
      { done: doneRows(tally), rows, failed, elapsedMs, skipped: before, stopping },
      terminal.stderrCanvas,
    );
  };
  const show = (): void => {
    if (waiting.length === 0) return;
    terminal.stderr.cork();
    for (const say of waiting) say();
    terminal.stderr.uncork();
    waiting = [];
    live.progress(doneRows(tally), rows);
    live.update();
  };
  return {
    get tally() {
      return tally;
    },
    failures,
    /** The lines of the rows that have ended, which need less memory than the rows. */
    ended,
    begin(): void {
      stopShowing = context.every(shownEveryMs, show);
      if (!terminal.canAnimate) return;
      live.start(progress);
      drain.stop.addEventListener('abort', () => live.update(), { once: true });
    },
    end(): void {
      stopShowing();
      show();
      live.stop();
    },
    add(row: Row): void {
      tally = tallied(tally, row);
      const line = lineOf(row, now());
      if (row.failure !== undefined && failures.length < shownFailures) failures.push(line);
      ended.push({ line, cells: row.cells });
      out.change(line);
      const text = rowLine(line, doneRows(tally), rows);
      const facts = { reference: line.ref, ...(line.txnId !== null && { txnId: line.txnId }) };
      waiting.push(() => {
        if (!terminal.canAnimate && !line.before) out.say(text, facts);
      });
    },
  };
}

const noWorth: SettledWorth = { fiatRate: null, fiatValue: null, fiat: null };

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
  return ended.map((each) => ({
    ...each,
    worth: worthOf(each.line, kept?.get(each.line.txnId ?? '')),
  }));
}

function worthOf({ outcome, paid, paidCcy }: BatchLine, kept: KeptRate | undefined): SettledWorth {
  const rate = kept?.rates[paidCcy ?? ''];
  if (kept === undefined || rate === undefined || paid === null || outcome !== 'paid')
    return noWorth;
  const fiatValue = paid.times(rate).round(decimalsOf(kept.fiat));
  return { fiatRate: new Big(rate), fiatValue, fiat: kept.fiat };
}

const graceMs = 10_000;

export interface Drain {
  readonly stop: AbortSignal;
  /**
   * The signal that Ctrl-C aborts: immediately if no payment is in flight, otherwise after the
   * grace period.
   */
  readonly cut: AbortSignal;
  /** Called before the first payment of the batch. */
  begin(): void;
  /** Called when the batch has ended. */
  end(): void;
}

function openDrain({ signal, sleep }: Pick<Process, 'signal' | 'sleep'>): Drain {
  const cut = new AbortController();
  const over = new AbortController();
  let underWay = false;
  const interrupt = (): void => {
    if (!underWay) cut.abort();
    else
      sleep(graceMs, over.signal).then(
        () => cut.abort(),
        () => undefined,
      );
  };
  if (signal.aborted) interrupt();
  else signal.addEventListener('abort', interrupt, { once: true });
  return {
    stop: signal,
    cut: cut.signal,
    begin: () => void (underWay = true),
    end: () => {
      signal.removeEventListener('abort', interrupt);
      over.abort();
    },
  };
}

/** Runs a batch, whose signal is the signal that Ctrl-C aborts. */
export async function draining<T>(
  context: Context,
  work: (drain: Drain, context: Context) => Promise<T>,
): Promise<T> {
  const drain = openDrain(context);
  const nested = nestedContext(context, { signal: drain.cut });
  context.onClose(nested.close);
  try {
    return await work(drain, nested);
  } finally {
    drain.end();
  }
}

/** @param next the command to run next for the row */
export function lineOf(row: Row, now: number, next: string | null = null): BatchLine {
  const { cost, failure, institution, institutionName, settledAt, state } = row;
  const total = unpaidOutcomes.has(state) ? undefined : row.total;
  const attempt = furtherAttempt(row);
  return {
    line: row.line,
    ref: row.ref,
    payee: row.name,
    bank: institutionName ?? institution,
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
      (attempt === undefined
        ? null
        : `A further attempt, whose reference at the service is ${attempt}`),
    next,
    at: new Date(now).toISOString(),
    settled: settledAt === undefined ? null : new Date(settledAt).toISOString(),
  };
}

/** The fiat value of a debit at the settlement. */
export interface SettledWorth {
  readonly fiatRate: Big | null;
  readonly fiatValue: Big | null;
  readonly fiat: string | null;
}

/** A line of the result file, with the cells of the batch file. */
export interface ResultLine {
  readonly cells: BatchRow['cells'];
  readonly line: BatchLine;
  readonly worth: SettledWorth;
}

/**
 * Opens the result file, and returns a function that writes its lines. The lines replace earlier
 * lines with their references, except lines that already record a paid row. Throws Failure `usage`
 * if the file is not a batch result or cannot be written.
 * @param columns the columns of the batch file
 */
export async function openResult(
  path: string,
  columns: readonly string[],
  rawCells: boolean,
): Promise<(lines: readonly ResultLine[]) => Promise<void>> {
  const earlier = new Map<string, BatchRow['cells']>();
  const names = new Set([...resultFields, ...columns]);
  try {
    // Creates the file, so that a folder without write access stops the batch before any payment.
    await (await open(path, 'a', 0o600)).close();
    const bytes = await readFile(path);
    if (bytes.length > 0)
      for (const row of readRows(bytes, resultColumns)) {
        if (isProblem(row)) throw new Error(`line ${row.line}: ${row.message}`);
        if (row.cells['outcome'] === undefined) throw new Error('the file is not a batch result');
        earlier.set(row.cells['ref'] ?? '', row.cells);
        for (const name of Object.keys(row.cells)) if (!ofResult.has(name)) names.add(name);
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
      if (!isKept) earlier.set(line.ref, { ...cells, ...texts({ ...line, ...worth }) });
    }
    const rows = [...earlier.values()].map((cells) =>
      fields.map((name) => csvCell(cells[name.toLowerCase()] ?? '', rawCells)),
    );
    await replace(path, stringify([fields, ...rows])).catch((cause: unknown) => {
      throw new Failure(
        'unexpected',
        `The results cannot be written to ${path} (${codeOf(cause)}). The journal contains all ` +
          'payments.',
        {
          hint: 'Run the same command again. It continues the batch and pays no row twice.',
          cause,
        },
      );
    });
  };
}

const ofResult: ReadonlySet<string> = new Set(resultFields.map((name) => name.toLowerCase()));

/** The values of a line as cells, under the names that `readRows` gives columns. */
const texts = (values: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
      if (!ofResult.has(name.toLowerCase()) || value === null) return [];
      return [[name.toLowerCase(), value instanceof Big ? value.toFixed() : String(value)]];
    }),
  );

/** Replaces a file atomically and durably. */
async function replace(path: string, text: string): Promise<void> {
  const place = await realpath(path);
  const unfinished = `${place}.${process.pid}`;
  const file = await open(unfinished, 'w', (await stat(place)).mode);
  try {
    await file.writeFile(text);
    await file.sync();
    await rename(unfinished, place);
  } finally {
    await file.close();
    await rm(unfinished, { force: true });
  }
}
