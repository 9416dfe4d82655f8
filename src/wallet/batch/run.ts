// Pays the rows of a batch, several at a time, each under its own reference. svcpay checks all rows
// before it pays the first row.
import Big from 'big.js';
import type { Transaction } from '../../api/types.js';
import { formatAmount, type Money } from '../../formats/amount.js';
import { Failure, isUnknown } from '../../formats/failure.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import {
  decisive,
  mayHavePaid,
  outcomeOf,
  type Attempt,
  type PaymentTerms,
} from '../../store/journal/payment.js';
import type { Approval, PaymentDeps, PaymentOptions } from '../payment/contract.js';
import { digestOf } from '../instruction/instruction.js';
import { pay } from '../payment/payment.js';
import type { Ceiling } from './cost.js';
import { markOf } from './payee.js';
import type { PlannedRow } from './plan.js';

/**
 * The outcome of a row. A `paid` row has settled. The service accepted a `sent` row, but svcpay did
 * not wait for its settlement. An `unknown` row was submitted, and its outcome is unknown. A
 * `failed` row was not paid.
 */
export type RowResult = 'paid' | 'sent' | 'unknown' | 'failed';

export interface RowOutcome {
  readonly row: PlannedRow;
  readonly result: RowResult;
  /** Whether an earlier run paid the row. */
  readonly before: boolean;
  readonly txnId: string | null;
  readonly txnState: string | null;
  /**
   * The time in epoch ms at which the row settled, or null if the row has not settled or the
   * service does not report the time.
   */
  readonly settledAt: number | null;
  /** The debit including fees, or undefined if the debit is unknown. */
  readonly total: Money | undefined;
  readonly failure: Failure | undefined;
  /**
   * Whether svcpay did not pay the row because the batch would have exceeded the approved total.
   */
  readonly exceeded?: boolean;
}

export interface BatchOptions {
  readonly concurrency: number;
  /** Whether svcpay starts no further rows after a failure. */
  readonly stopOnError: boolean;
  /**
   * Whether to wait for the settlement of each row, or undefined to wait only for methods that
   * settle in seconds.
   */
  readonly wait: boolean | undefined;
  /** The longest wait for the settlement of a row, in ms. */
  readonly waitTimeout: number;
  readonly retry: boolean;
  /** Returns the limits on the cost of a row, by the currency of the paying wallet. */
  readonly terms: (ccy: string) => PaymentTerms;
  /** The name of the batch run to which the payments belong. */
  readonly run: string;
  readonly consent: BatchConsent;
}

/**
 * The consent to a batch. A person or `--yes` has approved the rows of these lines, and no others.
 * The consent covers a total that a person approved, or every cost within the terms.
 */
export interface BatchConsent {
  readonly lines: ReadonlySet<number>;
  readonly upTo: Ceiling | 'terms';
}

export interface BatchDeps {
  readonly payment: Omit<PaymentDeps, 'on'>;
  /** The signal after which no further rows start, while rows in flight continue. */
  readonly stop: AbortSignal;
  readonly on: (outcome: RowOutcome) => void;
  /** Called just before a row is submitted. */
  readonly onSubmit: () => void;
  readonly warn: (failure: Failure) => void;
}

/**
 * The number of rows in progress for each request that may be in flight. svcpay works on more rows
 * than it has requests in flight, because a row often waits between its requests. The option
 * `concurrency` limits the number of create and confirm requests in flight.
 */
const rowsPerRequest = 2;

/**
 * Pays the rows. Once all started rows have ended, resolves with whether svcpay reached the end of
 * the file. Rejects with an error that concerns more than a single row, such as an unreadable file.
 */
