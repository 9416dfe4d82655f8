// The first pass over a batch, before svcpay pays any row: checks every row, adds up the totals,
// and calculates the costs, from one quote for all rows with the same wallet, currency and method.
import Big from 'big.js';
import { formatAmount, type Money, decimalsOf } from '../../formats/amount.js';
import { dayAndMonth } from '../../formats/calendar.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import { parseReference } from '../../formats/reference.js';
import { grouped } from '../../formats/text.js';
import type { Spend } from '../../store/journal/journal.js';
import {
  alikeRef,
  isReferenceFree,
  latest,
  mayHavePaid,
  status,
  type Payment,
} from '../../store/journal/payment.js';
import type { Limits } from '../../store/profile/profiles.js';
import { checkDestination, checkSpend, spentIfLimited, knownAmounts } from '../limits/limits.js';
import { orderOf } from '../instruction/order.js';
import { checkNotExpired, decodeOrder } from '../order/orders.js';
import { differentPayment } from '../payment/outcomes.js';
import { isPaymentOf } from '../payment/pay.js';
import { readRunName, latestRun, sumsOf, underName, type Row, type RowStanding } from './row.js';
import {
  CellFailure,
  cellFailure,
  inColumn,
  isProblem,
  problemOf,
  type BatchRow,
  type Problem,
} from './file.js';
import type { Quote } from '../quote/quote.js';

/** The total of the rows that one wallet pays and whose amounts have the same currency. */
export interface BatchTotal {
  readonly from: string;
  readonly ccy: string;
  readonly rows: number;
  readonly amount: Big;
}

export interface BatchCheck extends ReadBatch {
  /** The number of rows in the file, with the invalid rows. */
  readonly count: number;
  /** The rows that this run pays. svcpay shows them before it asks. */
  readonly toPay: readonly Row[];
  /**
   * The latest earlier run that contains a row of this file. The current run continues that run.
   */
  readonly run: string | undefined;
  /** The columns that occur in at least one row. */
  readonly columns: readonly string[];
  /** The totals of the unpaid rows, without fees. */
  readonly totals: readonly BatchTotal[];
}

/**
 * The age in ms after which a paid row may be meant as a new payment. Under one batch name, svcpay
 * pays identical rows without references only once.
 */
const sameRunMs = 7 * 86_400_000;

/**
 * The rows that were paid so long ago that they may be meant as new payments: rows without a
 * reference, and all rows of a file of which every row was paid.
 */
export function staleRows({ rows }: BatchCheck, now: number): Row[] {
  const old = rows.filter(
    ({ standing, payment }) => standing === 'settled' && paidAt(payment) < now - sameRunMs,
  );
  const isWhole = old.length === rows.length;
  return old.filter(
    ({ isNamed, instruction }) => (isWhole || !isNamed) && instruction.once === null,
  );
}

/** When the row was submitted, in epoch ms. */
export const paidAt = (payment: Payment | undefined): number =>
  Math.max(
    0,
    ...(payment?.attempts ?? []).map((each) => each.submittedAt ?? payment?.openedAt ?? 0),
  );

export interface Lookup {
  /** The name of the run, which is empty for a run without a name. */
  readonly name: string;
  /**
   * Finds the payments whose reference equals a given reference, apart from letter case and blanks.
   */
  readonly paymentsUnder: (refs: readonly string[]) => Promise<readonly Payment[]>;
}

export interface CheckDeps<R extends BatchRow = BatchRow> extends Lookup {
  readonly plan: (row: R) => Promise<Row>;
  /**
   * Checks the destination of an unpaid row. Throws Failure for a destination that must not be
   * paid, such as the account's own address.
   */
  readonly checkPayee: (row: Row) => Promise<void>;
  /** The spending that counts towards daily limits. */
  readonly spent: () => Promise<readonly Spend[]>;
  readonly limits: Limits;
  /** Whether a person asks for further attempts of failed and unknown rows. */
  readonly retry: boolean;
  readonly now: () => number;
}

