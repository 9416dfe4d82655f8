// The list of transactions: its filters and its pages.
import * as v from 'valibot';
import type { Account } from '../world/accounts.js';
import type { Context } from './context.js';
import { findPage, matching, type Condition } from './counting.js';
import type { Store } from '../storage/database.js';
import { badRequest } from '../http/refusal.js';
import { selectTransactions, type Transaction } from './transactions.js';
import { states } from './transitions.js';
import { listValues, maxPageSize, timeWindows } from '../unspecified.js';

export interface Page {
  readonly items: readonly Transaction[];
  readonly pagination: { readonly page: number; readonly limit: number; readonly total: number };
}

const defaultLimit = 20;
const forever = Number.MAX_SAFE_INTEGER;

/** One page of the account's transactions, newest first, as the query asks. */
export function listTransactions(ctx: Context, account: Account, query: URLSearchParams): Page {
  const limit = Math.min(positiveInteger(query, 'limit', defaultLimit), maxPageSize);
  const page = positiveInteger(query, 'page', 1);
  const [first, last] = ordinalsBetween(ctx.store, account.id, readPeriod(query, ctx.now));
  const skipped = (page - 1) * limit;
  const filter = { accountId: account.id, first, last, conditions: readFilters(query) };
  const { total, ranges } = findPage(ctx.store, filter, skipped, limit);
  const items = ranges.flatMap(({ from, to, skip, take }) => {
    const { sql, values } = matching({ ...filter, first: from, last: to });
    const newestFirst = `${sql} ORDER BY ordinal DESC LIMIT ? OFFSET ?`;
    return selectTransactions(ctx.store, newestFirst, ...values, take, skip);
  });
  return { items, pagination: { page, limit, total } };
}

/** The first and the last ordinal of a period; the last is below the first when there is nothing in it. */
function ordinalsBetween(store: Store, accountId: string, [from, to]: readonly [number, number]): [number, number] {
  const ordinal = v.object({ ordinal: v.number() });
  const first = store.one(
    ordinal,
    'SELECT ordinal FROM txn WHERE account_id = ? AND created_at >= ? ORDER BY created_at, ordinal LIMIT 1',
    accountId, from,
  )?.ordinal;
  const last = store.one(
    ordinal,
    'SELECT ordinal FROM txn WHERE account_id = ? AND created_at <= ? ORDER BY created_at DESC, ordinal DESC LIMIT 1',
    accountId, to,
  )?.ordinal;
  return first === undefined || last === undefined ? [1, 0] : [first, last];
}

/** The period asked for, both ends inclusive, in epoch ms. */
function readPeriod(query: URLSearchParams, now: number): [number, number] {
  const time = query.get('time') ?? '7d';
  if (time === 'other') return [readDate(query, 'startTime') ?? 0, readDate(query, 'endTime') ?? forever];
  const window = timeWindows.get(time);
  if (window === undefined) throw badRequest(`time: ${[...timeWindows.keys()].join(', ')} or other`);
  return [now - window, forever];
}

function readDate(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const isIso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
  const at = isIso ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw badRequest(`${name}: an ISO 8601 date and time is needed`);
  return at;
}

function readFilters(query: URLSearchParams): Condition[] {
  const statuses = listValues(query.getAll('txnStatuses'));
  const unknown = statuses.find((status) => !(states as readonly string[]).includes(status));
  if (unknown !== undefined) throw badRequest('txnStatuses: unknown state');
  return [
    oneOf('state', 'IN', statuses),
    oneOf('source_method', 'IN', listValues(query.getAll('srcMethods'))),
    oneOf('dest_method', 'IN', listValues(query.getAll('destMethods'))),
    oneOf('source_method', 'NOT IN', listValues(query.getAll('excludedSrcMethods'))),
    oneOf('dest_method', 'NOT IN', listValues(query.getAll('excludedDestMethods'))),
  ].filter((condition) => condition.values.length > 0);
}

/** The values travel as one JSON text, so that the statement stays the same for any number of them. */
function oneOf(column: string, operator: 'IN' | 'NOT IN', values: readonly string[]): Condition {
  return {
    sql: `${column} ${operator} (SELECT value FROM json_each(?))`,
    values: values.length === 0 ? [] : [JSON.stringify(values)],
  };
}

function positiveInteger(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw badRequest(`${name}: a whole number above zero is needed`);
  return Number(text);
}