export async function runBatch(
  rows: AsyncIterable<PlannedRow>,
  options: BatchOptions,
  deps: BatchDeps,
): Promise<boolean> {
  const inFlight = new Set<Promise<void>>();
  const faults: unknown[] = [];
  let [failed, exceeded] = [false, false];
  const finish = async (row: PlannedRow): Promise<void> => {
    const outcome = await payRow(row, options, deps);
    failed ||= outcome.failure !== undefined;
    exceeded ||= outcome.exceeded === true;
    deps.on(outcome);
  };
  const begin = (row: PlannedRow): void => {
    const done = finish(row)
      .catch((error: unknown) => void faults.push(error))
      .finally(() => inFlight.delete(done));
    inFlight.add(done);
  };
  const isOver = (): boolean =>
    deps.stop.aborted || exceeded || (failed && options.stopOnError) || faults.length > 0;
  const rowsAtOnce = options.concurrency === 1 ? 1 : options.concurrency * rowsPerRequest;
  let complete = true;
  try {
    for await (const row of rows) {
      if (inFlight.size >= rowsAtOnce) await Promise.race(inFlight);
      if (isOver()) {
        complete = false;
        break;
      }
      begin(row);
    }
  } catch (error) {
    faults.unshift(error);
  }
  await Promise.all(inFlight);
  if (faults.length > 0) throw faults[0];
  return complete;
}

async function payRow(
  row: PlannedRow,
  options: BatchOptions,
  deps: BatchDeps,
): Promise<RowOutcome> {
  const { lines, upTo } = options.consent;
  const asking = askingCeiling(upTo);
  const isApproved = lines.has(row.line);
  let total: Money | undefined;
  let isSubmitted = false;
  const payment: PaymentDeps = {
    ...deps.payment,
    on: (event) => {
      if (event.type === 'quoted') total = event.approval.quote.total;
      else if (event.type === 'submitting') {
        isSubmitted = true;
        deps.onSubmit();
      } else if (event.type === 'journal-failed') deps.warn(event.error);
      else if (event.type === 'exceeded') deps.warn(event.failure);
    },
  };
  const request = {
    instruction: row.instruction,
    ref: row.ref,
    terms: options.terms(row.order.body.sourceReq.ccy),
    consent: isApproved ? asking.consent : { by: 'nobody' as const },
    batch: { ...markOf(options.run, row), line: row.line },
  };
  try {
    const earlier = await paidBefore(row, deps);
    if (earlier !== undefined) return earlier;
    const retry = options.retry && isApproved;
    const txn = await pay(request, waitFor(row, { ...options, retry }), payment);
    // Another process may have paid and recorded the row since svcpay checked the batch.
    total ??= await approvedTotal(row, deps).catch(() => undefined);
    return rowOutcome(row, txn, isSubmitted, total);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // A row whose outcome is unknown keeps its share of the approved total.
    if (!isUnknown(error)) asking.release();
    const elsewhere = isSubmitted ? undefined : await paidElsewhere(row, error, deps);
    if (elsewhere !== undefined) return elsewhere;
    const failure = error.kind === 'declined' ? (asking.refusal() ?? error) : error;
    const exceeded = failure !== error && asking.exceeded();
    return {
      ...failedRow(row, failure),
      total: isUnknown(failure) ? total : undefined,
      exceeded,
    };
  }
}

/** The outcome of a row, by the state of its transaction. */
function rowOutcome(
  row: PlannedRow,
  { txnId, txnState, sourceReq, destReq }: Transaction,
  isSubmitted: boolean,
  total: Money | undefined,
): RowOutcome {
  const result = txnState === 'completed' ? 'paid' : 'sent';
  return {
    row,
    result,
    before: !isSubmitted && result === 'paid',
    txnId,
    txnState,
    settledAt:
      result === 'paid' ? Math.max(sourceReq.updatedAt ?? 0, destReq.updatedAt ?? 0) || null : null,
    total,
    failure: undefined,
  };
}

