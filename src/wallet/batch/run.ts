// The second pass over a batch: rows are paid several at a time, each as a payment of its own under its own reference.
import Big from 'big.js';
import type { Transaction } from '../../api/types.js';
import { formatAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import type { PaymentTerms } from '../../store/journal/payment.js';
import type { Approval, PaymentDeps, PaymentOptions } from '../payment/contract.js';
import { isForOrder } from '../order/order-record.js';
import { pay } from '../payment/payment.js';
import type { Ceiling } from './cost.js';
import type { PlannedRow } from './plan.js';

/**
 * The outcome of a row: `paid`; `sent`, accepted by the service and not awaited; `unknown`, submitted and not heard of
 * since; `failed`, for a reason of its own.
 */
export type Fate = 'paid' | 'sent' | 'unknown' | 'failed';

export interface RowOutcome {
  readonly row: PlannedRow;
  readonly fate: Fate;
  /** An earlier run had paid it: nothing was done. */
  readonly before: boolean;
  readonly txnId: string | null;
  readonly txnState: string | null;
  /** What left the wallet, fees included; undefined where that is not known. */
  readonly total: Money | undefined;
  readonly failure: Failure | undefined;
  /** It would have gone beyond what was agreed to for all rows. */
  readonly exceeded?: boolean;
}

export interface BatchOptions {
  readonly concurrency: number;
  /** Start no row after a failed one. */
  readonly stopOnError: boolean;
  /** Undefined: until settled where that is a matter of seconds, and not at all where it takes hours. */
  readonly wait: boolean | undefined;
  /** Longest wait for the settlement of a row, in ms. */
  readonly waitTimeout: number;
  readonly retry: boolean;
  /** The terms of a row, by the wallet that pays it. */
  readonly terms: (ccy: string) => PaymentTerms;
  /** What was agreed to for all rows; undefined where every cost within the terms was. */
  readonly ceiling?: Ceiling | undefined;
}

export interface BatchDeps {
  readonly payment: Omit<PaymentDeps, 'approve' | 'on'>;
  /** Aborted to start no further row; rows in flight continue. */
  readonly stop: AbortSignal;
  readonly on: (outcome: RowOutcome) => void;
  /** A row is about to be submitted. */
  readonly onSubmit: () => void;
  readonly warn: (failure: Failure) => void;
}

/**
 * A row waits for the list of the service before it is confirmed, and one reading of it serves all rows that wait: they
 * take no part in the number of payments at a time meanwhile, which is that of requests that create and confirm.
 */
const rowsPerRequest = 2;

/**
 * Resolves when no row is in flight any more; says whether the end of the file was reached. Rejects, then too, when rows
 * cannot be read on, or something went wrong that is no row's failure.
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
  const isOver = (): boolean => deps.stop.aborted || exceeded || (failed && options.stopOnError) || faults.length > 0;
  // One at a time means one after the other.
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

async function payRow(row: PlannedRow, options: BatchOptions, deps: BatchDeps): Promise<RowOutcome> {
  const { ceiling } = options;
  const asking = askingCeiling(ceiling);
  let total: Money | undefined;
  let isSubmitted = false;
  const payment: PaymentDeps = {
    ...deps.payment,
    approve: asking.approve,
    on: (event) => {
      if (event.type === 'quoted') total = event.approval.quote.total;
      else if (event.type === 'submitting') {
        isSubmitted = true;
        deps.onSubmit();
      } else if (event.type === 'journal-failed') deps.warn(event.error);
    },
  };
  const consent = ceiling === undefined ? ('standing' as const) : ('none' as const);
  const request = { order: row.order, ref: row.ref, terms: options.terms(row.order.body.sourceReq.ccy), consent };
  try {
    const earlier = await paidBefore(row, deps);
    if (earlier !== undefined) return earlier;
    const txn = await pay(request, waitFor(row, options), payment);
    // What another process paid meanwhile, it wrote down; that this cannot be read takes nothing back.
    total ??= (await paidBefore(row, deps).catch(() => undefined))?.total;
    return outcomeOf(row, txn, isSubmitted, total);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.kind !== 'pending') asking.giveBack();
    const elsewhere = isSubmitted ? undefined : await paidElsewhere(row, error, deps);
    if (elsewhere !== undefined) return elsewhere;
    const failure = error.kind === 'declined' ? (asking.refusal() ?? error) : error;
    const exceeded = failure !== error && asking.exceeded();
    return { ...failedRow(row, failure), total: failure.kind === 'pending' ? total : undefined, exceeded };
  }
}

/** A row that this run did not submit was paid, or is being paid, by another. */
function outcomeOf(row: PlannedRow, { txnId, txnState }: Transaction, isSubmitted: boolean, total: Money | undefined): RowOutcome {
  const fate = txnState === 'completed' ? 'paid' : 'sent';
  return { row, fate, before: !isSubmitted && fate === 'paid', txnId, txnState, total, failure: undefined };
}

/** The yes to a row where a sum was agreed to for all: as long as that is not used up. */
function askingCeiling(ceiling: Ceiling | undefined) {
  let taken: Money | undefined;
  let refusal: Failure | undefined;
  let exceeded = false;
  const giveBack = (): void => {
    if (taken !== undefined) ceiling?.giveBack(taken);
    taken = undefined;
  };
  return {
    giveBack,
    refusal: () => refusal,
    exceeded: () => exceeded,
    approve: async ({ quote, unusual }: Approval): Promise<boolean> => {
      giveBack();
      const [odd] = unusual;
      if (odd !== undefined) {
        refusal = new Failure('limit', `Not sent: ${odd}. Pay this row on its own to approve that.`, { txnId: quote.txnId });
        return false;
      }
      if (ceiling === undefined || ceiling.take(quote.total)) {
        taken = quote.total;
        return true;
      }
      exceeded = true;
      const message = `Not sent: with its ${formatAmount(quote.total)} the batch would exceed the total that you approved.`;
      refusal = new Failure('limit', message, { txnId: quote.txnId });
      return false;
    },
  };
}

/** An invoice that was paid under another reference, by another batch perhaps, is paid. */
async function paidElsewhere(row: PlannedRow, { kind, txnId }: Failure, { payment }: BatchDeps): Promise<RowOutcome | undefined> {
  if (kind !== 'usage' || txnId === undefined || row.order.idempotencyKey === null) return undefined;
  const txn = await payment.service.transaction(txnId).catch(() => undefined);
  const { paymentRequest } = txn?.destReq.reqDetails ?? {};
  const isSame = paymentRequest !== undefined && paymentRequest === row.order.body.destReq.reqDetails?.['paymentRequest'];
  const mayPay = txn !== undefined && (txn.txnState === 'completed' || (!isFinal(txn.txnState) && !isQuoted(txn.txnState)));
  return isSame && mayPay ? outcomeOf(row, txn, false, undefined) : undefined;
}

function waitFor(row: PlannedRow, { wait, waitTimeout, retry }: BatchOptions): PaymentOptions {
  const waits = wait ?? !row.slow;
  return { wait: waits ? waitTimeout : false, retry };
}

/** What the journal knows to be paid needs no word from the service. */
async function paidBefore(row: PlannedRow, { payment }: BatchDeps): Promise<RowOutcome | undefined> {
  const known = await payment.journal.find(payment.scope, row.ref);
  const paid = known?.attempts.find(({ state }) => state === 'paid');
  if (known === undefined || known.ref !== row.ref || paid === undefined) return undefined;
  const isSame = row.order.idempotencyKey !== null && known.idempotencyKey === row.order.idempotencyKey;
  if (!isSame && !isForOrder(known, row.order)) return undefined;
  const { txnId, txnState, approvedTotal, spendCcy } = paid;
  const isPriced = approvedTotal !== null && spendCcy !== null;
  const total = isPriced ? { ccy: spendCcy, value: new Big(approvedTotal) } : undefined;
  return { row, fate: 'paid', before: true, txnId, txnState, total, failure: undefined };
}

const failedRow = (row: PlannedRow, failure: Failure): Omit<RowOutcome, 'total'> => ({
  row,
  fate: failure.kind === 'pending' ? 'unknown' : 'failed',
  before: false,
  txnId: failure.txnId ?? null,
  txnState: null,
  failure,
});
