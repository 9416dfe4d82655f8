// Pays the rows of a batch, shows the progress, writes the result file, and returns the outcome of
// the batch.
import Big from 'big.js';
import { decimalsOf, money } from '../../formats/amount.js';
import { Failure, ifAvailable, isUnknown } from '../../formats/failure.js';
import { clip } from '../../formats/text.js';
import {
  progressLine,
  rowLine,
  shownFailures,
  type BatchLine,
} from '../../terminal/cards/batch-progress.js';
import type { BatchSummary } from '../../terminal/cards/batch-view.js';
import type { Command } from '../../terminal/next-step.js';
import type { BatchCheck } from '../../wallet/batch/check.js';
import { sharedService } from '../../wallet/batch/shared-service.js';
import { payeeRow } from '../../wallet/batch/payee.js';
import type { PlannedRow } from '../../wallet/batch/plan.js';
import type { RowCost } from '../../wallet/batch/cost.js';
import { runBatch, type BatchConsent, type RowOutcome } from '../../wallet/batch/run.js';
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
import { quote } from '../../wallet/payment/payment.js';
import type { Quote } from '../../wallet/quote/quote.js';
import type { Context } from '../context.js';
import { lazily } from '../stores.js';
import { openResult, type ResultFile, type SettledWorth } from './batch-result.js';
import type { Drain } from './drain.js';
import { paymentDeps } from '../payment/payment-flow.js';
import { termsOf, paymentOptions } from '../payment/payment-options.js';
import {
  choice,
  currency,
  duration,
  file,
  flag,
  literal,
  text,
  whole,
  word,
  type ValuesOf,
} from '../values.js';

/**
 * Opens the journal and the client that the payments of the batch use. All rows share one client.
 */
export async function openPayments(
  { rows, settled }: BatchCheck,
  concurrency: number,
  context: Context,
): Promise<PaymentDeps> {
  const payment = await paymentDeps(context, () => undefined);
  const service = sharedService(payment.service, concurrency, context.now);
  if (rows > settled) await ifAvailable(service.wallets());
  return { ...payment, service };
}

/**
 * Quotes a row under a temporary reference and cancels the quote, so that the order under the row's
 * own reference can still change.
 */
export async function quoteRow(
  row: PlannedRow,
  flags: BatchFlags,
  payment: PaymentDeps,
): Promise<RowCost> {
  let quoted: Quote | undefined;
  const terms = termsOf(flags, row.order.body.sourceReq.ccy);
  const ref = `quote-${payment.newId()}`;
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
  const { total, serviceFee, networkFee } = quoted;
  return { total, fees: money(total.ccy, serviceFee.value.plus(networkFee.value)) };
}

/**
 * Pays the rows of a batch. Resolves with the summary of the batch, the first failed rows and, if a
 * failure ended the batch, that failure.
 * @param before the summary of the checked file before any payment
 */