/** The rows of a file, with the problems of the rows that cannot be read. */
export interface ReadBatch {
  readonly rows: readonly Row[];
  readonly problems: readonly Problem[];
  /** Whether most references of the file were paid by another run, such as employee numbers. */
  readonly isRepeated: boolean;
}

/** Turns each row into a payment, and refuses a row that repeats an earlier row of the file. */
export async function readBatch<R extends BatchRow>(
  source: readonly (R | Problem)[],
  plan: (row: R) => Promise<Row>,
  lookup: Lookup,
): Promise<ReadBatch> {
  const read = await onEach(source, plan);
  const { found, isRepeated } = await inJournal(read.rows, lookup);
  const seen: EarlierRows = new Map();
  const { rows, problems } = await onEach(found, async (row) => {
    inColumn('ref', () => parseReference(row.ref));
    checkNew(row, seen);
    return row;
  });
  if (source.length === 0)
    problems.push({ line: 0, kind: 'usage', message: 'The file has no rows to pay.' });
  return { rows, problems: [...read.problems, ...problems], isRepeated };
}

/** Checks the whole batch. Does not throw for an invalid row, but lists all problems. */
export async function checkBatch<R extends BatchRow>(
  source: readonly (R | Problem)[],
  deps: CheckDeps<R>,
): Promise<BatchCheck> {
  const read = await readBatch(source, deps.plan, deps);
  const { rows, problems } = await onEach(read.rows, async (row) => {
    const { order: _order, ...kept } = row;
    return { ...kept, standing: await standing(row, deps) };
  });
  problems.push(...read.problems);
  const toPay = rows.filter((row) => row.standing !== 'settled');
  const totals = totalsOf(toPay);
  if (problems.length === 0) problems.push(...(await problemsOfDay(totals, deps)));
  const columns = source.flatMap((row) => (isProblem(row) ? [] : Object.keys(row.cells)));
  return {
    ...read,
    count: source.length,
    rows,
    toPay,
    run: latestRun(rows),
    columns: [...new Set(columns)],
    problems,
    totals,
  };
}

/** Works on each row in turn, and separates the problems of refused rows. */
export async function onEach<R extends { readonly line: number }>(
  source: readonly (R | Problem)[],
  work: (row: R) => Promise<Row>,
): Promise<{ readonly rows: Row[]; readonly problems: Problem[] }> {
  const [rows, problems]: [Row[], Problem[]] = [[], []];
  for (const row of source) {
    const done = isProblem(row) ? row : await orProblem(row.line, () => work(row));
    if (isProblem(done)) problems.push(done);
    else rows.push(done);
  }
  return { rows, problems };
}

/**
 * Fills the payments of the rows. If most references of the rows were paid by runs with other
 * names, as employee numbers are each month, the name of this run becomes part of each reference.
 */
export async function inJournal(
  rows: readonly Row[],
  lookup: Lookup,
): Promise<{ readonly found: readonly Row[]; readonly isRepeated: boolean }> {
  const found = await withPayments(rows, lookup);
  const isOfOther = ({ payment }: Row): boolean =>
    payment?.batch !== undefined &&
    mayHavePaid(payment) &&
    readRunName(payment.batch.run).name !== lookup.name;
  const named = found.filter(({ isNamed }) => isNamed);
  const others = named.filter(isOfOther).length;
  const isRepeated = others > 0 && others * 2 >= named.length;
  if (!isRepeated || lookup.name === '') return { found, isRepeated };
  const renamed = rows.map((row) => underName(row, lookup.name));
  return { found: await withPayments(renamed, lookup), isRepeated };
}

async function withPayments(rows: readonly Row[], { paymentsUnder }: Lookup): Promise<Row[]> {
  const found = await paymentsUnder(rows.map(({ ref }) => ref));
  const byRef = grouped(found, ({ ref }) => alikeRef(ref));
  return rows.map((row) => {
    const payments = byRef.get(alikeRef(row.ref)) ?? [];
    const payment = payments.find(({ ref }) => ref === row.ref);
    const similar = payment === undefined ? payments.find(mayHavePaid) : undefined;
    return { ...row, payment, similar };
  });
}

