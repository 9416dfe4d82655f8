// Calculates the cost of a batch before approval, including fees. For a batch with too many rows to
// quote, a person approves the amounts plus the highest fee per row.
import Big from 'big.js';
import pLimit from 'p-limit';
import type { Rates } from '../../api/types.js';
import { decimalsOf, formatAmount, type Money } from '../../formats/amount.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import { knownAmounts } from '../limits/limits.js';
import { findRate } from '../quote/rates.js';
import type { PlannedRow } from './plan.js';

/** The largest number of rows for which svcpay quotes each row before it pays the batch. */
export const mostQuoted = 100;

/** The amount that the row itself states. */
export const rowAmount = ({ order }: PlannedRow): Money =>
  knownAmounts(order)[0] ?? { ccy: order.body.sourceReq.ccy, value: new Big(0) };

/** The total of the rows that one wallet pays and whose amounts have the same currency. */
export interface BatchTotal {
  readonly from: string;
  readonly ccy: string;
  readonly rows: number;
  readonly amount: Big;
}

/** The debit of one wallet. */
export interface Cost {
  readonly ccy: string;
  /** The total debit of the wallet, which includes fees unless `isEstimate` is set. */
  readonly total: Big;
  /** The fees, which are part of `total`, or null in an estimate. */
  readonly fees: Big | null;
  /** Whether the cost comes from the rates instead of from quotes. */
  readonly isEstimate: boolean;
}

/** The quoted cost of a row. */
export interface RowCost {
  readonly total: Money;
  readonly fees: Money;
}

export interface Quoted {
  /** The costs by wallet, or an empty list if the service quotes no row. */
  readonly costs: readonly Cost[];
  /** The quoted costs of the rows, by line number. */
  readonly rows: ReadonlyMap<number, RowCost>;
  /** The rows that the service did not quote, with the reasons. */
  readonly refused: readonly { readonly row: PlannedRow; readonly failure: Failure }[];
}

/** Kinds of failure that end the quoting, because they are temporary or concern the whole batch. */
const ending: ReadonlySet<FailureKind> = new Set([
  'temporary',
  'authentication',
  'interrupted',
  'unexpected',
]);

/**
 * Quotes all rows. The result's `refused` contains the refusals of single rows. Throws errors that
 * concern all rows, such as a network failure.
 */
export async function quoteCost(
  rows: readonly PlannedRow[],
  concurrency: number,
  quote: (row: PlannedRow) => Promise<RowCost>,
): Promise<Quoted> {
  const quoted = new Map<number, RowCost>();
  const refused: { row: PlannedRow; failure: Failure }[] = [];
  const limit = pLimit(concurrency);
  const quoteRow = async (row: PlannedRow): Promise<void> => {
    try {
      quoted.set(row.line, await quote(row));
    } catch (error) {
      if (!(error instanceof Failure) || ending.has(error.kind)) throw error;
      refused.push({ row, failure: error });
    }
  };
  try {
    await limit.map(rows, quoteRow);
  } finally {
    limit.clearQueue();
  }
  return { costs: costsOf([...quoted.values()]), rows: quoted, refused };
}

function costsOf(rows: readonly RowCost[]): Cost[] {
  const sums = new Map<string, { total: Big; fees: Big }>();
  for (const { total, fees } of rows) {
    const before = sums.get(total.ccy) ?? { total: new Big(0), fees: new Big(0) };
    sums.set(total.ccy, {
      total: before.total.plus(total.value),
      fees: before.fees.plus(fees.value),
    });
  }
  return [...sums].map(([ccy, sum]) => ({ ccy, ...sum, isEstimate: false }));
}

/**
 * Estimates the debit of each wallet at the given rates, without fees. The estimate omits a wallet
 * if the service lacks a rate for one of the wallet's amounts.
 */
export function estimateCost(totals: readonly BatchTotal[], rates: Rates): Cost[] {
  const wallets = [...new Set(totals.map(({ from }) => from))];
  return wallets.flatMap((ccy) => {
    const amounts = totals
      .filter(({ from }) => from === ccy)
      .map((total) => (total.ccy === ccy ? total.amount : converted(total, rates)));
    if (amounts.includes(undefined)) return [];
    const total = amounts.reduce<Big>((sum, amount) => sum.plus(amount ?? 0), new Big(0));
    return [
      { ccy, total: total.round(decimalsOf(ccy), Big.roundUp), fees: null, isEstimate: true },
    ];
  });
}

function converted({ from, ccy, amount }: BatchTotal, rates: Rates): Big | undefined {
  try {
    return amount.div(findRate(rates, `${from}/${ccy}`).rate);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/**
 * Throws Failure `limit` if a row exceeds a limit, or if the quoted total exceeds the balance of a
 * wallet.
 */
export function refuseUnpayable(
  { costs, refused }: Quoted,
  available: (ccy: string) => Money | undefined,
): void {
  const overLimit = refused.find(({ failure }) => failure.kind === 'limit');
  if (overLimit !== undefined) throw refusedRow(overLimit);
  const short = costs.flatMap(({ ccy, total }) => {
    const have = available(ccy);
    if (have === undefined || have.value.gte(total)) return [];
    return [
      `The batch takes ${formatAmount({ ccy, value: total })} including fees from the ${ccy} ` +
        `wallet, but you have ${formatAmount(have)}.`,
    ];
  });
  if (short.length > 0) throw tooPoor(short);
}

/** Converts the refusal of a row to the refusal of the batch. */
export const refusedRow = ({ row, failure }: Quoted['refused'][number]): Failure =>
  new Failure(failure.kind, `Nothing was sent: line ${row.line}: ${failure.message}`, {
    hint: failure.hint,
    next: failure.next,
  });

export const tooPoor = (short: readonly string[]): Failure =>
  new Failure('limit', `Nothing was sent: ${short.join(' ')}`, { next: { do: 'see-wallets' } });

/**
 * Checks, while svcpay pays a batch, that the totals of the rows do not exceed the approved totals.
 */
export class Ceiling {
  readonly #left: Map<string, Big>;

  constructor(costs: readonly Pick<Cost, 'ccy' | 'total'>[]) {
    this.#left = new Map(costs.map(({ ccy, total }) => [ccy, total]));
  }

  /** Reserves a row's total within the approved total, or returns false if too little is left. */
  take({ ccy, value }: Money): boolean {
    const left = this.#left.get(ccy);
    if (left === undefined || value.gt(left)) return false;
    this.#left.set(ccy, left.minus(value));
    return true;
  }

  /** Makes the reserved total of an unpaid row available to other rows. */
  release({ ccy, value }: Money): void {
    this.#left.set(ccy, value.plus(this.#left.get(ccy) ?? 0));
  }
}
