// Pays the rows of a batch, shows the progress, writes the result file, and returns the outcome of
// the batch.
import Big from 'big.js';
import { decimalsOf } from '../../formats/amount.js';
import { Failure, ifAvailable, isUnknown } from '../../formats/failure.js';
import { progressLine, rowLine, shownFailures } from '../../terminal/cards/batch-progress.js';
import type { BatchLine, BatchSummary } from '../../terminal/cards/batch-view.js';
import { priceReference } from '../../store/journal/payment.js';
import type { KeptRate } from '../../store/journal/records.js';
import type { QuotedCost } from '../../wallet/batch/cost.js';
import type { Row } from '../../wallet/batch/row.js';
import { runBatch, type BatchConsent } from '../../wallet/batch/run.js';
import { sharedService } from '../../wallet/batch/shared-service.js';
import {
  doneRows,
  emptyTally,
  failureOf,
  faultFailure,
  hasMoved,
  tallied,
  type BatchTally,
} from '../../wallet/batch/tally.js';
import type { PaymentDeps } from '../../wallet/payment/contract.js';
import { methodOf } from '../../wallet/instruction/keys.js';
import { quote } from '../../wallet/payment/payment.js';
import type { Context } from '../context.js';
import { paymentDeps } from '../payment/payment-flow.js';
import { termsOf } from '../payment/payment-options.js';
import type { BatchSource } from './batch-check.js';
import type { BatchFlags } from './batch-options.js';
import { openResult, type ResultLine, type SettledWorth } from './batch-result.js';
import type { Drain } from './drain.js';
import { lineOf } from './lines.js';

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
      spent: [...tally.spent].map(([ccy, amount]) => ({ ccy, amount })),
      notBegun: rows.length - doneRows(tally),
      result: path,
    };
    const failure =
      faultFailure(fault, tally, rows.length) ??
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