/**
 * The rows of the file that svcpay has already checked, by their references in lower case and
 * without blanks, and by their invoices.
 */
type EarlierRows = Map<string, Pick<Row, 'line' | 'ref'>>;

/** Throws Failure `usage` for a row that repeats an earlier row of the file. */
function checkNew({ line, ref, isNamed, instruction: { once } }: Row, seen: EarlierRows): void {
  const keys = [alikeRef(ref), ...(once === null ? [] : [`the invoice ${once}`])];
  const [sameRef, sameInvoice] = keys.map((key) => seen.get(key));
  if (sameInvoice !== undefined)
    throw cellFailure('to', `This invoice is already on line ${sameInvoice.line}.`);
  if (sameRef !== undefined) {
    const isEqual = sameRef.ref === ref;
    throw cellFailure(
      'ref',
      isEqual && !isNamed
        ? `This row has the same destination and amount as line ${sameRef.line}. ` +
            'To pay both rows, give each row a different ref.'
        : `The reference ${ref} ${isEqual ? 'is already used' : confusable(sameRef.ref)} ` +
            `on line ${sameRef.line}.`,
    );
  }
  for (const key of keys) seen.set(key, { line, ref });
}

const confusable = (ref: string): string => `differs only in case or blanks from ${ref}`;

type StandingDeps = Omit<CheckDeps, 'plan'>;

/** What an earlier run did with the row. Throws Failure for a row that cannot be paid. */
async function standing(row: Row, deps: StandingDeps): Promise<RowStanding> {
  const { similar } = row;
  if (similar !== undefined)
    throw cellFailure(
      'ref',
      `The reference ${row.ref} ${confusable(similar.ref)}, which was paid on ` +
        `${dayAndMonth(paidAt(similar), deps.now())}.`,
    );
  const found = row.payment ? standingOf(row, row.payment, deps.retry) : 'to pay';
  if (found !== 'settled') await checkPayable(row, deps);
  return found;
}

/** Throws Failure `usage` if the row's reference belongs to a different payment. */
function standingOf({ instruction }: Row, payment: Payment, retry: boolean): RowStanding {
  const isSame =
    isPaymentOf(payment, instruction) ||
    decodeOrder(latest(payment).request).isImported === true ||
    isReferenceFree(payment);
  if (!isSame) throw new CellFailure('ref', differentPayment(payment, instruction));
  if (retry && status(payment) === 'unknown') return 'unknown';
  return mayHavePaid(payment) ? 'settled' : 'to pay';
}

async function orProblem<T>(line: number, action: () => Promise<T>): Promise<T | Problem> {
  try {
    return await action();
  } catch (error) {
    return problemOf(line, error);
  }
}

async function checkPayable(row: Row, { checkPayee, limits, now }: StandingDeps): Promise<void> {
  const order = row.order ?? orderOf(row.instruction, { now: now() });
  const place = order.kind === 'payout' ? 'acct_num' : 'to';
  inColumn(place, () => checkNotExpired(order, now()));
  inColumn(place, () => checkDestination(limits, order));
  inColumn('amount', () => checkSpend(limits, knownAmounts(order), []));
  await checkPayee(row);
}

/** Adds up the amounts of the rows by wallet and currency. */
export const totalsOf = (rows: readonly Pick<Row, 'from' | 'ccy' | 'amount'>[]): BatchTotal[] =>
  [...grouped(rows, ({ from, ccy }) => `${from} ${ccy}`).values()].flatMap((group) => {
    const [first] = group;
    const amount = group.reduce((sum, row) => sum.plus(row.amount), new Big(0));
    return first === undefined
      ? []
      : { from: first.from, ccy: first.ccy, rows: group.length, amount };
  });

