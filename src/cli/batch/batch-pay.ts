// Pays the rows of a batch: options, progress, result file and outcome.
import type { Money } from '../../formats/amount.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import {
  progressLine,
  rowLine,
  shownFailures,
  type BatchLine,
  type BatchSummary,
} from '../../terminal/cards/batch-view.js';
import { shellArgument } from '../../terminal/next-step.js';
import type { BatchCheck } from '../../wallet/batch/check.js';
import { sharedService } from '../../wallet/batch/shared-service.js';
import type { PlannedRow } from '../../wallet/batch/plan.js';
import { Ceiling } from '../../wallet/batch/cost.js';
import { runBatch, type RowOutcome } from '../../wallet/batch/run.js';
import {
  doneRows,
  emptyTally,
  failureOf,
  faultFailure,
  hasMoved,
  tallied,
  type Tally,
} from '../../wallet/batch/tally.js';
import type { PaymentDeps } from '../../wallet/payment/contract.js';
import { quote } from '../../wallet/payment/payment.js';
import type { Context } from '../context.js';
import { openResult, type ResultFile } from './batch-result.js';
import type { Drain } from './drain.js';
import { paymentDeps } from '../payment/payment-flow.js';
import { termsOf, paymentOptions } from '../payment/payment-options.js';
import { choice, currency, duration, file, flag, text, whole, type ValuesOf } from '../values.js';

/** The dependencies of all rows, with one client. */
export async function openPayments(
  { rows, settled }: BatchCheck,
  concurrency: number,
  context: Context,
): Promise<PaymentDeps> {
  const payment = await paymentDeps(context, {
    approve: () => Promise.resolve(false),
    on: () => undefined,
  });
  const service = sharedService(payment.service, concurrency, context.now);
  if (rows > settled) await ifAvailable(service.wallets());
  return { ...payment, service };
}

/** The quoted total of a row; undefined if it is paid or in flight. The quote is paid later. */
export async function quoteRow(
  row: PlannedRow,
  flags: BatchFlags,
  payment: PaymentDeps,
): Promise<Money | undefined> {
  let total: Money | undefined;
  const terms = termsOf(flags, row.order.body.sourceReq.ccy);
  const request = { order: row.order, ref: row.ref, terms, consent: 'none' as const };
  await quote(request, flags, {
    ...payment,
    approve: () => Promise.resolve(false),
    on: (event) => {
      if (event.type === 'quoted') total = event.approval.quote.total;
    },
  });
  return total;
}

/**
 * Resolves with the summary, the first failed rows, and the failure that ends the batch, if any.
 *
 * @param before the summary of the checked file, with nothing paid yet
 */
export async function payBatch(
  rows: AsyncIterable<PlannedRow>,
  { rows: count }: BatchCheck,
  before: BatchSummary,
  flags: BatchFlags,
  drain: Drain,
  payment: PaymentDeps,
  context: Context,
) {
  const { live, out } = context;
  const path = flags.result ?? (before.file === '-' ? null : `${before.file}.result.csv`);
  const file = path === null ? undefined : await openResult(path, context.globals.rawCells);
  const record = recorder(count, file, drain, context);
  const options = {
    ...flags,
    stopOnError: flags.onError === 'stop',
    terms: (ccy: string) => termsOf(flags, ccy),
    ceiling: before.cost === null ? undefined : new Ceiling(before.cost),
  };
  try {
    record.begin();
    drain.begin();
    const { complete, fault } = await runBatch(rows, options, {
      payment,
      stop: record.stop,
      on: record.add,
      onSubmit: context.onSubmit,
      warn: (failure) => out.warn(`${failure.message} The payment continues.`),
    }).then(
      (complete) => ({ complete, fault: undefined }),
      (fault: unknown) => ({ complete: false, fault }),
    );
    live.stop();
    await file?.close();
    const { tally, failures } = record;
    if (fault !== undefined && !hasMoved(tally)) throw fault;
    const spent = [...tally.spent].map(([ccy, amount]) => ({ ccy, amount }));
    const notBegun = count - doneRows(tally);
    const summary = {
      ...before,
      ...tally.fates,
      paidBefore: tally.before,
      spent,
      notBegun,
      result: path,
    };
    const failure =
      record.lost ??
      faultFailure(fault, tally, count) ??
      failureOf(tally, count, complete, drain.stop.aborted);
    return { summary, failures, failure: failure && withRetry(failure, tally, before.file, flags) };
  } finally {
    live.stop();
    await file?.close();
  }
}

