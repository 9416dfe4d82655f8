// Stores transactions, with amounts as decimals and details as JSON.
import * as v from 'valibot';
import { type Context, randomId } from '../world/context.js';
import type { Store } from '../storage/database.js';
import type { Value } from '../storage/database.js';
import { readJson, writeJson } from '../wire/json.js';
import { states, type State } from '../wire/states.js';
import { decimal, fields, fromUnits, toUnits } from '../wire/values.js';

/** The fields `reqDetails` and `kyc` of one side of a transaction, in the service's format. */
const details = v.object({ reqDetails: fields, kyc: v.optional(fields) });
export type SideDetails = v.InferOutput<typeof details>;

const json = <T>(shape: v.GenericSchema<unknown, T>) =>
  v.pipe(v.string(), v.transform(readJson), shape);

const row = v.pipe(
  v.object({
    id: v.string(),
    accountId: v.string(),
    accountDisplayName: v.string(),
    kind: v.string(),
    state: v.picklist(states),
    extRefId: v.nullable(v.string()),
    note: v.nullable(v.string()),
    sourceCcy: v.string(),
    sourceMethod: v.string(),
    sourceAmount: v.number(),
    sourceDetails: json(details),
    destCcy: v.string(),
    destMethod: v.string(),
    destAmount: v.number(),
    destDetails: json(details),
    /**
     * The data that only the transaction's kind uses. Responses show only the field `sourceOfFunds`
     * of `extra`.
     */
    extra: json(fields),
    /** The total debit of the source wallet, including fees. */
    charge: v.number(),
    /** The amount that the destination receives. */
    arrives: v.number(),
    /** The service fee, which is in the source currency, like `networkFee`. */
    serviceFee: v.number(),
    networkFee: v.number(),
    fxRate: decimal,
    /** The expiry, which is in epoch ms, like `createdAt` and `updatedAt`. */
    expiresAt: v.number(),
    createdAt: v.number(),
    updatedAt: v.number(),
  }),
  // The database stores amounts in the smallest unit of the currency.
  v.transform((inUnits) => ({
    ...inUnits,
    sourceAmount: fromUnits(inUnits.sourceCcy, inUnits.sourceAmount),
    destAmount: fromUnits(inUnits.destCcy, inUnits.destAmount),
    charge: fromUnits(inUnits.sourceCcy, inUnits.charge),
    arrives: fromUnits(inUnits.destCcy, inUnits.arrives),
    serviceFee: fromUnits(inUnits.sourceCcy, inUnits.serviceFee),
    networkFee: fromUnits(inUnits.sourceCcy, inUnits.networkFee),
  })),
);

export type Transaction = Readonly<v.InferOutput<typeof row>>;
type NewTransaction = Omit<Transaction, 'id' | 'state' | 'createdAt' | 'updatedAt'>;

export type Quote = Pick<
  Transaction,
  | 'sourceCcy'
  | 'sourceAmount'
  | 'sourceDetails'
  | 'destCcy'
  | 'destAmount'
  | 'destDetails'
  | 'extra'
  | 'charge'
  | 'arrives'
  | 'serviceFee'
  | 'networkFee'
  | 'fxRate'
>;

const select = `SELECT txn.*, display_name AS account_display_name
  FROM txn JOIN account ON account.id = txn.account_id`;

/**
 * The age of a stale read, which shows transactions as they were `ago` ms or `steps` state changes
 * earlier.
 */
export interface ReadLag {
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
    SELECT number, now.id, account_id, kind, ext_ref_id, note,
      source_ccy, source_method, source_amount, dest_ccy, dest_method, dest_amount, dest_details,
        extra, service_fee, network_fee, fx_rate, created_at,
      was.state, was.source_details, was.charge, was.arrives, was.expires_at, was.at AS updated_at
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
export function readPast<T>(
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
  return store.one(row, `${select} WHERE txn.id = ?`, id);
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
  return readPast(ctx, lag, row, `${select} WHERE txn.id = ?`, [id])[0];
}

export function selectPage(
  ctx: Context,
  lag: ReadLag | undefined,
  condition: string,
  values: readonly Value[],
  limit: number,
  skipped: number,
): Transaction[] {
  const page = `SELECT id FROM txn WHERE ${condition}
    ORDER BY created_at DESC, number DESC LIMIT ? OFFSET ?`;
  const sql = `${select} WHERE txn.id IN (${page}) ORDER BY txn.created_at DESC, number DESC`;
  return readPast(ctx, lag, row, sql, [...values, limit, skipped]);
}

export function extRefIdExists(store: Store, accountId: string, extRefId: string): boolean {
  const sql = 'SELECT id FROM txn WHERE account_id = ? AND ext_ref_id = ?';
  return store.one(v.object({ id: v.string() }), sql, accountId, extRefId) !== undefined;
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
  const { accountDisplayName: _ofAccount, ...columns } = quoted;
  ctx.store.insert('txn', {
    ...columns,
    ...partsOf(quoted),
    sourceAmount: toUnits(txn.sourceCcy, txn.sourceAmount),
    destAmount: toUnits(txn.destCcy, txn.destAmount),
    destDetails: writeJson(txn.destDetails),
    extra: writeJson(txn.extra),
    serviceFee: toUnits(txn.sourceCcy, txn.serviceFee),
    networkFee: toUnits(txn.sourceCcy, txn.networkFee),
    fxRate: txn.fxRate.toFixed(),
  });
  return quoted;
}

/** The stored fields that can differ between the states of a transaction. */
const partsOf = ({
  state,
  sourceCcy,
  sourceDetails,
  charge,
  destCcy,
  arrives,
  expiresAt,
}: Transaction) => ({
  state,
  sourceDetails: writeJson(sourceDetails),
  charge: toUnits(sourceCcy, charge),
  arrives: toUnits(destCcy, arrives),
  expiresAt,
});

export type Changes = Partial<
  Pick<Transaction, 'sourceDetails' | 'extra' | 'expiresAt' | 'charge' | 'arrives'>
>;

/**
 * Stores the next state of a transaction. Throws if the state has changed since the caller read the
 * transaction.
 */
export function updateTransaction(
  ctx: Context,
  txn: Transaction,
  state: State,
  changes: Changes,
): Transaction {
  const next = { ...txn, ...changes, state, updatedAt: Math.max(ctx.now, txn.updatedAt) };
  const { sourceDetails, charge, arrives, expiresAt } = partsOf(next);
  const written = ctx.store.run(
    `UPDATE txn SET state = ?, source_details = ?, extra = ?, charge = ?, arrives = ?,
       expires_at = ?, updated_at = ?
     WHERE id = ? AND state = ?`,
    state,
    sourceDetails,
    writeJson(next.extra),
    charge,
    arrives,
    expiresAt,
    next.updatedAt,
    txn.id,
    txn.state,
  );
  if (written !== 1) throw new Error(`Transaction ${txn.id} is not ${txn.state} any more.`);
  return next;
}

/**
 * Records the new state of a transaction in `state_change`, with the transaction's values at that
 * time.
 */
export function insertStateChange({ store, now }: Context, txn: Transaction, msg: string): void {
  store.insert('state_change', { txnId: txn.id, msg, at: now, ...partsOf(txn) });
}
