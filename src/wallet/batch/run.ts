// Pays the checked rows of a batch, several at a time, each under its own reference. Counts the
// outcomes, and derives the failure of the batch.
import { formatAmount } from '../../formats/amount.js';
import {
  asFailure,
  Failure,
  ifAvailable,
  isUnknown,
  besideSubmitted,
  type FailureKind,
} from '../../formats/failure.js';
import { isFinal, isQuoted } from '../../formats/states.js';
import { status, type Payment, type PaymentTerms } from '../../store/journal/payment.js';
import type { ApprovedProposal, Approval, Consent, PaymentDeps } from '../payment/model.js';
import { methodOf } from '../instruction/instruction.js';
import { orderOf } from '../instruction/order.js';
import { pay } from '../payment/pay.js';
import type { Ceiling } from './check.js';
import { markOf, type Row, withResult, type RowState } from './row.js';
import { counted } from '../../formats/text.js';

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
  /** The approved total, or undefined if the terms of each row are the only bound. */
  readonly ceiling?: Ceiling | undefined;
}

export interface BatchDeps {
  readonly payment: PaymentDeps;
  /** The signal after which no further rows start, while rows in flight continue. */
  readonly stop: AbortSignal;
  readonly warn: (failure: Failure) => void;
}

/**
 * The number of rows in progress for each request that may be in flight. svcpay works on more rows
 * than it has requests in flight, because a row often waits between its requests. The option
 * `concurrency` limits the number of create and confirm requests in flight.
 */
const rowsPerRequest = 3;

/**
 * Pays the rows, and yields each row as it ends. After an error that concerns more than a single
 * row, no further row starts, and the error is thrown once all started rows have ended.
 */
export async function* payRows(
  rows: readonly Row[],
  options: BatchOptions,
  deps: BatchDeps,
): AsyncGenerator<Row> {
  const { concurrency, stopOnError, consent } = options;
  const atOnce = concurrency === 1 ? 1 : concurrency * rowsPerRequest;
  const left = rows.values();
  const work = (row: Row) =>
    payRow(row, options, deps).then(
      (paid) => ({ row, paid }),
      (fault: unknown) => ({ row, fault }),
    );
  const running = new Map<Row, ReturnType<typeof work>>();
  const faults: unknown[] = [];
  let isOver = false;
  const next = (): Row | undefined =>
    isOver || deps.stop.aborted || running.size === atOnce ? undefined : left.next().value;
  for (;;) {
    for (let row = next(); row !== undefined; row = next()) running.set(row, work(row));
    if (running.size === 0) break;
    const ended = await Promise.race(running.values());
    running.delete(ended.row);
    if ('fault' in ended) {
      isOver = true;
      faults.push(ended.fault);
      continue;
    }
    const { paid } = ended;
    isOver ||= consent.ceiling?.isExceeded === true || (paid.failure !== undefined && stopOnError);
    yield paid;
  }
  if (faults.length > 0) throw faults[0];
}

async function payRow(row: Row, options: BatchOptions, deps: BatchDeps): Promise<Row> {
  if (row.standing === 'settled' && row.payment !== undefined && status(row.payment) === 'paid')
    return { ...withResult(row, row.payment), before: true };
  const { lines, ceiling, proposal } = options.consent;
  const { line } = row;
  const isApproved = lines.has(line);
  let refusal: Failure | undefined;
  const consent: Consent =
    ceiling === undefined
      ? { by: 'yes', proposal }
      : {
          by: 'batch',
          proposal,
          async ask(approval) {
            refusal = refusalOf(approval, line, ceiling);
            return refusal === undefined;
          },
        };
  let submitted: Payment | undefined;
  const payment: PaymentDeps = {
    ...deps.payment,
    on: (event) => {
      if (event.type === 'submitting') submitted = event.payment;
      else if (event.type === 'journal-failed') deps.warn(event.error);
      else if (event.type === 'exceeded') deps.warn(event.error);
    },
  };
  const request = {
    instruction: row.instruction,
    ref: row.ref,
    terms: options.terms(row.from, methodOf(row.instruction)),
    consent: isApproved ? consent : { by: 'nobody' as const },
    batch: { ...markOf(options.run, row), line },
  };
  const wait = (options.wait ?? !row.isSlow) ? options.waitTimeout : false;
  try {
    const txn = await pay(request, { wait, retry: options.retry && isApproved }, payment);
    return {
      ...withResult(row, submitted ?? (await stored(row, deps)), txn),
      state: txn.txnState === 'completed' ? 'paid' : 'in-flight',
      before: submitted === undefined,
    };
  } catch (caught) {
    const error = asFailure(caught);
    // A row whose outcome is unknown keeps its share of the approved total.
    if (!isUnknown(error)) ceiling?.release(line);
    const failure = error.kind === 'declined' ? (refusal ?? error) : error;
    return (
      (submitted ? undefined : await paidElsewhere(row, error, deps)) ??
      failedRow(row, failure, submitted !== undefined, deps)
    );
  }
}

/** Reads what the journal has of a payment, which may fail although the payment succeeded. */
const stored = async ({ ref }: Row, { payment: { journal, scope } }: BatchDeps) => {
  const found = await ifAvailable(journal.find(scope, ref));
  return found?.ref === ref ? found : undefined;
};

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

