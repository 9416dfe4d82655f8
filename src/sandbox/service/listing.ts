// Lists transactions, with filters and pages.
import * as v from 'valibot';
import type { Account } from '../world/accounts.js';
import type { Context } from '../world/context.js';
import { badRequest } from '../wire/refusal.js';
import { readPast, selectPage, type ReadLag } from './transactions.js';
import { states } from '../wire/states.js';
import { listValues, maxPageSize, timeWindows } from '../unspecified.js';

const defaultLimit = 20;
const forever = Number.MAX_SAFE_INTEGER;

const countRow = v.object({ count: v.number() });

/**
 * Returns one page of the account's transactions, newest first. For a stale read, `lag` selects the
 * earlier states that the page shows.
 */
export function listTransactions(
  ctx: Context,
  account: Account,
  query: URLSearchParams,
  lag?: ReadLag,
) {
  const limit = Math.min(positiveInteger(query, 'limit', defaultLimit), maxPageSize);
  const page = positiveInteger(query, 'page', 1);
  const filters = readFilters(query);
  const condition = [
    'account_id = ?',
    'created_at BETWEEN ? AND ?',
    ...filters.map(({ sql }) => sql),
  ].join(' AND ');
  const values = [account.id, ...readPeriod(query, ctx.now), ...filters.map(({ value }) => value)];
  const [counted] = readPast(
    ctx,
    lag,
    countRow,
    `SELECT count(*) AS count FROM txn WHERE ${condition}`,
    values,
  );
  const items = selectPage(ctx, lag, condition, values, limit, (page - 1) * limit);
  return { items, pagination: { page, limit, total: counted?.count ?? 0 } };
}

/**
 * The period that a list request selects, in epoch ms, with inclusive bounds. The service reads a
 * time without a zone as UTC.
 */
function readPeriod(query: URLSearchParams, now: number): [number, number] {
  const time = query.get('time') ?? '7d';
  if (time === 'other')
    return [readDate(query, 'startTime') ?? 0, readDate(query, 'endTime') ?? forever];
  const window = timeWindows.get(time);
  if (window === undefined)
    throw badRequest(`time: ${[...timeWindows.keys()].join(', ')} or other`);
  return [now - window, forever];
}

function readDate(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const [, day = '', time = 'T00:00', zone = 'Z'] = isoTime.exec(text) ?? [];
  const at = Date.parse(day + time + zone);
  // The comparison with `day` is necessary because `Date` reads 30 February as 2 March.
  if (Number.isNaN(at) || !new Date(day).toISOString().startsWith(day)) {
    throw badRequest(`${name} must be an ISO 8601 date and time`);
  }
  return at;
}

/** Matches an ISO date with an optional time and zone. */
const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/;

interface Filter {
  readonly sql: string;
  /**
   * The values of a filter as one JSON parameter, so that one SQL statement serves any number of
   * values.
   */
  readonly value: string;
}

function readFilters(query: URLSearchParams): Filter[] {
  const statuses = listValues(query, 'txnStatuses');
  const unknown = statuses.find((status) => !states.some((state) => state === status));
  if (unknown !== undefined) throw badRequest('txnStatuses: unknown state');
  return [
    ...oneOf('state', 'IN', statuses),
    ...oneOf('source_method', 'IN', listValues(query, 'srcMethods')),
    ...oneOf('dest_method', 'IN', listValues(query, 'destMethods')),
    ...oneOf('source_method', 'NOT IN', listValues(query, 'excludedSrcMethods')),
    ...oneOf('dest_method', 'NOT IN', listValues(query, 'excludedDestMethods')),
  ];
}

function oneOf(column: string, operator: 'IN' | 'NOT IN', values: readonly string[]): Filter[] {
  if (values.length === 0) return [];
  return [
    {
      sql: `${column} ${operator} (SELECT value FROM json_each(?))`,
      value: JSON.stringify(values),
    },
  ];
}

function positiveInteger(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw badRequest(`${name} must be a whole number above zero`);
  return Number(text);
}
