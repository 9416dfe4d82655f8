// The first pass over a batch: reads and checks every row before svcpay pays any row, and adds up
// the totals.
import Big from 'big.js';
import { formatAmount, type Money } from '../../formats/amount.js';
import { dayAndMonth } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import type { Spend } from '../../store/journal/journal.js';
import {
  alikeRef,
  isReferenceFree,
  latest,
  mayHavePaid,
  status,
  type Payment,
  type PaymentStatus,
} from '../../store/journal/payment.js';
import type { Limits } from '../../store/profile/profiles.js';
import { checkDestination, checkSpend, knownAmounts } from '../limits/limits.js';
import { digestOf } from '../instruction/instruction.js';
import { checkNotExpired, decodeOrder } from '../order/orders.js';
import { differentPayment } from '../payment/outcomes.js';
import { mostQuoted, rowAmount, type BatchTotal } from './cost.js';
import { payeeRow, type PayeeRow, type RowStanding } from './payee.js';
import type { PlannedRow } from './plan.js';
import {
  CellFailure,
  inColumn,
  isProblem,
  problemOf,
  type BatchRow,
  type Problem,
} from './rows.js';

export interface BatchCheck {
  readonly rows: number;
  /** The number of rows that an earlier run paid or submitted. */
  readonly settled: number;
  /** The lines of the rows that this run pays. svcpay shows them before it asks. */
  readonly toPay: ReadonlySet<number>;
  readonly earlier: readonly SettledRow[];
  /**
   * The latest earlier run that contains a row of this file. The current run continues that run.
   */
  readonly run: string | undefined;
  readonly payees: readonly PayeeRow[];
  /** The columns that occur in at least one row. */
  readonly columns: readonly string[];
  readonly problems: readonly Problem[];
  /** The totals of the unpaid rows, without fees. */
  readonly totals: readonly BatchTotal[];
  /** The unpaid rows, or undefined if there are too many to quote each row. */
  readonly quotable: readonly PlannedRow[] | undefined;
}

/** A row that an earlier run paid or submitted. */
export interface SettledRow {
  readonly line: number;
  /**
   * Whether svcpay derived the reference from the payment, so that an identical row next month has
   * the same reference.
   */
  readonly isDerived: boolean;
  /** When the row was submitted, in epoch ms. */
  readonly at: number;
}

/**
 * The age in ms after which a paid row without a reference may be meant as a new payment. Under one
 * batch name, svcpay pays identical rows without references only once.
 */
const sameRunMs = 7 * 86_400_000;

/**
 * The rows without a reference that were paid so long ago that they may be meant as new payments.
 */
export const staleRows = ({ earlier }: BatchCheck, now: number): SettledRow[] =>
  earlier.filter(({ isDerived, at }) => isDerived && at < now - sameRunMs);

export interface CheckDeps {
  readonly plan: (row: BatchRow) => Promise<PlannedRow>;
  /**
   * Checks the destination of an unpaid row. Throws Failure for a destination that must not be
   * paid, such as the account's own address.
   */
  readonly vet: (row: PlannedRow) => Promise<void>;
  /**
   * Finds the payments whose reference equals the given reference, apart from letter case and
   * blanks.
   */
  readonly alike: (ref: string) => Promise<readonly Payment[]>;
  /** The spending that counts towards daily limits. */
  readonly spent: () => Promise<readonly Spend[]>;
  readonly limits: Limits;
  /** Whether a person asks for further attempts of failed and unknown rows. */
  readonly retry: boolean;
  readonly now: () => number;
}

/**
 * Checks the whole batch. Does not throw for an invalid row, but lists all problems in `problems`,
 * in line order.
 */
