// The first pass over a batch: reads and checks every row before any is paid, and adds up the totals.
import Big from 'big.js';
import { formatAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { Spend } from '../../store/journal/journal.js';
import {
  latest,
  mayHavePaid,
  neverCreated,
  status,
  type Payment,
} from '../../store/journal/payment.js';
import type { Limits } from '../../store/profile/profiles.js';
import { checkDestination, checkSpend, knownAmounts } from '../limits/limits.js';
import { decodeOrder, isForOrder } from '../order/order-record.js';
import { checkNotExpired } from '../order/orders.js';
import { differentPayment } from '../payment/outcomes.js';
import { mostQuoted, rowAmount } from './cost.js';
import type { PlannedRow } from './plan.js';
import { isProblem, problemOf, type BatchRow, type Problem } from './rows.js';

/** The total of the rows from one wallet in one currency. */
export interface BatchTotal {
  readonly from: string;
  readonly ccy: string;
  readonly rows: number;
  readonly amount: Big;
}

export interface BatchCheck {
  readonly rows: number;
  /** Rows that an earlier run paid or submitted. */
  readonly settled: number;
  readonly problems: readonly Problem[];
  /** Totals of the unpaid rows, without fees. */
  readonly totals: readonly BatchTotal[];
  /** The unpaid rows, if they are few enough to be quoted. */
  readonly quotable: readonly PlannedRow[] | undefined;
}

export interface CheckDeps {
  readonly plan: (row: BatchRow) => Promise<PlannedRow>;
  /** Throws Failure for a destination that must not be paid, such as the own address. Called for unpaid rows. */
  readonly vet: (row: PlannedRow) => Promise<void>;
  /** The payment of a reference. */
  readonly find: (ref: string) => Promise<Payment | undefined>;
  /** The spending that counts towards daily limits. */
  readonly spent: () => Promise<readonly Spend[]>;
  readonly limits: Limits;
  readonly now: () => number;
}

/** Never throws for a bad row: `problems` lists all of them in line order. */
export async function checkBatch(
  rows: AsyncIterable<BatchRow | Problem>,
  deps: CheckDeps,
): Promise<BatchCheck> {
  const problems: Problem[] = [];
  const seen: Seen = { lineOfRef: new Map(), lineOfInvoice: new Map() };
  const totals = new Map<string, BatchTotal>();
  const toPay: PlannedRow[] = [];
  let [count, settled] = [0, 0];
  for await (const row of rows) {
    count += 1;
    if (isProblem(row)) {
      problems.push(row);
      continue;
    }
    const planned = await orProblem(row.line, async () => {
      const plan = await deps.plan(row);
      checkNew(plan, seen);
      return plan;
    });
    if (isProblem(planned)) {
      problems.push(planned);
      continue;
    }
    // An unreadable journal is not a problem of the row.
    const payment = await deps.find(planned.ref);
    const state = await orProblem(row.line, () => stateOf(planned, payment, deps));
    if (isProblem(state)) problems.push(state);
    else if (state.settled) settled += 1;
    else {
      add(totals, planned);
      if (toPay.length <= mostQuoted) toPay.push(planned);
    }
  }
  const all = [...totals.values()];
  if (problems.length === 0) problems.push(...(await problemsOfDay(all, deps)));
  if (count === 0)
    problems.push({ line: 0, kind: 'usage', message: 'The file has no rows to pay.' });
  return {
    rows: count,
    settled,
    problems,
    totals: all,
    quotable: toPay.length > mostQuoted ? undefined : toPay,
  };
}

interface Seen {
  readonly lineOfRef: Map<string, number>;
  readonly lineOfInvoice: Map<string, number>;
}

/** Throws Failure `usage` for a row that repeats an earlier one. */
function checkNew(
  { line, ref, named, order }: PlannedRow,
  { lineOfRef, lineOfInvoice }: Seen,
): void {
  const { idempotencyKey } = order;
  const sameRef = lineOfRef.get(ref);
  const sameInvoice = idempotencyKey === null ? undefined : lineOfInvoice.get(idempotencyKey);
  if (sameInvoice !== undefined) throw usage(`This invoice is already on line ${sameInvoice}.`);
  if (sameRef !== undefined) {
    throw usage(
      named
        ? `The reference ${ref} is already used on line ${sameRef}.`
        : `This row equals line ${sameRef}. To pay both, give each its own ref.`,
    );
  }
  lineOfRef.set(ref, line);
  if (idempotencyKey !== null) lineOfInvoice.set(idempotencyKey, line);
}

const usage = (message: string): Failure => new Failure('usage', message);

/** Whether an earlier run has paid or submitted it. Throws Failure for a row that cannot be paid. */
async function stateOf(
  row: PlannedRow,
  payment: Payment | undefined,
  deps: CheckDeps,
): Promise<{ settled: boolean }> {
  const settled = payment?.ref === row.ref && isSettled(row, payment);
  if (!settled) await checkPayable(row, deps);
  return { settled };
}

/** Throws Failure `usage` for a reference that belongs to a different payment. */
function isSettled({ ref, order }: PlannedRow, payment: Payment): boolean {
  if (paysSameInvoice(order, payment)) return true;
  const mayChange = neverCreated(payment) || decodeOrder(payment.request).isImported === true;
  if (!isForOrder(payment, order) && !mayChange) throw differentPayment(ref, latest(payment).txnId);
  return ['paid', 'in-flight', 'unknown'].includes(status(payment));
}

/** After its invoice has expired, a bitcoin: URI is planned on-chain, although the invoice was paid. */
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
  checkNotExpired(order, now());
  checkDestination(limits, order);
  checkSpend(limits, knownAmounts(order), () => []);
  await vet(row);
}

function add(totals: Map<string, BatchTotal>, row: PlannedRow): void {
  const from = row.order.body.sourceReq.ccy;
  const { ccy, value } = rowAmount(row);
  const key = `${from} ${ccy}`;
  const before = totals.get(key) ?? { from, ccy, rows: 0, amount: new Big(0) };
  totals.set(key, { ...before, rows: before.rows + 1, amount: before.amount.plus(value) });
}

/** Checks the sum of all rows against the rest of the daily limit. */
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

/** Describes the wallets that cannot cover the known amounts. */
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
    const needed = value.eq(0)
      ? 'Something is'
      : `${formatAmount({ ccy, value })} and the fees are`;
    return [`${needed} needed from the ${ccy} wallet, and you have ${formatAmount(have)}.`];
  });
}
