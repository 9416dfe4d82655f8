// The paying half of a batch: progress while it runs, a line in the result file for every row, and how it went.
import { Failure } from '../../formats/failure.js';
import { progressLine, rowLine, shownFailures, type BatchLine, type BatchSummary } from '../../terminal/cards/batch-view.js';
import type { BatchCheck } from '../../wallet/batch/check.js';
import { frugal } from '../../wallet/batch/cached-wallets.js';
import type { PlannedRow } from '../../wallet/batch/plan.js';
import { runBatch, type BatchDeps, type RowOutcome } from '../../wallet/batch/run.js';
import { counted, doneRows, emptyTally, failureOf, type Tally } from '../../wallet/batch/tally.js';
import { knownReferences } from '../../wallet/payment/references.js';
import type { BatchFlags } from './batch-options.js';
import { openResult, type ResultFile } from './batch-result.js';
import type { Context } from '../context.js';
import type { Drain } from './drain.js';
import { paymentDeps } from '../payment/payment-flow.js';

export interface BatchEnd {
  readonly summary: BatchSummary;
  /** The first rows that failed. */
  readonly failures: readonly BatchLine[];
  /** What the batch ends with when not all is well. */
  readonly failure: Failure | undefined;
}

/** @param before the summary of the checked file, with nothing paid yet */
export async function payBatch(
  rows: AsyncIterable<PlannedRow>,
  { refs, rows: count }: BatchCheck,
  before: BatchSummary,
  flags: BatchFlags,
  drain: Drain,
  context: Context,
): Promise<BatchEnd> {
  const { live } = context;
  const path = flags.result ?? (before.file === '-' ? null : `${before.file}.result.csv`);
  const file = path === null ? undefined : await openResult(path);
  const record = recorder(count, file, drain, context);
  try {
    const deps = await batchDeps(refs, record, context);
    drain.begin();
    const options = { ...flags, stopOnError: flags.onError === 'stop', terms: (ccy: string) => ({ maxFee: flags.maxFee?.(ccy) }) };
    const complete = await runBatch(rows, options, deps);
    live.stop();
    await file?.close();
    const { tally, failures } = record;
    const { fates } = tally;
    const spent = [...tally.spent].map(([ccy, amount]) => ({ ccy, amount }));
    const notBegun = count - doneRows(tally);
    const summary = { ...before, ...fates, paidBefore: tally.before, spent, notBegun, result: path };
    return { summary, failures, failure: record.lost ?? failureOf(tally, count, complete, drain.stop.aborted) };
  } finally {
    live.stop();
    await file?.close();
  }
}

async function batchDeps(refs: ReadonlySet<string>, record: Recorder, context: Context): Promise<BatchDeps> {
  const { live, out, terminal } = context;
  const never = { approve: () => Promise.resolve(false), on: () => undefined };
  const payment = await paymentDeps(context, never);
  const service = frugal(payment.service, context.now);
  if (terminal.canAnimate && refs.size > 0) live.start(() => 'Looking for payments that were made before');
  const [known] = await Promise.all([knownReferences(refs, service), service.wallets()]);
  live.stop();
  record.begin();
  return {
    payment: { ...payment, service },
    known,
    stop: record.stop,
    on: record.add,
    onLetGo: context.moneyIsLetGo,
    warn: (failure) => out.warn(`${failure.message} The payment goes on without it.`),
  };
}

interface Recorder {
  readonly tally: Tally;
  readonly failures: readonly BatchLine[];
  /** Why the result file could not be written any more. */
  readonly lost: Failure | undefined;
  /** Aborted when no further row is to be begun. */
  readonly stop: AbortSignal;
  begin(): void;
  add(outcome: RowOutcome): void;
}

/** Counts, shows and keeps what became of each row. */
function recorder(rows: number, file: ResultFile | undefined, drain: Drain, context: Context): Recorder {
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
    get lost() {
      return lost;
    },
    stop: AbortSignal.any([drain.stop, halt.signal]),
    begin() {
      if (!terminal.canAnimate) return;
      live.start(progress);
      drain.stop.addEventListener('abort', () => live.update(), { once: true });
    },
    add(outcome) {
      tally = counted(tally, outcome);
      const line = lineOf(outcome, now());
      if (outcome.failure !== undefined && failures.length < shownFailures) failures.push(line);
      // The row's place need not wait for the disk: the journal has it already.
      file?.write(line).catch(lose);
      out.change(line);
      if (terminal.canAnimate) live.update();
      else if (!outcome.before) out.say(rowLine(line, doneRows(tally), rows));
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
