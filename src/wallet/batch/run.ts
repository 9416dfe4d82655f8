// Pays the checked rows of a batch, several at a time, each under its own reference. Counts the
// outcomes, and derives the failure of the batch.
import { formatAmount, type Money } from '../../formats/amount.js';
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
import type { ApprovedProposal, Approval, PaymentDeps } from '../payment/model.js';
import { methodOf } from '../instruction/instruction.js';
import { orderOf } from '../instruction/order.js';
import { pay } from '../payment/pay.js';
import type { Ceiling } from './check.js';
import { markOf, sumsOf, type Row, withResult, type RowState } from './row.js';
import { counted, messageOf } from '../../formats/text.js';

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
  const { upTo } = options.consent;
  const faults: unknown[] = [];
  let [isOver, isComplete] = [false, true];
  const atOnce = options.concurrency === 1 ? 1 : options.concurrency * rowsPerRequest;
  const left = rows.values();
  const work = async (): Promise<void> => {
    for (const row of left) {
      if (isOver || deps.stop.aborted) return void (isComplete = false);
      try {
        const paid = await payRow(row, options, deps);
        isOver ||=
          (upTo !== 'terms' && upTo.isExceeded) ||
          (paid.failure !== undefined && options.stopOnError);
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

async function payRow(row: Row, options: BatchOptions, deps: BatchDeps): Promise<Row> {
  if (row.standing === 'settled' && row.payment !== undefined && status(row.payment) === 'paid')
    return { ...withResult(row, row.payment), before: true };
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
    return {
      ...withResult(row, submitted ?? (await stored(row, deps)), txn),
      state: txn.txnState === 'completed' ? 'paid' : 'in-flight',
      before: submitted === undefined,
    };
  } catch (caught) {
    const error = asFailure(caught);
    // A row whose outcome is unknown keeps its share of the approved total.
    if (!isUnknown(error)) asking.release();
    const failure = error.kind === 'declined' ? (asking.refusal() ?? error) : error;
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

/** Approves quotes of a row until the approved total is used up. */
function askingCeiling(upTo: Ceiling | 'terms') {
  let reserved: Money | undefined;
  let refusal: Failure | undefined;
  const release = (): void => {
    if (reserved !== undefined && upTo !== 'terms') upTo.release(reserved);
    reserved = undefined;
  };
  const ask = async ({ quote: { total, txnId }, unusual }: Approval): Promise<boolean> => {
    release();
    const [warning] = unusual;
    if (warning === undefined && upTo !== 'terms' && upTo.reserve(total)) {
      reserved = total;
      return true;
    }
    const why =
      warning === undefined
        ? `this row costs ${formatAmount(total)}, so the batch would exceed the total that you ` +
          'approved.'
        : `${warning}. Pay this row separately to approve the cost.`;
    refusal = new Failure('limit', why, { money: 'Not sent', txnId });
    return false;
  };
  return {
    release,
    refusal: () => refusal,
    consent: upTo === 'terms' ? { by: 'yes' as const } : { by: 'batch' as const, ask },
  };
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

export interface BatchTally {
  /** The row counts. A row that ended as `error` counts as unknown, a row not paid as failed. */
  readonly results: Readonly<Record<'paid' | 'inFlight' | 'unknown' | 'failed', number>>;
  /** The number of rows whose failure does not tell what happened to the money. */
  readonly open: number;
  /** The number of rows that an earlier run paid or submitted. */
  readonly before: number;
  /** The total debit of this run by currency, including fees. */
  readonly spent: readonly Money[];
  /** The kinds of the rows' failures. */
  readonly kinds: ReadonlySet<FailureKind>;
}

export const emptyTally: BatchTally = {
  results: { paid: 0, inFlight: 0, unknown: 0, failed: 0 },
  open: 0,
  before: 0,
  spent: [],
  kinds: new Set(),
};

const countedAs: Readonly<Partial<Record<RowState, keyof BatchTally['results']>>> = {
  paid: 'paid',
  'in-flight': 'inFlight',
  unknown: 'unknown',
  error: 'unknown',
};

export function tallied({ results, open, before, spent, kinds }: BatchTally, row: Row): BatchTally {
  const { total, failure } = row;
  const isBefore = row.before === true;
  const state = countedAs[row.state] ?? 'failed';
  const leaves = isBefore || state === 'failed' ? undefined : total;
  return {
    results: { ...results, [state]: results[state] + 1 },
    open: open + Number(failure !== undefined && isUnknown(failure)),
    before: before + Number(isBefore),
    spent: leaves === undefined ? spent : sumsOf([...spent, leaves]),
    kinds: failure === undefined ? kinds : new Set(kinds).add(failure.kind),
  };
}

export const doneRows = ({ results }: BatchTally): number =>
  results.paid + results.inFlight + results.unknown + results.failed;

/** Whether this run has submitted a payment. */
export const hasMoved = ({ results, before }: BatchTally): boolean =>
  results.paid + results.inFlight + results.unknown > before;

export const runAgain = {
  hint: 'Run the same command again. It continues the batch and pays no row twice.',
};

/**
 * Returns the failure of an incomplete batch, which is `pending` if the outcome of a row is
 * unknown, or `outcome-unknown` if another run cannot learn it. After an interruption, the failure
 * is `pending` if this run submitted a payment, otherwise `interrupted`. If rows failed, the
 * failure of the batch has the kind of the rows' failures, or `payment-failed` if their kinds
 * differ. If this run submitted a payment, the failure does not promise that nothing was sent.
 * @param complete whether svcpay reached the end of the file
 */
export function failureOf(
  tally: BatchTally,
  rows: number,
  complete: boolean,
  interrupted: boolean,
): Failure | undefined {
  const { results, open, kinds } = tally;
  const of = counted(rows, 'row');
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
  if (interrupted && (!complete || kinds.has('interrupted')))
    return hasMoved(tally)
      ? new Failure(
          'pending',
          `${leftRows(tally, rows)} of ${of}, because you interrupted the batch. ` +
            'The other rows are paid or in flight.',
          { money: 'Not paid', ...runAgain },
        )
      : new Failure('interrupted', 'nothing moved.', { money: 'Interrupted', ...runAgain });
  if (results.failed === 0) return undefined;
  const [only = 'payment-failed', ...others] = kinds;
  const one = others.length > 0 ? 'payment-failed' : only;
  const kind = hasMoved(tally) ? besideSubmitted(one) : one;
  const stopped = complete ? '' : `, and ${rows - doneRows(tally)} not started`;
  return new Failure(kind, `${results.failed} of ${of}${stopped}.`, {
    money: 'Not paid',
    ...runAgain,
  });
}

/** The number of rows that are not paid. */
const leftRows = (tally: BatchTally, rows: number): number =>
  rows - doneRows(tally) + tally.results.failed;

/**
 * Converts an error that ended the batch, such as an unreadable file, to a failure that takes
 * submitted rows into account.
 */
export const faultFailure = (fault: unknown, tally: BatchTally, rows: number): Failure =>
  new Failure(
    'pending',
    `${leftRows(tally, rows)} of ${counted(rows, 'row')}, because the batch stopped: ` +
      messageOf(fault),
    { money: 'Not paid', ...runAgain, cause: fault },
  );