export async function checkBatch(
  rows: AsyncIterable<BatchRow | Problem>,
  deps: CheckDeps,
): Promise<BatchCheck> {
  const problems: Problem[] = [];
  const seen: EarlierRows = { lineOfRef: new Map(), lineOfInvoice: new Map() };
  const totals = new Map<string, BatchTotal>();
  const quotable: PlannedRow[] = [];
  const toPay = new Set<number>();
  const earlier: SettledRow[] = [];
  const payees: PayeeRow[] = [];
  const columns = new Set<string>();
  let count = 0;
  let run: string | undefined;
  for await (const row of rows) {
    count += 1;
    if (isProblem(row)) {
      problems.push(row);
      continue;
    }
    for (const name of Object.keys(row.cells)) columns.add(name);
    const planned = await orProblem(row.line, async () => {
      const plan = await deps.plan(row);
      checkNew(plan, seen);
      return plan;
    });
    if (isProblem(planned)) {
      problems.push(planned);
      continue;
    }
    // A failure to read the journal ends the check of the batch, because such a failure is not a
    // problem of the row.
    const payments = await deps.alike(planned.ref);
    const payment = payments.find(({ ref }) => ref === planned.ref);
    const state = await orProblem(row.line, () => stateOf(planned, payment, payments, deps));
    if (isProblem(state)) {
      problems.push(state);
      continue;
    }
    run = latestRun(run, payment?.batch?.run);
    payees.push(payeeRow(planned, state.standing));
    if (payment !== undefined && state.standing === 'settled')
      earlier.push(settledRow(planned, payment));
    else {
      add(totals, planned);
      toPay.add(planned.line);
      if (quotable.length <= mostQuoted) quotable.push(planned);
    }
  }
  const all = [...totals.values()];
  if (problems.length === 0) problems.push(...(await problemsOfDay(all, deps)));
  if (count === 0)
    problems.push({ line: 0, kind: 'usage', message: 'The file has no rows to pay.' });
  return {
    rows: count,
    settled: earlier.length,
    toPay,
    earlier,
    run,
    payees,
    columns: [...columns],
    problems,
    totals: all,
    quotable: quotable.length > mostQuoted ? undefined : quotable,
  };
}

const latestRun = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one;

const settledRow = ({ line, named, order }: PlannedRow, payment: Payment): SettledRow => ({
  line,
  isDerived: !named && order.idempotencyKey === null,
  at: paidAt(payment),
});

const paidAt = ({ attempts, openedAt }: Payment): number =>
  Math.max(...attempts.map(({ submittedAt }) => submittedAt ?? openedAt));

interface EarlierRows {
  /**
   * The rows of the file that svcpay has already checked. The key is the reference of a row, in
   * lower case and without blanks.
   */
  readonly lineOfRef: Map<string, Pick<PlannedRow, 'line' | 'ref'>>;
  readonly lineOfInvoice: Map<string, number>;
}

/** Throws Failure `usage` for a row that repeats an earlier row of the file. */
function checkNew(
  { line, ref, named, order }: PlannedRow,
  { lineOfRef, lineOfInvoice }: EarlierRows,
): void {
  const { idempotencyKey } = order;
  const sameRef = lineOfRef.get(alikeRef(ref));
  const sameInvoice = idempotencyKey === null ? undefined : lineOfInvoice.get(idempotencyKey);
  if (sameInvoice !== undefined)
    throw usage('to', `This invoice is already on line ${sameInvoice}.`);
  if (sameRef !== undefined && sameRef.ref !== ref)
    throw usage('ref', `The reference ${ref} ${alike(sameRef.ref)} on line ${sameRef.line}.`);
  if (sameRef !== undefined) {
    throw usage(
      'ref',
      named
        ? `The reference ${ref} is already used on line ${sameRef.line}.`
        : `This row has the same destination and amount as line ${sameRef.line}. ` +
            'To pay both rows, give each row a different ref.',
    );
  }
  lineOfRef.set(alikeRef(ref), { line, ref });
  if (idempotencyKey !== null) lineOfInvoice.set(idempotencyKey, line);
}

const alike = (ref: string): string => `differs only in case or blanks from ${ref}`;

const usage = (column: string, message: string): Failure =>
  new CellFailure(column, new Failure('usage', message));

/**
 * What an earlier run did with the row. Throws Failure for a row that cannot be paid.
 */
async function stateOf(
  row: PlannedRow,
  payment: Payment | undefined,
  payments: readonly Payment[],
  deps: CheckDeps,
): Promise<{ standing: RowStanding }> {
  const other = payment === undefined ? payments.find(mayHavePaid) : undefined;
  if (other !== undefined)
    throw usage(
      'ref',
      `The reference ${row.ref} ${alike(other.ref)}, which was paid on ` +
        `${dayAndMonth(paidAt(other), deps.now())}.`,
    );
  const standing = payment === undefined ? 'to pay' : standingOf(row, payment, deps);
  if (standing !== 'settled') await checkPayable(row, deps);
  return { standing };
}