/** Rows whose payment failed are retried only with --retry. */
function withRetry(
  failure: Failure,
  { kinds }: Tally,
  file: string,
  { retry }: BatchFlags,
): Failure {
  if (retry || !kinds.has('payment-failed') || failure.kind === 'pending') return failure;
  const again = file === '-' ? 'the same command' : `svcpay batch ${shellArgument(file)}`;
  return new Failure(failure.kind, failure.message, {
    hint: `To retry the failed rows: ${again} --retry`,
    cause: failure,
  });
}

function recorder(rows: number, file: ResultFile | undefined, drain: Drain, context: Context) {
  const { out, live, terminal, now } = context;
  const halt = new AbortController();
  const failures: BatchLine[] = [];
  let tally = emptyTally;
  let lost: Failure | undefined;
  const progress = (elapsedMs: number): string => {
    const { fates, before } = tally;
    const failed = fates.failed + fates.unknown;
    const stopping = drain.stop.aborted;
    return progressLine(
      { done: doneRows(tally), rows, failed, elapsedMs, skipped: before, stopping },
      terminal.stderrCanvas,
    );
  };
  const lose = (error: unknown): void => {
    if (!(error instanceof Failure)) throw error;
    lost = error;
    halt.abort();
  };
  return {
    get tally() {
      return tally;
    },
    failures,
    /** The error that stopped writing the result file. */
    get lost() {
      return lost;
    },
    /** Aborted to start no further row. */
    stop: AbortSignal.any([drain.stop, halt.signal]),
    begin(): void {
      if (!terminal.canAnimate) return;
      live.start(progress);
      drain.stop.addEventListener('abort', () => live.update(), { once: true });
    },
    add(outcome: RowOutcome): void {
      tally = tallied(tally, outcome);
      const line = lineOf(outcome, now());
      if (outcome.failure !== undefined && failures.length < shownFailures) failures.push(line);
      // Not awaited, because the journal has the row.
      file?.write(line).catch(lose);
      out.change(line);
      live.progress(doneRows(tally), rows);
      if (terminal.canAnimate) live.update();
      else if (!outcome.before)
        out.say(rowLine(line, doneRows(tally), rows), {
          reference: line.ref,
          ...(line.txnId !== null && { txnId: line.txnId }),
        });
    },
  };
}

function lineOf(
  { row, fate, txnId, txnState, total, failure }: RowOutcome,
  now: number,
): BatchLine {
  return {
    line: row.line,
    ref: row.ref,
    to: row.to,
    amount: row.amount,
    outcome: fate,
    txnId,
    txnState,
    paid: fate === 'failed' ? null : (total?.value ?? null),
    paidCcy: fate === 'failed' ? null : (total?.ccy ?? null),
    error: failure?.kind ?? null,
    message: failure?.message ?? null,
    at: new Date(now).toISOString(),
  };
}

export const batchOptions = {
  dryRun: flag().describe('check every row, show the totals, send nothing'),
  concurrency: whole(1, 64).otherwise(4).describe('pay this many rows at a time (default 4)'),
  onError: choice(['continue', 'stop'])
    .otherwise('continue')
    .describe('after a failed row, continue or stop (default continue)'),
  result: file()
    .optional()
    .describe('write the outcome of every row to this file (default FILE.result.csv; none for -)'),
  name: text('NAME')
    .otherwise('')
    .describe('name of the batch; the same rows under another name are paid again'),
  from: currency()
    .optional()
    .describe('wallet to pay from if the row has none (default BTC; to TRON USDT)'),
  maxFee: paymentOptions.maxFee.describe('highest fee per row, e.g. 100sat or 1%'),
  maxRateLoss: paymentOptions.maxRateLoss,
  wait: paymentOptions.wait.describe(
    'wait until every row is settled (default: only for Lightning)',
  ),
  waitTimeout: duration()
    .otherwise(120_000)
    .describe('longest wait for a row to settle (default 2m)'),
  retry: paymentOptions.retry.describe('retry rows whose payment failed'),
};

export type BatchFlags = ValuesOf<typeof batchOptions>;