/** Approves quotes of rows until the approved total is used up. */
function askingCeiling(upTo: Ceiling | 'terms') {
  let taken: Money | undefined;
  let refusal: Failure | undefined;
  let exceeded = false;
  const release = (): void => {
    if (taken !== undefined && upTo !== 'terms') upTo.release(taken);
    taken = undefined;
  };
  return {
    release,
    refusal: () => refusal,
    exceeded: () => exceeded,
    consent: upTo === 'terms' ? { by: 'yes' as const } : { by: 'batch' as const, ask },
  };

  async function ask({ quote, unusual }: Approval): Promise<boolean> {
    release();
    const [odd] = unusual;
    if (odd !== undefined) {
      refusal = new Failure(
        'limit',
        `Not sent: ${odd}. Pay this row separately to approve the cost.`,
        {
          txnId: quote.txnId,
        },
      );
      return false;
    }
    if (upTo !== 'terms' && upTo.take(quote.total)) {
      taken = quote.total;
      return true;
    }
    exceeded = true;
    const message =
      `Not sent: this row costs ${formatAmount(quote.total)}, so the batch would exceed the ` +
      'total that you approved.';
    refusal = new Failure('limit', message, { txnId: quote.txnId });
    return false;
  }
}

/**
 * The outcome of a row whose invoice was already paid under a different reference, perhaps by a
 * different batch.
 */
async function paidElsewhere(
  row: PlannedRow,
  { kind, txnId }: Failure,
  { payment }: BatchDeps,
): Promise<RowOutcome | undefined> {
  if (kind !== 'already-paid' || txnId === undefined || row.order.idempotencyKey === null)
    return undefined;
  const txn = await payment.service.transaction(txnId).catch(() => undefined);
  const { paymentRequest } = txn?.destReq.reqDetails ?? {};
  const isSame =
    paymentRequest !== undefined &&
    paymentRequest === row.order.body.destReq.reqDetails?.['paymentRequest'];
  const mayPay =
    txn !== undefined &&
    (txn.txnState === 'completed' || (!isFinal(txn.txnState) && !isQuoted(txn.txnState)));
  return isSame && mayPay ? rowOutcome(row, txn, false, undefined) : undefined;
}

function waitFor(
  row: PlannedRow,
  { wait, waitTimeout, retry }: Pick<BatchOptions, 'wait' | 'waitTimeout' | 'retry'>,
): PaymentOptions {
  const waits = wait ?? !row.slow;
  return { wait: waits ? waitTimeout : false, retry };
}

/**
 * Returns the outcome of a row that the journal records as paid, and sends no request to the
 * service.
 */
async function paidBefore(
  row: PlannedRow,
  { payment }: BatchDeps,
): Promise<RowOutcome | undefined> {
  const stored = await payment.journal.find(payment.scope, row.ref);
  const paid = stored?.attempts.find((each) => outcomeOf(each) === 'paid');
  if (stored === undefined || stored.ref !== row.ref || paid === undefined) return undefined;
  const isSame =
    row.order.idempotencyKey !== null && stored.idempotencyKey === row.order.idempotencyKey;
  if (!isSame && stored.digest !== digestOf(row.instruction)) return undefined;
  const { txnId, txnState } = paid;
  const total = totalOf(paid);
  const settledAt = stored.updatedAt;
  return {
    row,
    result: 'paid',
    before: true,
    txnId,
    txnState,
    settledAt,
    total,
    failure: undefined,
  };
}

/** The approved debit of a row that a different run submitted and whose outcome this run awaits. */
async function approvedTotal(
  row: PlannedRow,
  { payment: { journal, scope } }: BatchDeps,
): Promise<Money | undefined> {
  const stored = await journal.find(scope, row.ref);
  return stored?.ref === row.ref && mayHavePaid(stored) ? totalOf(decisive(stored)) : undefined;
}

const totalOf = ({ approvedTotal: total, spendCcy }: Attempt): Money | undefined =>
  total === null || spendCcy === null ? undefined : { ccy: spendCcy, value: new Big(total) };

const failedRow = (row: PlannedRow, failure: Failure): Omit<RowOutcome, 'total'> => ({
  row,
  result: isUnknown(failure) ? 'unknown' : 'failed',
  before: false,
  txnId: failure.txnId ?? null,
  txnState: failure.txnState ?? null,
  settledAt: null,
  failure,
});
