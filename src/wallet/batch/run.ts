// Pays the rows of a batch, several at a time, each under its own reference. svcpay checks all rows
// before it pays the first row.
import type { Transaction } from '../../api/types.js';
import { formatAmount, type Money } from '../../formats/amount.js';
import { Failure, ifAvailable, isUnknown } from '../../formats/failure.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import { status, type Payment, type PaymentTerms } from '../../store/journal/payment.js';
import type { ApprovedProposal, Approval, PaymentDeps } from '../payment/contract.js';
import { methodOf } from '../instruction/keys.js';
import { orderOf } from '../instruction/order.js';
import { pay } from '../payment/payment.js';
import type { Ceiling } from './cost.js';
import { markOf, type Row } from './row.js';
import { withResult } from './status.js';

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
  /** Returns the limits on the cost of a row, by the currency of the wallet and the method. */
  readonly terms: (ccy: string, method: string | undefined) => PaymentTerms;
  /** The name of the batch run to which the payments belong. */
  readonly run: string;
  readonly consent: BatchConsent;
}

/**
 * The consent to a batch. A person or `--yes` has approved the rows of these lines, and no others.
 * The consent covers a total that a person approved, or every cost within the terms.
 */
export interface BatchConsent extends ApprovedProposal {
  readonly lines: ReadonlySet<number>;
  readonly upTo: Ceiling | 'terms';
}

export interface BatchDeps {
  readonly payment: PaymentDeps;
  /** The signal after which no further rows start, while rows in flight continue. */
  readonly stop: AbortSignal;
  /** Receives each row with its result. */
  readonly on: (row: Row) => void;
  readonly warn: (failure: Failure) => void;
}

/**
 * The number of rows in progress for each request that may be in flight. svcpay works on more rows
 * than it has requests in flight, because a row often waits between its requests. The option
 * `concurrency` limits the number of create and confirm requests in flight.
 */
const rowsPerRequest = 3;

/**
 * Pays the rows. Once all started rows have ended, resolves with whether svcpay reached the last
 * row. Rejects with an error that concerns more than a single row.
 */
