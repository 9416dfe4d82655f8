// The paying half of a batch: progress while it runs, a line in the result file for every row, and how it went.
import type { Money } from '../../formats/amount.js';
import { Failure, ifTold } from '../../formats/failure.js';
import { progressLine, rowLine, shownFailures, type BatchLine, type BatchSummary } from '../../terminal/cards/batch-view.js';
import { shellArgument } from '../../terminal/next-step.js';
import type { BatchCheck } from '../../wallet/batch/check.js';
import { sharedService } from '../../wallet/batch/shared-service.js';
import type { PlannedRow } from '../../wallet/batch/plan.js';
import { Ceiling } from '../../wallet/batch/cost.js';
import { runBatch, type RowOutcome } from '../../wallet/batch/run.js';
import { doneRows, emptyTally, failureOf, faultFailure, hasMoved, tallied, type Tally } from '../../wallet/batch/tally.js';
import type { PaymentDeps } from '../../wallet/payment/contract.js';
import { quote } from '../../wallet/payment/payment.js';
import type { BatchFlags } from './batch-options.js';
import { openResult, type ResultFile } from './batch-result.js';
import type { Context } from '../context.js';
import type { Drain } from './drain.js';
import { paymentDeps } from '../payment/payment-flow.js';
import { termsOf } from '../payment/payment-options.js';

/** What the rows are paid with: one client for all of them. */
export async function openPayments({ rows, settled }: BatchCheck, concurrency: number, context: Context): Promise<PaymentDeps> {
  const payment = await paymentDeps(context, { approve: () => Promise.resolve(false), on: () => undefined });
  const service = sharedService(payment.service, concurrency, context.now);
  if (rows > settled) await ifTold(service.wallets());
  return { ...payment, service };
}

/** What a row takes from its wallet, fees included; undefined where it is paid or on its way. The quote is paid later. */
export async function quoteRow(row: PlannedRow, flags: BatchFlags, payment: PaymentDeps): Promise<Money | undefined> {
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
 * Resolves with how it went, the first rows that failed, and what the batch ends with when not all is well.
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
      onSubmit: context.moneyIsLetGo,
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
    const summary = { ...before, ...tally.fates, paidBefore: tally.before, spent, notBegun, result: path };
    const failure = record.lost ?? faultFailure(fault, tally, count) ?? failureOf(tally, count, complete, drain.stop.aborted);
    return { summary, failures, failure: failure && withRetry(failure, tally, before.file, flags) };
  } finally {
    live.stop();
    await file?.close();
  }
}

/** Rows whose payment failed are retried only with --retry. */
function withRetry(failure: Failure, { kinds }: Tally, file: string, { retry }: BatchFlags): Failure {
  if (retry || !kinds.has('payment-failed') || failure.kind === 'pending') return failure;
  const again = file === '-' ? 'the same command' : `svcpay batch ${shellArgument(file)}`;
  return new Failure(failure.kind, failure.message, { hint: `To retry the failed rows: ${again} --retry`, cause: failure });
}

function recorder(
  rows: number,
  file: ResultFile | undefined,
  drain: Drain,
  context: Context,
) {
  const { out, live, terminal, now } = context;
  const halt = new AbortController();
  const failures: BatchLine[] = [];
  let tally = emptyTally;
  let lost: Failure | undefined;
  const progress = (elapsedMs: number): string => {
    const { fates, before } = tally;
    const failed = fates.failed + fates.unknown;
    const stopping = drain.stop.aborted;
    return progressLine({ done: doneRows(tally), rows, failed, elapsedMs, skipped: before, stopping }, terminal.stderrCanvas);
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
    /** Why the result file could not be written any more. */
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
      // The row's place need not wait for the disk: the journal has it already.
      file?.write(line).catch(lose);
      out.change(line);
      live.progress(doneRows(tally), rows);
      if (terminal.canAnimate) live.update();
      else if (!outcome.before) out.say(rowLine(line, doneRows(tally), rows), { reference: line.ref, ...(line.txnId !== null && { txnId: line.txnId }) });
    },
  };
}

function lineOf({ row, fate, txnId, txnState, total, failure }: RowOutcome, now: number): BatchLine {
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