/** Reserves the total of a row's quote. Returns why the batch must not pay the quote. */
function refusalOf(
  { quote: { total, txnId }, unusual: [warning] }: Approval,
  line: number,
  ceiling: Ceiling,
): Failure | undefined {
  ceiling.release(line);
  if (warning === undefined && ceiling.reserve(line, total)) return undefined;
  const why =
    warning === undefined
      ? `this row costs ${formatAmount(total)}, so the batch would exceed the total that you ` +
        'approved.'
      : `${warning}. Pay this row separately to approve the cost.`;
  return new Failure('limit', why, { money: 'Not sent', txnId });
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
  // An interrupted lookup, too, leaves the row with its refusal, and does not end the batch.
  const txn = await payment.service
    .transaction(txnId)
    .catch((error: unknown) => void asFailure(error));
  const { paymentRequest } = txn?.destReq.reqDetails ?? {};
  const { body } = orderOf(row.instruction, { now: payment.now() });
  const isSame =
    paymentRequest !== undefined && paymentRequest === body.destReq.reqDetails?.['paymentRequest'];
  if (txn === undefined || !isSame) return undefined;
  const { txnState } = txn;
  const mayPay = txnState === 'completed' || (!isFinal(txnState) && !isQuoted(txnState));
  return mayPay ? { ...withResult(row, undefined, txn), before: true } : undefined;
}

/** What became of a row, as its line shows it. */
export interface EndedRow {
  readonly outcome: RowState;
  /** Whether an earlier run submitted the payment. */
  readonly before: boolean;
  /** The kind of the row's failure. */
  readonly error: FailureKind | null;
}

/** The outcomes after which money moved, or may have moved. All other rows count as failed. */
const countedAs: Readonly<Partial<Record<RowState, 'paid' | 'inFlight' | 'unknown'>>> = {
  paid: 'paid',
  'in-flight': 'inFlight',
  unknown: 'unknown',
  error: 'unknown',
};

/** Counts the rows that have ended. */
export function countsOf(ended: readonly EndedRow[]) {
  const counts = { paidBefore: 0, paid: 0, inFlight: 0, unknown: 0, failed: 0 };
  for (const { outcome, before } of ended) {
    counts[countedAs[outcome] ?? 'failed'] += 1;
    counts.paidBefore += Number(before);
  }
  return counts;
}

/** Whether this run has submitted a payment. */
export const hasMoved = (ended: readonly EndedRow[]): boolean =>
  ended.some(({ outcome, before }) => !before && countedAs[outcome] !== undefined);

export const runAgain = {
  hint: 'Run the same command again. It continues the batch and pays no row twice.',
};

/**
 * Returns the failure of an incomplete batch, which is `pending` if the outcome of a row is
 * unknown, or `outcome-unknown` if another run cannot learn it. After an interruption, the failure
 * is `pending` if this run submitted a payment, otherwise `interrupted`. If rows failed, the
 * failure of the batch has the kind of the rows' failures, or `payment-failed` if their kinds
 * differ. If this run submitted a payment, the failure does not promise that nothing was sent.
 */
export function failureOf(
  ended: readonly EndedRow[],
  rows: number,
  interrupted: boolean,
): Failure | undefined {
  const { failed } = countsOf(ended);
  const notStarted = rows - ended.length;
  const kinds = new Set(ended.flatMap(({ error }) => error ?? []));
  const open = ended.filter(
    ({ outcome, error }) => outcome === 'unknown' || (error !== null && isUnknown({ kind: error })),
  ).length;
  if (open > 0) {
    const why = `${counted(open, 'row')} may or may not have been paid.`;
    return kinds.has('outcome-unknown') && !kinds.has('pending')
      ? new Failure('outcome-unknown', why, {
          money: 'Outcome unknown',
          hint: 'Ask the service what happened to the money. To list these payments',
          next: { do: 'see-open-payments' },
        })
      : new Failure('pending', why, { money: 'Outcome unknown', ...runAgain });
  }
  if (interrupted && (notStarted > 0 || kinds.has('interrupted')))
    return hasMoved(ended)
      ? stopped(ended, rows, 'you interrupted the batch. The other rows are paid or in flight.')
      : new Failure('interrupted', 'nothing moved.', { money: 'Interrupted', ...runAgain });
  if (failed === 0) return undefined;
  const [only = 'payment-failed', ...others] = kinds;
  const one = others.length > 0 ? 'payment-failed' : only;
  const kind = hasMoved(ended) ? besideSubmitted(one) : one;
  const more = notStarted === 0 ? '' : `, and ${notStarted} not started`;
  return notPaid(kind, `${failed} of ${counted(rows, 'row')}${more}.`);
}

const notPaid = (kind: FailureKind, why: string, cause?: unknown): Failure =>
  new Failure(kind, why, { money: 'Not paid', ...runAgain, cause });

/** The failure of a batch that stopped after it had submitted payments. */
export const stopped = (
  ended: readonly EndedRow[],
  rows: number,
  why: string,
  cause?: unknown,
): Failure => {
  const left = rows - ended.length + countsOf(ended).failed;
  return notPaid('pending', `${left} of ${counted(rows, 'row')}, because ${why}`, cause);
};
