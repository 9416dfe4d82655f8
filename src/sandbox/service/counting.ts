// Finds a page of a filtered list by the counts per block of ordinals, without reading what lies before it.
import * as v from 'valibot';
import type { Store, Value } from '../storage/database.js';
import { blockSizes } from '../storage/schema.js';

/** A condition on the columns that are counted: state and methods. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

export interface Filter {
  readonly accountId: string;
  /** Ordinals, both included. */
  readonly first: number;
  readonly last: number;
  readonly conditions: readonly Condition[];
}

/** Ordinals (both included) that hold a part of a page: after the newest `skip` matches, `take` of them. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly skip: number;
  readonly take: number;
}

/** Neighbouring ordinals and how many of them match. */
interface Block {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

const { small, large } = blockSizes;

/** The total, and where the page lies, newest first. The work does not grow with how far back that is. */
export function findPage(
  store: Store, filter: Filter, skipped: number, limit: number,
): { total: number; ranges: Range[] } {
  const blocks = blocksOf(store, filter);
  const total = blocks.reduce((sum, { count }) => sum + count, 0);
  return { total, ranges: rangesOf(store, filter, blocks, skipped, limit) };
}

/** How many transactions of all accounts are in each state. */
export function countByState(store: Store): Record<string, number> {
  const counts = store.all(
    v.object({ state: v.string(), count: v.number() }),
    `SELECT state, sum(count) AS count FROM txn_count WHERE size = ${large} GROUP BY state HAVING sum(count) > 0`,
  );
  return Object.fromEntries(counts.map(({ state, count }) => [state, count]));
}

/** The SQL condition of a filter, on `txn`. */
export function matching({ accountId, first, last, conditions }: Filter): Condition {
  return {
    sql: ['account_id = ?', 'ordinal BETWEEN ? AND ?', ...conditions.map(({ sql }) => sql)].join(' AND '),
    values: [accountId, first, last, ...conditions.flatMap(({ values }) => values)],
  };
}

/**
 * Cuts the ordinals of the filter into blocks, newest first: single rows at both ends up to the next small block, small
 * blocks up to the next large one, large ones between. Blocks without a match are left out.
 */
function blocksOf(store: Store, filter: Filter): Block[] {
  return cut(filter, large, (outer) => cut(outer, small, (ends) => countRows(store, ends), countIn(store, small)),
    countIn(store, large));
}

type Count = (part: Filter) => Block[];

/** Counts the whole blocks of a size with `whole`, and what is left at both ends with `rest`. */
function cut(filter: Filter, size: number, rest: Count, whole: Count): Block[] {
  const { first, last } = filter;
  if (first > last) return [];
  const from = Math.ceil(first / size) * size;
  const to = Math.floor((last + 1) / size) * size - 1;
  if (from > to) return rest(filter);
  return [
    ...rest({ ...filter, first: to + 1 }),
    ...whole({ ...filter, first: from, last: to }),
    ...rest({ ...filter, last: from - 1 }),
  ];
}

const blockRow = v.object({ block: v.number(), count: v.number() });

const countIn = (store: Store, size: number): Count => ({ accountId, first, last, conditions }) => {
  const where = ['account_id = ?', `size = ${size}`, 'block BETWEEN ? AND ?', ...conditions.map(({ sql }) => sql)];
  const rows = store.all(
    blockRow,
    `SELECT block, sum(count) AS count FROM txn_count WHERE ${where.join(' AND ')}
     GROUP BY block HAVING sum(count) > 0 ORDER BY block DESC`,
    accountId, first / size, (last + 1) / size - 1, ...conditions.flatMap(({ values }) => values),
  );
  return rows.map(({ block, count }) => ({ from: block * size, to: (block + 1) * size - 1, count }));
};

function countRows(store: Store, filter: Filter): Block[] {
  const { first, last } = filter;
  if (first > last) return [];
  const { sql, values } = matching(filter);
  const row = v.object({ count: v.number() });
  const { count } = store.one(row, `SELECT count(*) AS count FROM txn WHERE ${sql}`, ...values) ?? { count: 0 };
  return count === 0 ? [] : [{ from: first, to: last, count }];
}

/** Walks the blocks past what is skipped; opens a large one where the page begins or goes on in it. */
function rangesOf(
  store: Store, filter: Filter, blocks: readonly Block[], skipped: number, limit: number,
): Range[] {
  const ranges: Range[] = [];
  let skip = skipped;
  let wanted = limit;
  for (const block of blocks) {
    if (wanted === 0) break;
    if (skip >= block.count) {
      skip -= block.count;
      continue;
    }
    const inside = block.to - block.from + 1 === large
      ? rangesOf(store, filter, countIn(store, small)({ ...filter, first: block.from, last: block.to }), skip, wanted)
      : [{ from: block.from, to: block.to, skip, take: Math.min(wanted, block.count - skip) }];
    ranges.push(...inside);
    wanted -= inside.reduce((sum, { take }) => sum + take, 0);
    skip = 0;
  }
  return ranges;
}
