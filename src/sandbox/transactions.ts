// Stores transactions with amounts as decimals, and lists them with filters and pages.
import * as v from 'valibot';
import { type Context, randomId } from './world.js';
import type { Store, Value } from './database.js';
import {
  readJson,
  writeJson,
  states,
  type State,
  fields,
  number,
  badRequest,
  json,
} from './wire.js';
import type { Account } from './accounts.js';
import { wholeNumber } from './routing.js';
import { listValues, maxPageSize, timeWindows } from './unspecified.js';

/** The fields `reqDetails` and `kyc` of one side of a transaction, in the service's format. */
const details = v.object({ reqDetails: fields, kyc: v.optional(fields) });
export type SideDetails = v.InferOutput<typeof details>;

const ending = v.object({
  /** The final state of the transaction. Only faults cause the states `rejected` and `error`. */
  state: v.picklist(['failed', 'rejected', 'error']),
  /** The message in the webhook event. */
  msg: v.string(),
});

export type Ending = Readonly<v.InferOutput<typeof ending>>;

const milliseconds = v.pipe(number, v.transform(Number));

const transaction = v.object({
  id: v.string(),
  accountId: v.string(),
  accountDisplayName: v.string(),
  kind: v.string(),
  state: v.picklist(states),
  extRefId: v.optional(v.string()),
  note: v.optional(v.string()),
  sourceCcy: v.string(),
  sourceMethod: v.string(),
  sourceAmount: number,
  sourceDetails: details,
  destCcy: v.string(),
  destMethod: v.string(),
  destAmount: number,
  destDetails: details,
  sourceOfFunds: v.optional(fields),
  /** The total debit of the source wallet, including fees. */
  charge: number,
  /** The amount that the destination receives. */
  arrives: number,
  /** The service fee, which is in the source currency, like `networkFee`. */
  serviceFee: number,
  networkFee: number,
  fxRate: number,
  /** The invoice that a Lightning send pays. */
  invoice: v.optional(
    v.object({
      invoice: v.string(),
      paymentHash: v.string(),
      payee: v.string(),
      description: v.nullable(v.string()),
      expiresAt: milliseconds,
    }),
  ),
  /** The account of the recipient of an LNURL send, if the recipient is a user of this service. */
  recipientId: v.optional(v.string()),
  /** How a send or swap ends instead of settling, because a fault plans this ending. */
  planned: v.optional(ending),
  /** How the recipient returns a completed send after a delay in ms, because of a fault. */
  returned: v.optional(v.object({ ...ending.entries, delay: milliseconds })),
  /** The settled amount of the source if a fault changes the amount. */
  settledSource: v.optional(number),
  /** The expiry, which is in epoch ms, like `createdAt` and `updatedAt`. */
  expiresAt: milliseconds,
  createdAt: milliseconds,
  updatedAt: milliseconds,
});

export type Transaction = Readonly<v.InferOutput<typeof transaction>>;
type NewTransaction = Omit<Transaction, 'id' | 'state' | 'createdAt' | 'updatedAt'>;

export type Quote = Pick<
  Transaction,
  | 'sourceCcy'
  | 'sourceAmount'
  | 'sourceDetails'
  | 'sourceOfFunds'
  | 'destCcy'
  | 'destAmount'
  | 'destDetails'
  | 'charge'
  | 'arrives'
  | 'serviceFee'
  | 'networkFee'
  | 'fxRate'
  | 'invoice'
  | 'recipientId'
>;

/** The database stores a transaction as JSON, and the columns by which lists filter and sort. */
const row = v.pipe(
  v.object({ document: json(transaction, readJson) }),
  v.transform(({ document }) => document),
);

/**
 * The age of a stale read, which shows transactions as they were `ago` ms or `steps` state changes
 * earlier.
 */
interface ReadLag {
  readonly ago: number;
  readonly steps: number;
}

/**
 * The SQL prefix that replaces the table `txn` with past versions of its rows. The first SQL
 * parameter of `withLag` is a time, and state changes after this time are ignored. The second SQL
 * parameter of `withLag` is the number of state changes to read for each transaction (one more than
 * `lag.steps`).
 */
const withLag = `
  WITH txn AS (
    SELECT number, now.id, account_id, source_method, dest_method, created_at, was.state,
      was.document
    FROM main.txn AS now JOIN state_change AS was ON was.id = (
      SELECT id FROM (
        SELECT id FROM state_change WHERE txn_id = now.id AND at <= ? ORDER BY id DESC LIMIT ?
      ) ORDER BY id LIMIT 1
    )
  )`;

/**
 * Runs a query on the table `txn` or, if the sandbox simulates a stale read, on past versions of
 * its rows.
 */
function readPast<T>(
  { store, now }: Context,
  lag: ReadLag | undefined,
  shape: v.GenericSchema<unknown, T>,
  sql: string,
  values: readonly Value[],
): T[] {
  if (lag === undefined) return store.all(shape, sql, ...values);
  return store.all(shape, withLag + sql, now - lag.ago, lag.steps + 1, ...values);
}

