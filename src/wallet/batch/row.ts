// A row of a batch: one record that reading, checking, quoting and paying fill column by column.
// Also the runs that the journal has, with the rows that they paid.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { fixed, type Money, fromWire } from '../../formats/amount.js';
import { type Failure, invalid } from '../../formats/failure.js';
import { folded, grouped } from '../../formats/text.js';
import {
  invoiceReference,
  latest,
  type BatchMark,
  type Payment,
  type PaymentStatus,
  type Attempt,
  decisive,
  status,
} from '../../store/journal/payment.js';
import { digestOf, instructionOf, type Instruction, isShared } from '../instruction/instruction.js';
import { needOf, orderOf } from '../instruction/order.js';
import { knownAmounts } from '../limits/limits.js';
import { decodeOrder, type Order } from '../order/orders.js';
import { payeeOf } from '../payout/methods.js';
import Big from 'big.js';
import type { ListedTransaction } from '../../api/types.js';
import { hasLapsed, isFinal, isQuoted, movedNothing } from '../../formats/states.js';
import { reported } from '../payment/apply.js';
import type { Journal } from '../../store/journal/journal.js';

const paidColumns = {
  line: v.number(),
  ref: v.string(),
  /** The payee's name in the file or the address book. */
  name: v.nullable(v.string()),
  /** The account of the payee, such as an address, an account number or the node of an invoice. */
  account: v.string(),
  /** The destination keys of the payee. */
  keys: v.array(v.string()),
  /** The name of the account's holder, for a payout. */
  holder: v.nullable(v.string()),
  /** The country of the recipient, for a payout. */
  country: v.nullable(v.string()),
  institution: v.nullable(v.string()),
  institutionName: v.nullable(v.string()),
  /** The wallet that pays. */
  from: v.string(),
  ccy: v.string(),
  amount: v.string(),
};
const writtenSchema = v.pipe(v.string(), v.parseJson(), v.object(paidColumns));

/** The columns of a row that the journal stores with its payment. */
export type PaidRow = v.InferOutput<typeof writtenSchema>;

/**
 * What an earlier run did with a row. A `settled` row is paid, in flight, or has an outcome that
 * only a person can find out; this run only reports it. An `unknown` row is paid again, because a
 * person asked for `--retry`, although it may have been paid.
 */
export type RowStanding = 'settled' | 'unknown' | 'to pay';

/**
 * The state of a row: the status of its payment, or `not-started` without a payment. A row is
 * `returned` if the journal records it as paid, but the service now reports that no money moved. A
 * row is `underpaid` if less money arrived than the order requested.
 */
export type RowState = PaymentStatus | 'returned' | 'underpaid' | 'not-started';

/** The outcomes of rows that debited nothing. */
export const unpaidOutcomes: ReadonlySet<string> = new Set([
  'open',
  'failed',
  'abandoned',
  'not-started',
]);

export interface Row extends PaidRow {
  // Filled by reading the row:
  /** Whether the file contains the reference, which svcpay otherwise derives from the payment. */
  readonly isNamed: boolean;
  readonly instruction: Instruction;
  /** The order of the row if it were paid now. A checked row lacks it, because it takes memory. */
  readonly order?: Order;
  /** The destination, as the file states it. */
  readonly to: string;
  /** The amount, as the file states it. */
  readonly written: string;
  /**
   * Whether a payment of this method settles only after hours or days. By default, svcpay does not
   * wait for the settlement of a slow payment.
   */
  readonly isSlow: boolean;
  /** The cells of the line, for the result file. */
  readonly cells: Readonly<Record<string, string>>;
  /** The kind of the order, such as `send lnurl`. */
  readonly kind: string;
  readonly method: string;
  /** The digest of the instruction. */
  readonly digest: string;
  /** A digest that is the same for rows that differ only in their references. */
  readonly content: string;
  // Filled from the journal:
  /** The payment of the row in the journal. */
  readonly payment?: Payment | undefined;
  /** A paid payment under a reference that differs only in letter case or blanks. */
  readonly similar?: Payment | undefined;
  readonly standing: RowStanding;
  // Filled from the quote for this row or a row like it:
  readonly cost?: { readonly total: Money; readonly fees: Money };
  // Filled by paying the row, or by reading what became of its payment:
  readonly state: RowState;
  /** Whether an earlier run submitted the payment. */
  readonly before?: boolean;
  readonly txnId?: string | undefined;
  readonly txnState?: string | undefined;
  /** The debit including fees. */
  readonly total?: Money | undefined;
  /** The time of the settlement in epoch ms. */
  readonly settledAt?: number | undefined;
  /** Why the row is not paid. */
  readonly failure?: Failure | undefined;
}

