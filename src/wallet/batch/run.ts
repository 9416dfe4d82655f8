// The second pass over a batch: rows are paid several at a time, each as a payment of its own under its own reference.
import Big from 'big.js';
import type { Transaction } from '../../api/types.js';
import type { Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { PaymentTerms } from '../../store/journal/journal.js';
import type { PaymentDeps, PaymentOptions } from '../payment/contract.js';
import { fingerprint } from '../payment/order-record.js';
import { pay } from '../payment/payment.js';
import { isPaid } from './check.js';
import type { PlannedRow } from './plan.js';

/**
 * What became of a row: `paid`; `sent`, taken by the service and not waited for; `unknown`, let go and not heard of
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
}

export interface BatchOptions {
  readonly concurrency: number;
  /** Begin no row after one that failed. */
  readonly stopOnError: boolean;
  /** Undefined: until settled where that is a matter of seconds, and not at all where it takes hours. */
  readonly wait: boolean | undefined;
  /** Longest wait for the settlement of a row, in ms. */
  readonly waitTimeout: number;
  readonly retry: boolean;
  /** The terms of a row, by the wallet that pays it. */
  readonly terms: (ccy: string) => PaymentTerms;
}

export interface BatchDeps {
  readonly payment: Omit<PaymentDeps, 'approve' | 'on'>;
  /** References that the service knows already. */
  readonly known: ReadonlySet<string>;
  /** Aborted when no further row is to be begun; those in flight go on. */
  readonly stop: AbortSignal;
  readonly on: (outcome: RowOutcome) => void;
  /** The money of a row is about to be let go. */
  readonly onLetGo: () => void;
  readonly warn: (failure: Failure) => void;
}

/** Resolves when no row is in flight any more; says whether the end of the file was reached. */
export async function runBatch(
  rows: AsyncIterable<PlannedRow>,
  options: BatchOptions,
  deps: BatchDeps,
): Promise<boolean> {
  const inFlight = new Set<Promise<void>>();
  const faults: unknown[] = [];
  let failed = false;
  const finish = async (row: PlannedRow): Promise<void> => {
    const outcome = await payRow(row, options, deps);
    failed ||= outcome.failure !== undefined;
    deps.on(outcome);
  };
  const begin = (row: PlannedRow): void => {
    const done = finish(row)
      .catch((error: unknown) => void faults.push(error))
      .finally(() => inFlight.delete(done));
    inFlight.add(done);
  };
  const isOver = (): boolean => deps.stop.aborted || (failed && options.stopOnError) || faults.length > 0;
  let complete = true;
  for await (const row of rows) {
    if (inFlight.size >= options.concurrency) await Promise.race(inFlight);
    if (isOver()) {
      complete = false;
      break;
    }
    begin(row);
  }
  await Promise.all(inFlight);
  if (faults.length > 0) throw faults[0];
  return complete;
}

async function payRow(row: PlannedRow, options: BatchOptions, deps: BatchDeps): Promise<RowOutcome> {
  const earlier = await paidBefore(row, deps);
  if (earlier !== undefined) return earlier;
  let total: Money | undefined;
  const payment: PaymentDeps = {
    ...deps.payment,
    approve: () => Promise.resolve(true),
    on: (event) => {
      if (event.type === 'quoted') total = event.approval.quote.total;
      else if (event.type === 'let-go') deps.onLetGo();
      else if (event.type === 'journal-failed') deps.warn(event.error);
    },
  };
  const unseen = !deps.known.has(row.ref);
  const request = { order: row.order, ref: row.ref, unseen, terms: options.terms(row.order.body.sourceReq.ccy), consent: 'standing' as const };
  try {
    const txn = await pay(request, waitFor(row, options), payment);
    return { ...about(row, txn), fate: txn.txnState === 'completed' ? 'paid' : 'sent', total };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...failedRow(row, error), total: error.kind === 'pending' ? total : undefined };
  }
}

function waitFor(row: PlannedRow, { wait, waitTimeout, retry }: BatchOptions): PaymentOptions {
  const waits = wait ?? !row.slow;
  return { wait: waits ? waitTimeout : false, retry, quoteOnly: false };
}

/** What the journal knows to be paid needs no word from the service. */
async function paidBefore(row: PlannedRow, { payment }: BatchDeps): Promise<RowOutcome | undefined> {
  const intent = await payment.journal.find(payment.scope, row.ref);
  if (intent === undefined || intent.ref !== row.ref || !isPaid(intent)) return undefined;
  const isSame = row.order.onceKey !== null && intent.onceKey === row.order.onceKey;
  if (!isSame && intent.fingerprint !== fingerprint(row.order)) return undefined;
  const { txnId, txnState, approvedTotal, spendCcy } = intent;
  const known = approvedTotal !== null && spendCcy !== null;
  const total = known ? { ccy: spendCcy, value: new Big(approvedTotal) } : undefined;
  return { row, fate: 'paid', before: true, txnId, txnState, total, failure: undefined };
}

const about = (row: PlannedRow, { txnId, txnState }: Transaction) => ({
  row,
  before: false,
  txnId,
  txnState,
  failure: undefined,
});

const failedRow = (row: PlannedRow, failure: Failure): Omit<RowOutcome, 'total'> => ({
  row,
  fate: failure.kind === 'pending' ? 'unknown' : 'failed',
  before: false,
  txnId: failure.txnId ?? null,
  txnState: null,
  failure,
});