export function findTransaction(store: Store, id: string): Transaction | undefined {
  return store.find(row, 'txn', { id });
}

/** Finds a transaction that another record refers to. Throws if the transaction does not exist. */
export function requireTransaction(store: Store, id: string): Transaction {
  const found = findTransaction(store, id);
  if (found === undefined) throw new Error(`There is no transaction ${id}.`);
  return found;
}

/**
 * Finds an earlier state of a transaction, or returns undefined if the transaction did not exist
 * yet.
 */
export function findPastTransaction(
  ctx: Context,
  id: string,
  lag: ReadLag,
): Transaction | undefined {
  return readPast(ctx, lag, row, 'SELECT document FROM txn WHERE id = ?', [id])[0];
}

export function extRefIdExists(store: Store, accountId: string, extRefId: string): boolean {
  return store.find(v.object({}), 'txn', { accountId, extRefId }) !== undefined;
}

/**
 * Stores a quoted transaction. If the clock was set back, a new transaction gets the creation time
 * of the account's previous transaction.
 */
export function insertTransaction(ctx: Context, txn: NewTransaction): Transaction {
  const last = ctx.store.one(
    v.object({ createdAt: v.nullable(v.number()) }),
    'SELECT max(created_at) AS created_at FROM txn WHERE account_id = ?',
    txn.accountId,
  );
  const createdAt = Math.max(ctx.now, last?.createdAt ?? 0);
  const quoted: Transaction = {
    ...txn,
    id: randomId(ctx.random),
    state: 'quoted',
    createdAt,
    updatedAt: createdAt,
  };
  const { id, state, accountId, extRefId = null, sourceMethod, destMethod } = quoted;
  const document = writeJson(quoted);
  const columns = { id, state, accountId, extRefId, sourceMethod, destMethod, createdAt };
  ctx.store.insert('txn', { ...columns, document });
  return quoted;
}

/**
 * Stores the next state of a transaction. Throws if the state has changed since the caller read the
 * transaction.
 */
export function updateTransaction(
  { store, now }: Context,
  txn: Transaction,
  state: State,
  changes: Partial<Transaction>,
): Transaction {
  const next = { ...txn, ...changes, state, updatedAt: Math.max(now, txn.updatedAt) };
  const { id, state: before } = txn;
  const written = store.update('txn', { state, document: writeJson(next) }, { id, state: before });
  if (written !== 1) throw new Error(`Transaction ${id} is not ${before} any more.`);
  return next;
}

/** Records the new state of a transaction, with the transaction's values at that time. */
export function insertStateChange({ store, now }: Context, txn: Transaction, msg: string): void {
  const { id: txnId, state } = txn;
  store.insert('state_change', { txnId, state, msg, at: now, document: writeJson(txn) });
}

const defaultLimit = 20;
const forever = Number.MAX_SAFE_INTEGER;

const countRow = v.object({ count: v.number() });
const newestFirst = 'ORDER BY created_at DESC, number DESC';

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
  const limit = Math.min(wholeNumber(query, 'limit') ?? defaultLimit, maxPageSize);
  const page = wholeNumber(query, 'page') ?? 1;
  const filters = readFilters(query);
  const condition = [
    'account_id = ?',
    'created_at BETWEEN ? AND ?',
    ...filters.map(({ sql }) => sql),
  ].join(' AND ');
  const values = [account.id, ...readPeriod(query, ctx.now), ...filters.map(({ value }) => value)];
  const count = `SELECT count(*) AS count FROM txn WHERE ${condition}`;
  const [counted] = readPast(ctx, lag, countRow, count, values);
  // Finds the ids of the page in the index alone, and reads only the documents of the page.
  const ids = `SELECT id FROM txn WHERE ${condition} ${newestFirst} LIMIT ? OFFSET ?`;
  const sql = `SELECT document FROM txn WHERE id IN (${ids}) ${newestFirst}`;
  const items = readPast(ctx, lag, row, sql, [...values, limit, (page - 1) * limit]);
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

/** The columns and query parameters of the filters, each of which accepts several values. */
const filters = [
  ['state', 'IN', 'txnStatuses'],
  ['source_method', 'IN', 'srcMethods'],
  ['dest_method', 'IN', 'destMethods'],
  ['source_method', 'NOT IN', 'excludedSrcMethods'],
  ['dest_method', 'NOT IN', 'excludedDestMethods'],
] as const;

/**
 * Returns the condition of each filter in the query, and its values as one JSON parameter, so that
 * one SQL statement serves any number of values.
 */
const readFilters = (query: URLSearchParams): { sql: string; value: string }[] =>
  filters.flatMap(([column, operator, name]) => {
    const values = listValues(query, name);
    if (values.length === 0) return [];
    if (column === 'state' && values.some((value) => !states.some((state) => state === value)))
      throw badRequest('txnStatuses: unknown state');
    const sql = `${column} ${operator} (SELECT value FROM json_each(?))`;
    return [{ sql, value: JSON.stringify(values) }];
  });