/** Fills the columns that the instruction and the order decide. */
export function rowOf(
  read: Pick<
    Row,
    'line' | 'ref' | 'isNamed' | 'instruction' | 'to' | 'written' | 'isSlow' | 'cells'
  > & { readonly order: Order },
): Row {
  const { order, instruction } = read;
  const { sourceReq, destReq } = order.body;
  const person = destReq.kyc?.details;
  const bank = order.kind === 'payout' ? payeeOf(order.body) : undefined;
  const name = instruction.name ?? person?.legalFullName ?? bank?.name ?? null;
  const digest = digestOf(instruction);
  const amount = knownAmounts(order)[0];
  return {
    ...read,
    kind: order.kind,
    method: destReq.method,
    name,
    account: bank?.account ?? order.destination,
    keys: [...instruction.keys],
    holder: bank?.name ?? null,
    country: person?.countryCode ?? null,
    institution: bank?.institutionCode ?? null,
    institutionName: bank?.institutionName ?? null,
    from: sourceReq.ccy,
    ccy: amount?.ccy ?? sourceReq.ccy,
    amount: amount === undefined ? '0' : fixed(amount.value),
    digest,
    content: hashOf([digest, instruction.note ?? '', name ?? '']).toString('base64url'),
    standing: 'to pay',
    state: 'not-started',
  };
}

/**
 * Fills the columns of a row that could be paid now. Throws Failure `usage` for an amount that
 * needs rates or a balance, because a batch states exact amounts.
 */
export function plannedRow(
  read: Pick<Row, 'line' | 'ref' | 'isNamed' | 'instruction' | 'to' | 'isSlow'> &
    Partial<Pick<Row, 'cells'>> & { readonly written: string | undefined },
  now: number,
): Row {
  const need = needOf(read.instruction);
  if (need !== undefined)
    throw invalid(
      need === 'wallets'
        ? '"all" is not allowed here. Write an amount with its unit.'
        : 'The amount is not in the currency that arrives. Write an amount in bitcoin.',
    );
  const order = orderOf(read.instruction, { now });
  return rowOf({ cells: {}, ...read, written: read.written ?? amountIn(order), order });
}

const hashOf = (parts: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(parts)).digest();

/** The amount that the destination itself contains, such as the amount of an invoice. */
const amountIn = ({ receives }: Order): string =>
  receives === undefined ? '' : `${fixed(receives.value)}${receives.ccy.toLowerCase()}`;

/** The batch run and the row that the journal stores with a payment. */
export const markOf = (run: string, row: Row): BatchMark => ({
  run,
  row: JSON.stringify(row, Object.keys(paidColumns)),
});

/**
 * Reads a row from the journal, or returns undefined for a row in the format of a different
 * version.
 */
export function readPaidRow(text: string): PaidRow | undefined {
  const read = v.safeParse(writtenSchema, text);
  return read.success ? read.output : undefined;
}

/** The row of a payment, or undefined for a row in the format of a different version. */
export function rowOfPayment(payment: Payment): Row | undefined {
  const paid = readPaidRow(payment.batch?.row ?? '');
  if (paid === undefined) return undefined;
  const row = rowOf({
    ...paid,
    isNamed: true,
    instruction: instructionOf(payment),
    order: decodeOrder(latest(payment).request),
    to: paid.account,
    written: `${paid.amount}${paid.ccy.toLowerCase()}`,
    isSlow: false,
    cells: {},
  });
  return { ...row, ...paid, payment };
}

/**
 * A key that all rows to the same account share, or undefined for an invoice, because many payees
 * may receive at one node.
 */
export const accountKey = ({ keys }: PaidRow): string | undefined =>
  keys.find((key) => !isShared(key));

/** A key that all rows of the same payee share: the name if there is one, otherwise the account. */
export const payeeKey = (row: PaidRow): string | undefined => {
  const account = accountKey(row);
  if (row.name !== null) return `name ${folded(row.name)}`;
  return account && `account ${account}`;
};

/** The payee as shown on a screen. */
export const payeeName = ({ name, account, keys }: PaidRow): string =>
  name ?? (keys.every(isShared) ? 'an invoice' : account);

/**
 * Derives the reference for a row whose reference cell is empty from the destination, the amount
 * and the name of the batch. The path of the file and the order of its rows do not change the
 * reference, so svcpay pays no row twice from a file that was moved, sorted, fixed or piped in
 * again. The note, the paying wallet and the spelling of the amount do not change the
 * derived reference. For a row with an invoice, which can be paid only once, svcpay derives the
 * reference from the invoice alone.
 */
export function derivedRef({ keys, once, amount }: Instruction, name: string): string {
  if (once !== null) return invoiceReference(once);
  const asked =
    typeof amount === 'string' ? amount : [amount.ccy, fixed(amount.value), amount.side];
  return `batch-${hashOf([name, keys, asked]).toString('hex').slice(0, 32)}`;
}

/** The row under a reference that the name of its run distinguishes from the same row's last. */
export const underName = (row: Row, name: string): Row =>
  row.isNamed && !row.ref.startsWith(`${name}/`) ? { ...row, ref: `${name}/${row.ref}` } : row;

