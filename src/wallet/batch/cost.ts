// The cost of a batch before approval, fees included. A long batch is limited by its amounts and the highest fee.
import Big from 'big.js';
import pLimit from 'p-limit';
import type { Money } from '../../formats/amount.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import { knownAmounts } from '../limits/limits.js';
import type { PlannedRow } from './plan.js';

/** A batch of up to this many rows is quoted before it is paid. */
export const mostQuoted = 100;

/** The amount that the row itself states. */
export const rowAmount = ({ order }: PlannedRow): Money =>
  knownAmounts(order)[0] ?? { ccy: order.body.sourceReq.ccy, value: new Big(0) };

/** The total that leaves one wallet, fees included. */
export interface Cost {
  readonly ccy: string;
  readonly total: Big;
}

export interface Quoted {
  /** By wallet; empty if no row can be quoted. */
  readonly costs: readonly Cost[];
  /** Rows that could not be quoted, and why. */
  readonly refused: readonly { readonly row: PlannedRow; readonly failure: Failure }[];
}

/** Failures that are temporary or concern the whole batch. */
const ending: ReadonlySet<FailureKind> = new Set([
  'temporary',
  'authentication',
  'interrupted',
  'unexpected',
]);

/**
 * Throws errors that concern all rows, such as a network failure; refusals of single rows are in `refused`.
 *
 * @param quote the total of a row; undefined for a row that is paid or in flight
 */
export async function quoteCost(
  rows: readonly PlannedRow[],
  concurrency: number,
  quote: (row: PlannedRow) => Promise<Money | undefined>,
): Promise<Quoted> {
  const sums = new Map<string, Big>();
  const refused: { row: PlannedRow; failure: Failure }[] = [];
  const limit = pLimit(concurrency);
  const quoteRow = async (row: PlannedRow): Promise<void> => {
    try {
      const total = await quote(row);
      if (total !== undefined) sums.set(total.ccy, total.value.plus(sums.get(total.ccy) ?? 0));
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
  return { costs: [...sums].map(([ccy, total]) => ({ ccy, total })), refused };
}

/** Counts the totals of rows while they are paid against the total that was approved. */
export class Ceiling {
  readonly #left: Map<string, Big>;

  constructor(costs: readonly Cost[]) {
    this.#left = new Map(costs.map(({ ccy, total }) => [ccy, total]));
  }

  /** Takes a row's total; false if it would exceed the approved total. */
  take({ ccy, value }: Money): boolean {
    const left = this.#left.get(ccy);
    if (left === undefined || value.gt(left)) return false;
    this.#left.set(ccy, left.minus(value));
    return true;
  }

  /** The row that took this total was not paid. */
  giveBack({ ccy, value }: Money): void {
    this.#left.set(ccy, value.plus(this.#left.get(ccy) ?? 0));
  }
}