export async function runBatch(
  rows: readonly Row[],
  options: BatchOptions,
  deps: BatchDeps,
): Promise<boolean> {
  const faults: unknown[] = [];
  let [isOver, isComplete] = [false, true];
  const atOnce = options.concurrency === 1 ? 1 : options.concurrency * rowsPerRequest;
  const left = rows.values();
  const work = async (): Promise<void> => {
    for (const row of left) {
      if (isOver || deps.stop.aborted) return void (isComplete = false);
      try {
        const { row: paid, isExceeded } = await payRow(row, options, deps);
        isOver ||= isExceeded || (paid.failure !== undefined && options.stopOnError);
        deps.on(paid);
      } catch (error) {
        isOver = true;
        faults.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (faults.length > 0) throw faults[0];
  return isComplete;
}

interface PaidRow {
  readonly row: Row;
  /** Whether the row was not paid because the batch would have exceeded the approved total. */
  readonly isExceeded: boolean;
}

async function payRow(row: Row, options: BatchOptions, deps: BatchDeps): Promise<PaidRow> {
  if (row.standing === 'settled' && row.payment !== undefined && status(row.payment) === 'paid')
    return { row: { ...withResult(row, row.payment), before: true }, isExceeded: false };
  const { lines, upTo, proposal } = options.consent;
  const asking = askingCeiling(upTo);
  const isApproved = lines.has(row.line);
  let submitted: Payment | undefined;
  const payment: PaymentDeps = {
    ...deps.payment,
    on: (event) => {
      deps.payment.on(event);
      if (event.type === 'submitting') submitted = event.payment;
      else if (event.type === 'journal-failed') deps.warn(event.error);
      else if (event.type === 'exceeded') deps.warn(event.failure);
    },
  };
  const request = {
    instruction: row.instruction,
    ref: row.ref,
    terms: options.terms(row.from, methodOf(row.instruction)),
    consent: isApproved ? { ...asking.consent, proposal } : { by: 'nobody' as const },
    batch: { ...markOf(options.run, row), line: row.line },
  };
  const wait = (options.wait ?? !row.isSlow) ? options.waitTimeout : false;
  try {
    const txn = await pay(request, { wait, retry: options.retry && isApproved }, payment);
    return { row: await paidRow(row, txn, submitted, deps), isExceeded: false };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // A row whose outcome is unknown keeps its share of the approved total.
    if (!isUnknown(error)) asking.release();
    const elsewhere = submitted ? undefined : await paidElsewhere(row, error, deps);
    if (elsewhere !== undefined) return { row: elsewhere, isExceeded: false };
    const failure = error.kind === 'declined' ? (asking.refusal() ?? error) : error;
    return {
      row: await failedRow(row, failure, submitted !== undefined, deps),
      isExceeded: failure !== error && asking.isExceeded(),
    };
  }
}

/** Reads what the journal has of a payment, which may fail although the payment succeeded. */
const stored = async ({ ref }: Row, { payment: { journal, scope } }: BatchDeps) => {
  const found = await ifAvailable(journal.find(scope, ref));
  return found?.ref === ref ? found : undefined;
};

/** @param submitted the payment, if this run submitted it */
async function paidRow(
  row: Row,
  txn: Transaction,
  submitted: Payment | undefined,
  deps: BatchDeps,
): Promise<Row> {
  const read = withResult(row, submitted ?? (await stored(row, deps)), txn);
  const state = txn.txnState === 'completed' ? 'paid' : 'in-flight';
  return { ...read, state, before: submitted === undefined };
}

async function failedRow(
  row: Row,
  failure: Failure,
  isSubmitted: boolean,
  deps: BatchDeps,
): Promise<Row> {
  const isOpen = isUnknown(failure);
  const known = withResult(row, await stored(row, deps));
  return {
    ...known,
    state: isOpen && known.payment === undefined ? 'unknown' : known.state,
    before: isOpen && !isSubmitted,
    txnId: failure.txnId ?? known.txnId,
    txnState: failure.txnState ?? known.txnState,
    failure,
  };
}

/** Approves quotes of rows until the approved total is used up. */
function askingCeiling(upTo: Ceiling | 'terms') {
  let taken: Money | undefined;
  let refusal: Failure | undefined;
  let isExceeded = false;
  const release = (): void => {
    if (taken !== undefined && upTo !== 'terms') upTo.release(taken);
    taken = undefined;
  };
  return {
    release,
    refusal: () => refusal,
    isExceeded: () => isExceeded,
    consent: upTo === 'terms' ? { by: 'yes' as const } : { by: 'batch' as const, ask },
  };

  async function ask({ quote, unusual }: Approval): Promise<boolean> {
    release();
    const [odd] = unusual;
    if (odd !== undefined) {
      refusal = new Failure('limit', `${odd}. Pay this row separately to approve the cost.`, {
        money: 'Not sent',
        txnId: quote.txnId,
      });
      return false;
    }
    if (upTo !== 'terms' && upTo.take(quote.total)) {
      taken = quote.total;
      return true;
    }
    isExceeded = true;
    refusal = new Failure(
      'limit',
      `this row costs ${formatAmount(quote.total)}, so the batch would exceed the total that ` +
        'you approved.',
      { money: 'Not sent', txnId: quote.txnId },
    );
    return false;
  }
}

/**
 * The result of a row whose invoice was already paid under a different reference, perhaps by a
 * different batch.
 */
async function paidElsewhere(
  row: Row,
  { kind, txnId }: Failure,
  { payment }: BatchDeps,
): Promise<Row | undefined> {
  if (kind !== 'already-paid' || txnId === undefined || row.instruction.once === null)
    return undefined;
  const txn = await ifAvailable(payment.service.transaction(txnId));
  const { paymentRequest } = txn?.destReq.reqDetails ?? {};
  const { body } = orderOf(row.instruction, { now: payment.now() });
  const isSame =
    paymentRequest !== undefined && paymentRequest === body.destReq.reqDetails?.['paymentRequest'];
  if (txn === undefined || !isSame) return undefined;
  if (txn.txnState === 'completed') return { ...withResult(row, undefined, txn), before: true };
  const isMoving = !isFinal(txn.txnState) && !isQuoted(txn.txnState);
  return isMoving ? { ...withResult(row, undefined, txn), before: true } : undefined;
}
