// What a batch will cost, fees included, before anybody agrees to it: quoted where that takes few requests, else
// estimated from some of its rows, with a bound at which it stops.
import Big from 'big.js';
import { decimalsOf, type Money } from '../../formats/amount.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import { knownAmounts } from '../limits/limits.js';
import type { PlannedRow } from './plan.js';

/** So many rows are quoted one by one. */
const mostQuoted = 12;

/** Of more rows so many of each kind stand for the others. */
const mostSamples = 4;

/** Of the fees, for routes that cost more than those of the samples; of an amount that is converted, for its rate. */
const feeMargin = '0.25';
const rateMargin = '0.02';

/** Rows that are paid alike: from one wallet, by one method, in one currency. */
interface Group {
  readonly from: string;
  readonly ccy: string;
  readonly rows: number;
  readonly amount: Big;
  readonly samples: readonly PlannedRow[];
}

/** What is known of it before it is quoted. */
export const rowAmount = ({ order }: PlannedRow): Money =>
  knownAmounts(order)[0] ?? { ccy: order.body.sourceReq.ccy, value: new Big(0) };

/** Collects rows as they are read; keeps few of them whatever their number. */
export class CostSample {
  #rows: PlannedRow[] = [];
  #count = 0;
  readonly #groups = new Map<string, Group>();

  add(row: PlannedRow): void {
    const { sourceReq, destReq } = row.order.body;
    const { ccy, value } = rowAmount(row);
    const key = `${sourceReq.ccy} ${ccy} ${destReq.method}`;
    const group = this.#groups.get(key) ?? { from: sourceReq.ccy, ccy, rows: 0, amount: new Big(0), samples: [] };
    const samples = withExtremes(group.samples, row);
    this.#groups.set(key, { ...group, rows: group.rows + 1, amount: group.amount.plus(value), samples });
    this.#count += 1;
    if (this.#rows.length <= mostQuoted) this.#rows.push(row);
  }

  get groups(): readonly Group[] {
    return [...this.#groups.values()];
  }

  /** Those to quote: all, where they are few. */
  get rows(): readonly PlannedRow[] {
    return this.isWhole ? this.#rows : this.groups.flatMap(({ samples }) => samples);
  }

  get isWhole(): boolean {
    return this.#count <= mostQuoted;
  }
}

/** The smallest, the largest, and some between: what a fee depends on is how much is paid. */
function withExtremes(samples: readonly PlannedRow[], row: PlannedRow): readonly PlannedRow[] {
  const all = [...samples, row].toSorted((a, b) => rowAmount(a).value.cmp(rowAmount(b).value));
  return all.length <= mostSamples ? all : [...all.slice(0, 2), ...all.slice(-2)];
}

/** What leaves one wallet. */
export interface Cost {
  readonly ccy: string;
  /** Fees included. */
  readonly total: Big;
  /** Beyond this no further row is paid. */
  readonly bound: Big;
  readonly isEstimate: boolean;
}

export interface Quoted {
  /** By wallet; empty where no row can be quoted. */
  readonly costs: readonly Cost[];
  /** Rows that were quoted. */
  readonly rows: number;
  /** Rows that could not be, and why. */
  readonly refused: readonly { readonly row: PlannedRow; readonly failure: Failure }[];
}

/** What passes by itself, or concerns the whole batch. */
const ending: ReadonlySet<FailureKind> = new Set(['temporary', 'authentication', 'interrupted', 'unexpected']);

/**
 * Throws what concerns all rows, such as no answer; a refusal of one row is among those `refused`.
 *
 * @param quote what a row takes from the wallet; undefined for one that is paid or on its way
 */
export async function quoteCost(
  sample: CostSample,
  concurrency: number,
  quote: (row: PlannedRow) => Promise<Money | undefined>,
): Promise<Quoted> {
  const totals = new Map<PlannedRow, Big>();
  const refused: { row: PlannedRow; failure: Failure }[] = [];
  const rows = [...sample.rows];
  const worker = async (): Promise<void> => {
    for (let row = rows.shift(); row !== undefined; row = rows.shift()) {
      try {
        totals.set(row, (await quote(row))?.value ?? new Big(0));
      } catch (error) {
        if (!(error instanceof Failure) || ending.has(error.kind)) throw error;
        refused.push({ row, failure: error });
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const costs = sample.isWhole ? exact(totals) : estimates(sample.groups, totals);
  return { costs: costs.filter(({ total }) => total.gt(0)), rows: totals.size, refused };
}

function exact(totals: ReadonlyMap<PlannedRow, Big>): Cost[] {
  const sums = new Map<string, Big>();
  for (const [{ order }, total] of totals) {
    const { ccy } = order.body.sourceReq;
    sums.set(ccy, total.plus(sums.get(ccy) ?? 0));
  }
  return [...sums].map(([ccy, total]) => ({ ccy, total, bound: total, isEstimate: false }));
}

function estimates(groups: readonly Group[], totals: ReadonlyMap<PlannedRow, Big>): Cost[] {
  const costs = new Map<string, Cost>();
  for (const group of groups) {
    const { from, ccy, amount } = group;
    const total = rounded(totalOf(group, totals), from);
    const margin = from === ccy ? total.minus(amount).times(feeMargin) : total.times(rateMargin);
    const rounding = new Big(group.rows).times(`1e-${decimalsOf(from)}`);
    const before = costs.get(from) ?? { ccy: from, total: new Big(0), bound: new Big(0), isEstimate: true };
    const bound = before.bound.plus(total).plus(rounded(margin.lt(0) ? new Big(0) : margin, from)).plus(rounding);
    costs.set(from, { ...before, total: before.total.plus(total), bound });
  }
  return [...costs.values()];
}

/** Fees are a fixed part and a share: the line through the smallest and the largest sample says both. */
function totalOf({ rows, amount, samples }: Group, totals: ReadonlyMap<PlannedRow, Big>): Big {
  const points = samples.flatMap((row) => {
    const total = totals.get(row);
    return total === undefined ? [] : [{ amount: rowAmount(row).value, total }];
  });
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return amount;
  const highest = points.reduce((most, { total }) => (total.gt(most) ? total : most), new Big(0));
  if (first.amount.eq(last.amount)) return highest.times(rows);
  const share = last.total.minus(first.total).div(last.amount.minus(first.amount));
  const fixedPart = first.total.minus(share.times(first.amount));
  return share.times(amount).plus(fixedPart.lt(0) ? 0 : fixedPart.times(rows));
}

const rounded = (value: Big, ccy: string): Big => value.round(decimalsOf(ccy), Big.roundUp);

/** Counts what rows cost while they are paid, against what was agreed to. */
export class Ceiling {
  readonly #left: Map<string, Big>;

  constructor(costs: readonly Cost[]) {
    this.#left = new Map(costs.map(({ ccy, bound }) => [ccy, bound]));
  }

  /** Takes a row's total; false where it goes beyond what was agreed to. */
  take({ ccy, value }: Money): boolean {
    const left = this.#left.get(ccy);
    if (left === undefined || value.gt(left)) return false;
    this.#left.set(ccy, left.minus(value));
    return true;
  }

  /** A row that took its total was not paid after all. */
  giveBack({ ccy, value }: Money): void {
    this.#left.set(ccy, value.plus(this.#left.get(ccy) ?? 0));
  }
}
