// Pays the rows of a batch, shows the progress, writes the result file, and returns the outcome of
// the batch.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import { Failure, ifAvailable, isUnknown } from '../../formats/failure.js';
import {
  resultFields,
  type BatchLine,
  type BatchPlan,
  type BatchSummary,
} from '../../terminal/cards/batch-view.js';
import { attemptRef, decisive, priceReference } from '../../store/journal/payment.js';
import type { KeptRate } from '../../store/journal/records.js';
import type { QuotedCost } from '../../wallet/batch/check.js';
import { type Row, unpaidOutcomes } from '../../wallet/batch/row.js';
import {
  payRows,
  type BatchConsent,
  type BatchTally,
  doneRows,
  emptyTally,
  failureOf,
  stopped,
  runAgain,
  hasMoved,
  tallied,
} from '../../wallet/batch/run.js';
import { sharedService } from '../../wallet/batch/shared-service.js';
import type { PaymentDeps } from '../../wallet/payment/model.js';
import { methodOf } from '../../wallet/instruction/instruction.js';
import { quote } from '../../wallet/payment/pay.js';
import type { Context } from '../context.js';
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

/** A step of a batch while its rows are paid. */
export interface BatchStep {
  /** The row that has ended, or undefined in the first step. */
  readonly line?: BatchLine;
  readonly tally: BatchTally;
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

export interface Drain {
  /** The signal after which no payment begins. */
  readonly stop: AbortSignal;
  /** Called before the first payment of the batch. */
  begin(): void;
}

export type BatchSteps = AsyncGenerator<BatchStep, BatchEnd>;

/**
 * Pays the rows of a batch, and yields each row as it ends.
 * @param before the summary of the checked file before any payment
 */
export async function* payBatch(
  { check: { rows, columns }, result: path, retry }: BatchSource,
  before: BatchSummary,
  consent: BatchConsent,
  flags: BatchFlags,
  { stop, begin }: Drain,
  payment: PaymentDeps,
  context: Context,
): BatchSteps {
  const { out, now } = context;
  const write = path === null ? undefined : await openResult(path, columns, context);
  const options = {
    ...flags,
    stopOnError: flags.onError === 'stop',
    terms: (ccy: string, method: string | undefined) => termsOf(flags, ccy, method),
    consent,
    run: before.run,
  };
  const warn = ({ message }: Failure): void => out.warn(`${message} The payment continues.`);
  // The lines of the rows that have ended need less memory than the rows.
  const ended: Ended[] = [];
  let tally = emptyTally;
  let failure: Failure | undefined;
  begin();
  yield { tally, rows: rows.length };
  try {
    for await (const row of payRows(rows, options, { payment, stop, warn })) {
      const line = lineOf(row, now());
      ended.push({ line, cells: row.cells });
      tally = tallied(tally, row);
      yield { line, tally, rows: rows.length };
    }
  } catch (fault) {
    if (!hasMoved(tally)) throw fault;
    failure = stopped(tally, rows.length, `the batch stopped: ${messageOf(fault)}`, fault);
  }
  ended.sort((a, b) => a.line.line - b.line.line);
  failure ??= failureOf(tally, rows.length, stop.aborted);
  try {
    await write?.(ended);
  } catch (lost) {
    if (!(lost instanceof Failure)) throw lost;
    if (failure !== undefined) out.warn(lost.message);
    failure ??= lost;
  }
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
interface Ended {
  readonly line: BatchLine;
  readonly cells: BatchRow['cells'];
}

/**
 * Opens the result file, and returns a function that writes the ended rows. They replace earlier
 * lines with their references, except lines that already record a paid row. Throws Failure `usage`
 * if the file is not a batch result or cannot be written.
 * @param columns the columns of the batch file
 */
async function openResult(
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