/**
 * What earlier runs did with the row. Throws Failure `usage` if the row's reference belongs to a
 * different payment.
 */
function standingOf(
  { instruction, order }: PlannedRow,
  payment: Payment,
  { retry }: CheckDeps,
): RowStanding {
  const isImported = decodeOrder(latest(payment).request).isImported === true;
  const isSame =
    payment.digest === digestOf(instruction) ||
    isImported ||
    isReferenceFree(payment) ||
    paysSameInvoice(order, payment);
  if (!isSame) throw new CellFailure('ref', differentPayment(payment, instruction));
  const state = status(payment);
  if (state === 'unknown' && retry) return 'unknown';
  return settledStates.has(state) ? 'settled' : 'to pay';
}

/** The payments that a further run only reports, because money moved or may have moved. */
const settledStates: ReadonlySet<PaymentStatus> = new Set([
  'paid',
  'in-flight',
  'unknown',
  'error',
]);

/**
 * Whether the payment may have paid the row's invoice. The check ignores the destination, because
 * svcpay plans a row on-chain after the invoice in the row's `bitcoin:` URI has expired.
 */
const paysSameInvoice = ({ idempotencyKey }: PlannedRow['order'], payment: Payment): boolean =>
  idempotencyKey !== null && payment.idempotencyKey === idempotencyKey && mayHavePaid(payment);

async function orProblem<T>(line: number, action: () => Promise<T>): Promise<T | Problem> {
  try {
    return await action();
  } catch (error) {
    return problemOf(line, error);
  }
}

async function checkPayable(row: PlannedRow, { vet, limits, now }: CheckDeps): Promise<void> {
  const { order } = row;
  const place = order.kind === 'payout' ? 'acct_num' : 'to';
  inColumn(place, () => checkNotExpired(order, now()));
  inColumn(place, () => checkDestination(limits, order));
  inColumn('amount', () => checkSpend(limits, knownAmounts(order), () => []));
  await vet(row);
}

function add(totals: Map<string, BatchTotal>, row: PlannedRow): void {
  const from = row.order.body.sourceReq.ccy;
  const { ccy, value } = rowAmount(row);
  const key = `${from} ${ccy}`;
  const before = totals.get(key) ?? { from, ccy, rows: 0, amount: new Big(0) };
  totals.set(key, { ...before, rows: before.rows + 1, amount: before.amount.plus(value) });
}

/** Checks the sum of all rows against the remaining daily limit. */
async function problemsOfDay(
  totals: readonly BatchTotal[],
  { limits, spent }: CheckDeps,
): Promise<Problem[]> {
  if (Object.keys(limits.perDay).length === 0) return [];
  const before = await spent();
  return inEachCurrency(totals).flatMap((sum) =>
    tooMuch(sum, { ...limits, perPayment: {} }, before),
  );
}

function tooMuch(sum: Money, limits: Limits, spent: readonly Spend[]): Problem[] {
  try {
    checkSpend(limits, [sum], () => spent);
    return [];
  } catch (error) {
    return [problemOf(0, error)];
  }
}

function inEachCurrency(totals: readonly BatchTotal[]): Money[] {
  const sums = new Map<string, Big>();
  for (const { ccy, amount } of totals) sums.set(ccy, (sums.get(ccy) ?? new Big(0)).plus(amount));
  return [...sums].map(([ccy, value]) => ({ ccy, value }));
}

/** Describes each wallet whose balance does not cover the known amounts of the rows. */
export function shortOf(
  totals: readonly BatchTotal[],
  available: (ccy: string) => Money | undefined,
): string[] {
  const wallets = [...new Set(totals.map(({ from }) => from))];
  return wallets.flatMap((ccy) => {
    const have = available(ccy);
    const value =
      totals.find((total) => total.from === ccy && total.ccy === ccy)?.amount ?? new Big(0);
    if (have === undefined) return [`You have no ${ccy} wallet.`];
    if (have.value.gt(0) && have.value.gte(value)) return [];
    const taken = value.eq(0) ? 'money' : `${formatAmount({ ccy, value })} and fees`;
    return [`The batch takes ${taken} from the ${ccy} wallet, but you have ${formatAmount(have)}.`];
  });
}