/** The parts of a transaction that decide the state of its row. */
type Read = Pick<ListedTransaction, 'txnState' | 'destReq'> &
  Partial<Pick<ListedTransaction, 'txnId' | 'sourceReq'>>;

/**
 * Fills the columns of the result, from the payment of the row in the journal.
 * @param txn the row's transaction at the service, or undefined if svcpay did not read it
 */
export function withResult(row: Row, payment: Payment | undefined, txn?: Read): Row {
  const attempt = payment && decisive(payment);
  const state = rowState(payment, txn);
  const settled = Math.max(txn?.sourceReq?.updatedAt ?? 0, txn?.destReq.updatedAt ?? 0);
  return {
    ...row,
    payment,
    state,
    txnId: attempt?.txnId ?? txn?.txnId,
    txnState: txn?.txnState ?? attempt?.txnState ?? undefined,
    total: attempt && totalOf(attempt),
    settledAt: state === 'paid' ? settled || payment?.updatedAt : undefined,
  };
}

const totalOf = ({ approvedTotal: total, spendCcy }: Attempt): Money | undefined =>
  total === null || spendCcy === null ? undefined : { ccy: spendCcy, value: new Big(total) };

export function rowState(payment: Payment | undefined, txn: Read | undefined): RowState {
  if (payment === undefined) return txn === undefined ? 'not-started' : stateAt(txn.txnState);
  const attempt = decisive(payment);
  // The service may report a later state than the journal has.
  const { txnId } = attempt;
  const seen =
    txn === undefined ? attempt : reported(attempt, { txnId: txnId ?? '', txnState: txn.txnState });
  const is = status({ ...payment, attempts: [seen] });
  if (is !== 'paid') return is;
  const isReturned = txn !== undefined && movedNothing(txn.txnState);
  if (isReturned && seen.resolution === null) return 'returned';
  return isUnderpaid(payment, txn) ? 'underpaid' : is;
}

/** The state of a row that only the service knows. */
const stateAt = (txnState: string): RowState => {
  if (txnState === 'completed') return 'paid';
  if (txnState === 'error') return 'error';
  if (isQuoted(txnState) || hasLapsed(txnState)) return 'not-started';
  return isFinal(txnState) ? 'failed' : 'in-flight';
};

/**
 * Whether less money arrived than the order requested. Returns false for an order that deducts the
 * network fees from the requested amount.
 */
function isUnderpaid(payment: Payment, txn: Read | undefined): boolean {
  const settled = txn?.destReq.amtSettled;
  const { receives, body } = decodeOrder(decisive(payment).request);
  if (settled == null || receives === undefined || body.deductNetworkFeesFromDest === true)
    return false;
  return txn?.destReq.ccy === receives.ccy && fromWire(settled).lt(receives.value);
}

/** A run of a batch, with the rows that it paid. */
export interface PastRun {
  /** The name of the run. See `BatchMark`. */
  readonly run: string;
  readonly rows: readonly PaidRow[];
}

/** The number of runs that svcpay compares with a batch: this run and a year of monthly runs. */
const runsCompared = 13;

/** The number of latest runs in which svcpay searches for a run with a given name. */
export const runsKept = 1_000;

/** The name of a run: its start, by which runs are sorted, and the name of the batch. */
export const runName = (startedAt: number, name: string): string =>
  `${new Date(startedAt).toISOString()} ${name}`;

/** The start of a run in epoch ms, and the name of its batch. */
export const readRunName = (
  run: string,
): { readonly startedAt: number; readonly name: string } => ({
  startedAt: Date.parse(run.slice(0, isoLength)),
  name: run.slice(isoLength + 1),
});

const isoLength = '2026-10-22T09:12:03.123Z'.length;

/** The latest run that has a payment of one of the rows. */
export const latestRun = (rows: readonly Row[]): string | undefined =>
  rows
    .flatMap(({ payment }) => payment?.batch?.run ?? [])
    .toSorted()
    .at(-1);

/** Lists earlier runs, newest first. */
export async function pastRuns(
  journal: Pick<Journal, 'runs' | 'paidInRun'>,
  scope: string,
): Promise<PastRun[]> {
  const past: PastRun[] = [];
  for (const { run } of await journal.runs(scope, runsCompared)) {
    const rows = (await journal.paidInRun(scope, run)).flatMap((row) => readPaidRow(row) ?? []);
    if (rows.length > 0) past.push({ run, rows });
  }
  return past;
}

/** The sum of the amounts in each currency. */
export const sumsOf = (amounts: readonly Money[]): Money[] =>
  [...grouped(amounts, ({ ccy }) => ccy)].map(([ccy, group]) => ({
    ccy,
    value: group.reduce((sum, { value }) => sum.plus(value), new Big(0)),
  }));