/** Checks the sum of all rows in each currency against the remaining daily limit. */
async function problemsOfDay(
  totals: readonly BatchTotal[],
  { limits, spent }: Pick<CheckDeps, 'limits' | 'spent'>,
): Promise<Problem[]> {
  const before = await spentIfLimited(limits, spent);
  const checked = sumsOf(totals.map(({ ccy, amount }) => ({ ccy, value: amount }))).map((sum) =>
    orProblem(0, async () => checkSpend({ ...limits, perPayment: {} }, [sum], before)),
  );
  return (await Promise.all(checked)).flatMap((problem) => problem ?? []);
}

/**
 * The spendable balance of a wallet, null if the account has no such wallet, or undefined if the
 * service does not report the balance.
 */
export type Available = (ccy: string) => Money | null | undefined;

/** Describes each wallet whose balance does not cover the known amounts of the rows. */
export function shortOf(totals: readonly BatchTotal[], available: Available): string[] {
  const wallets = [...new Set(totals.map(({ from }) => from))];
  return wallets.flatMap((ccy) => {
    const own = totals.find((total) => total.from === ccy && total.ccy === ccy);
    const value = own?.amount ?? new Big(0);
    const taken = value.eq(0) ? 'money' : `${formatAmount({ ccy, value })} and fees`;
    return shortText({ ccy, value }, taken, available);
  });
}

function shortText({ ccy, value }: Money, taken: string, available: Available): string[] {
  const have = available(ccy);
  if (have === null) return [`You have no ${ccy} wallet.`];
  if (have === undefined || (have.value.gt(0) && have.value.gte(value))) return [];
  return [`The batch takes ${taken} from the ${ccy} wallet, but you have ${formatAmount(have)}.`];
}

/** The approximate debit of one wallet. */
export interface Cost {
  readonly ccy: string;
  /** The total debit of the wallet, including fees. */
  readonly total: Big;
  readonly fees: Big;
  /** The highest debit that a person approves together with the total. */
  readonly most: Big;
}

/** The parts of a quote from which the costs of the rows like it follow. */
export type QuotedCost = Pick<Quote, 'total' | 'serviceFee' | 'networkFee'>;

export interface Priced {
  /** The costs by wallet, or an empty list if the service quotes no row. */
  readonly costs: readonly Cost[];
  /** The given rows, each with its cost if the service quoted a row like it. */
  readonly rows: readonly Row[];
  /** The rows that the service did not quote, with the reasons. */
  readonly refused: readonly Row[];
}

/** Kinds of failure that end the quoting, because they are temporary or concern the whole batch. */
const ending: ReadonlySet<FailureKind> = new Set([
  'temporary',
  'authentication',
  'interrupted',
  'unexpected',
]);

/** The number of rows of a kind for which svcpay requests a quote until the service quotes one. */
const mostTried = 3;

/** Whether one quote gives the cost of both rows. */
const kindOf = ({ from, ccy, method, kind }: Row): string => `${from} ${ccy} ${method} ${kind}`;

/**
 * Quotes one row of each kind. The result's `refused` contains the refusals of single rows. Throws
 * errors that concern all rows, such as a network failure.
 */
export async function priceRows(
  rows: readonly Row[],
  quote: (row: Row) => Promise<QuotedCost>,
): Promise<Priced> {
  const refused: Row[] = [];
  const priceKind = async (group: readonly Row[]): Promise<Row[]> => {
    for (const row of group.slice(0, mostTried)) {
      try {
        const quoted = await quote(row);
        return group.map((each) => ({ ...each, cost: costOf(each, row, quoted) }));
      } catch (error) {
        if (!(error instanceof Failure) || ending.has(error.kind)) throw error;
        refused.push({ ...row, failure: error });
      }
    }
    return [...group];
  };
  const kinds = [...grouped(rows, kindOf).values()];
  const priced = (await Promise.all(kinds.map(priceKind))).flat();
  return {
    costs: costsOf(priced),
    rows: priced.toSorted((a, b) => a.line - b.line),
    refused: refused.toSorted((a, b) => a.line - b.line),
  };
}