export async function payBatch(
  rows: AsyncIterable<PlannedRow>,
  { rows: count, columns }: BatchCheck,
  before: BatchSummary,
  consent: BatchConsent,
  flags: BatchFlags,
  drain: Drain,
  payment: PaymentDeps,
  context: Context,
) {
  const { live, out } = context;
  const path = flags.result ?? (before.file === '-' ? null : `${before.file}.result.csv`);
  const file =
    path === null
      ? undefined
      : await openResult(path, {
          columns,
          rawCells: context.globals.rawCells,
          worthOf: openWorth(context),
        });
  const record = recorder(count, file, drain, context);
  const options = {
    ...flags,
    stopOnError: flags.onError === 'stop',
    terms: (ccy: string) => termsOf(flags, ccy),
    consent,
    run: before.run,
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
      ...tally.results,
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

/** Adds a hint about `--retry` to the failure of a batch in which payments failed. */
function withRetry(
  failure: Failure,
  { kinds }: BatchTally,
  file: string,
  { retry, ...flags }: BatchFlags,
): Failure {
  if (retry || !kinds.has('payment-failed') || isUnknown(failure)) return failure;
  const isPiped = file === '-';
  return new Failure(failure.kind, failure.message, {
    hint: isPiped
      ? 'To retry the failed rows, run the same command with --retry.'
      : 'To retry the failed rows',
    next: isPiped ? undefined : { do: 'run', ...batchCommand(file, flags, { '--retry': true }) },
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
    const { results, before } = tally;
    const failed = results.failed + results.unknown;
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
    /** The error after which svcpay stops writing the result file. */
    get lost() {
      return lost;
    },
    /** The signal after which svcpay starts no further row. */
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
      // svcpay does not wait for the write to the result file, because the journal already contains
      // the row.
      file?.write(line, outcome.row.cells ?? {}).catch(lose);
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
  { row, result, txnId, txnState, settledAt, total, failure }: RowOutcome,
  now: number,
): BatchLine {
  return {
    line: row.line,
    ref: row.ref,
    to: row.to,
    amount: row.amount,
    outcome: result,
    txnId,
    txnState,
    paid: result === 'failed' ? null : (total?.value ?? null),
    paidCcy: result === 'failed' ? null : (total?.ccy ?? null),
    error: failure?.kind ?? null,
    message: failure?.message ?? null,
    at: new Date(now).toISOString(),
    payee: payeeRow(row).name,
    settled: settledAt === null ? null : new Date(settledAt).toISOString(),
  };
}

function parseFactor(text: string): Big {
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(text) && new Big(text).gte(1)) return new Big(text);
  throw new Failure('usage', `"${clip(text)}" is not a factor. Write a number such as 1.5 or 2.`);
}

function parseSeal(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new Failure('usage', `"${clip(text)}" is not a seal. A seal has 64 hex digits.`);
}

const noWorth: SettledWorth = { fiatRate: null, fiatValue: null, fiat: null };

/** Returns a function that computes the value of a settled debit in the profile's fiat currency. */
function openWorth({ account, rates, ratesKept, settings }: Context) {
  const opened = lazily(async () => ({ scope: (await account()).scope, rates: await rates() }));
  return async ({ txnId, outcome, paid, paidCcy }: BatchLine): Promise<SettledWorth> => {
    const hasWorth = outcome === 'paid' && txnId !== null && paid !== null && paidCcy !== null;
    if (settings.profile.fiat === undefined || !hasWorth) return noWorth;
    await ratesKept();
    const stored = await opened()
      .then((store) => store.rates.of(store.scope, [txnId]))
      .catch(() => undefined);
    const kept = stored?.get(txnId);
    const rate = kept?.rates[paidCcy];
    if (kept === undefined || rate === undefined) return noWorth;
    const fiatValue = paid.times(rate).round(decimalsOf(kept.fiat));
    return { fiatRate: new Big(rate), fiatValue, fiat: kept.fiat };
  };
}

export const batchOptions = {
  dryRun: flag().describe('check every row and show payees, costs and changes, but send nothing'),
  seal: flag().describe('like --dry-run, and print the seal of the batch'),
  sealed: word('HASH', parseSeal).optional().describe('pay only if the batch has this seal'),
  ignoreColumns: flag().describe('ignore unknown columns'),
  acceptChanges: flag().describe(
    'with --yes, also pay duplicate rows and rows with a changed account',
  ),
  factor: literal('NUMBER', parseFactor)
    .otherwise(new Big('1.5'))
    .describe(
      "report amounts that differ from the payee's last amount by more than this factor " +
        '(default 1.5)',
    ),
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
    .describe('wallet to pay from if the row has none (default BTC, or USDT for TRON)'),
  maxFee: paymentOptions.maxFee.describe('highest fee per row, e.g. 100sat or 1%'),
  maxRateLoss: paymentOptions.maxRateLoss,
  wait: paymentOptions.wait.describe(
    'wait until every row is settled (default: only for Lightning)',
  ),
  waitTimeout: duration()
    .otherwise(120_000)
    .describe('longest wait for a row to settle (default 2m)'),
  retry: paymentOptions.retry.describe(
    'retry rows whose payment failed or has an unknown outcome; ' +
      'a row is paid twice if its earlier payment settles after all',
  ),
};

export type BatchFlags = ValuesOf<typeof batchOptions>;

/** The options that decide what the rows of a batch are, and the terms on which they are paid. */
export type RerunFlags = Pick<BatchFlags, 'name' | 'from' | 'ignoreColumns'> &
  Partial<Pick<BatchFlags, 'maxFee' | 'maxRateLoss' | 'result'>>;

/**
 * The command that runs a batch again, with its rows, terms and result file. Without the name of
 * the run, svcpay would pay the rows as another run.
 */
export const batchCommand = (
  file: string,
  { name, from, ignoreColumns, maxFee, maxRateLoss, result }: RerunFlags,
  more: Command['options'] = {},
): Command => ({
  command: 'batch',
  argument: file,
  options: {
    '--name': name === '' ? undefined : name,
    '--from': from,
    '--ignore-columns': ignoreColumns ? true : undefined,
    '--max-fee': maxFee?.written,
    '--max-rate-loss': maxRateLoss === undefined ? undefined : `${maxRateLoss}%`,
    '--result': result,
    ...more,
  },
});