/** The cost of a row: amount and service fee in proportion, and the same network fee. */
function costOf(
  row: Row,
  like: Row,
  { total, serviceFee, networkFee }: QuotedCost,
): Required<Row>['cost'] {
  const { ccy } = total;
  const ratio = new Big(like.amount).eq(0) ? new Big(1) : new Big(row.amount).div(like.amount);
  const fees = serviceFee.value.times(ratio).plus(networkFee.value);
  const amount = total.value.minus(serviceFee.value).minus(networkFee.value);
  const up = (value: Big): Money => ({ ccy, value: value.round(decimalsOf(ccy), Big.roundUp) });
  return { total: up(amount.times(ratio).plus(fees)), fees: up(fees) };
}

/** The share of the total by which rates may change until the last row is paid. */
const margin = '0.02';

function costsOf(rows: readonly Row[]): Cost[] {
  const costs = rows.flatMap(({ cost }) => cost ?? []);
  const allFees = sumsOf(costs.map((cost) => cost.fees));
  return sumsOf(costs.map((cost) => cost.total)).map(({ ccy, value: total }) => {
    const fees = allFees.find((each) => each.ccy === ccy)?.value ?? new Big(0);
    const most = total.plus(fees).plus(total.times(margin)).round(decimalsOf(ccy), Big.roundUp);
    return { ccy, total, fees, most };
  });
}

/**
 * Returns Failure `limit` if the quoted total exceeds the balance of a wallet, or if a row exceeds
 * a limit.
 */
export function unpayable(
  { costs, refused }: Pick<Priced, 'costs' | 'refused'>,
  available: Available,
): Failure | undefined {
  const short = costs.flatMap(({ ccy, total: value }) => {
    const taken = `about ${formatAmount({ ccy, value })} including fees`;
    return shortText({ ccy, value }, taken, available);
  });
  if (short.length > 0) return tooPoor(short);
  const overLimit = refused.find(({ failure }) => failure?.kind === 'limit');
  return overLimit && refusedRow(overLimit);
}

/** Converts the refusal of a row to the refusal of the batch. */
export const refusedRow = ({ line, failure }: Row): Failure =>
  new Failure(failure?.kind ?? 'refused', `line ${line}: ${failure?.message}`, {
    money: 'Nothing was sent',
    hint: failure?.hint,
    next: failure?.next,
  });

export const tooPoor = (short: readonly string[]): Failure =>
  new Failure('limit', short.join(' '), { money: 'Nothing was sent', next: { do: 'see-wallets' } });

/**
 * Checks, while svcpay pays a batch, that the totals of the rows do not exceed the approved totals.
 */
export class Ceiling {
  readonly #left: Map<string, Big>;
  /** The reserved totals by the lines of their rows. */
  readonly #reserved = new Map<number, Money>();
  /** Whether a row was refused because too little was left. */
  isExceeded = false;

  constructor(most: readonly Money[]) {
    this.#left = new Map(most.map(({ ccy, value }) => [ccy, value]));
  }

  /** Reserves a row's total within the approved total, or returns false if too little is left. */
  reserve(line: number, total: Money): boolean {
    const { ccy, value } = total;
    const left = this.#left.get(ccy);
    if (left === undefined || value.gt(left)) {
      this.isExceeded = true;
      return false;
    }
    this.#left.set(ccy, left.minus(value));
    this.#reserved.set(line, total);
    return true;
  }

  /** Makes the reserved total of an unpaid row available to other rows. */
  release(line: number): void {
    const total = this.#reserved.get(line);
    if (total === undefined) return;
    this.#left.set(total.ccy, total.value.plus(this.#left.get(total.ccy) ?? 0));
    this.#reserved.delete(line);
  }
}
