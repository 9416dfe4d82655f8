// Moves the payments of an account from one database into another. During the move, svcpay marks
// the account as moving in both databases, and each database refuses payments of a marked account.
// At the end of the move, svcpay removes the mark from the target database only, so that the
// account can pay from the target database but not from the source database. The move of an account
// can be interrupted and repeated safely.
import { createHash } from 'node:crypto';
import pg from 'pg';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { leaseMs } from '../journal/journal.js';
import { copyPayments, inserted, rowsAtOnce, rowsSchema, type StoredRow } from './copy-payments.js';
import type { Postgres } from './postgres.js';
import { arriving, movedAway, movedState } from './refused-databases.js';
import { placeholders, type Sql } from './sql.js';

/** A database, together with its id. */
export interface IdentifiedDatabase {
  readonly database: Postgres;
  readonly id: string;
}

/** The account to move, and the scope of its references. */
export interface MovedAccount {
  readonly account: string;
  readonly scope: string;
}

interface Move extends MovedAccount {
  readonly from: IdentifiedDatabase;
  readonly to: IdentifiedDatabase;
  /** Whether the process that holds a claim is running. */
  readonly isAlive: (owner: string) => boolean;
}

/**
 * Resolves with the number of moved payments, which is 0 if an earlier run moved all of them.
 * Throws Failure `temporary` while a process is working on a payment of the account, and `usage` if
 * a different move of the account is incomplete, or if the account was already moved to a different
 * database.
 */
export const moveAccount = (move: Move): Promise<number> =>
  alone(move, async () => {
    if (!(await begin(move))) return 0;
    const payments = await movePayments(move);
    for (const table of otherTables) await moveTable(move, table);
    await move.from.database.transaction((sql) =>
      sql.run('DELETE FROM spending WHERE account = ?', move.account),
    );
    await setMark(move.to, move, undefined);
    return payments;
  });

const lockSchema = v.tuple([v.object({ is_free: v.boolean() })]);

/**
 * Runs the action, and prevents other processes from moving the account during the action. svcpay
 * takes the account's lock in the database with the lower id, so that moves in opposite directions
 * between two databases exclude each other. The lock of the account ends with the database
 * transaction that took the lock.
 */
function alone<T>({ from, to, account }: Move, action: () => Promise<T>): Promise<T> {
  const { database } = from.id < to.id ? from : to;
  const lock = 'SELECT pg_try_advisory_xact_lock(hashtextextended(?, 0)) AS is_free';
  return database.transaction(
    async (sql) => {
      const [{ is_free: isFree }] = v.parse(lockSchema, await sql.all(lock, `move ${account}`));
      if (!isFree)
        throw new Failure(
          'temporary',
          `Nothing was moved: another process is moving the account ${account}.`,
          {
            hint: 'Wait until the other process ends, then run the same command again.',
          },
        );
      return action();
    },
    { isUnlimited: true },
  );
}

const markSchema = v.object({ direction: v.picklist(['to', 'from']), other: v.string() });
type Mark = v.InferOutput<typeof markSchema>;

const markOf = ({ database }: IdentifiedDatabase, account: string): Promise<Mark | undefined> =>
  database.read(async (sql) => {
    const rows = await sql.all('SELECT direction, other FROM moves WHERE account = ?', account);
    return v.parse(v.array(markSchema), rows)[0];
  });

/**
 * Makes both databases refuse payments of the account. Returns false if an earlier run moved the
 * whole account.
 */
async function begin(move: Move): Promise<boolean> {
  const { from, to, account } = move;
  const [left, before] = [await markOf(from, account), await markOf(to, account)];
  if (left?.direction === 'from') throw arriving(from.database.source, account, left.other);
  if (left !== undefined && left.other !== to.id)
    throw movedAway(from.database.source, account, left.other);
  if (before?.direction === 'from' && before.other !== from.id)
    throw arriving(to.database.source, account, before.other);
  if (left !== undefined && before === undefined && !(await hasPayments(move))) return false;
  if (before?.direction !== 'from')
    await setMark(to, move, { direction: 'from', other: from.id }, true);
  try {
    if (left === undefined) await setMark(from, move, { direction: 'to', other: to.id }, true);
  } catch (error) {
    if (before?.direction !== 'from') await setMark(to, move, before).catch(() => undefined);
    throw error;
  }
  return true;
}

const hasPayments = ({ from, scope }: Move): Promise<boolean> =>
  from.database.read(
    async (sql) =>
      (await sql.all('SELECT 1 FROM payments WHERE scope = ? LIMIT 1', scope)).length > 0,
  );

/**
 * The tables that must not change while an account moves, each with the column that names the
 * account.
 */
const guarded = [
  ['payments', 'scope'],
  ['account_limits', 'account'],
  ['book_entries', 'scope'],
  ['book_ties', 'scope'],
  ['book_closes', 'scope'],
] as const;

const movesSetting = 'svcpay.moves';
const refuse = `CREATE OR REPLACE FUNCTION refuse_moved() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('${movesSetting}', true) = TG_ARGV[0] THEN RETURN NEW; END IF;
    RAISE EXCEPTION USING ERRCODE = '${movedState}', MESSAGE = TG_ARGV[0], DETAIL = TG_ARGV[1],
      HINT = TG_ARGV[2];
  END $$`;

/**
 * Marks an account as moving or moved, or removes the mark. While the mark is set, triggers in the
 * database refuse payments of the account from any program.
 * @param isChecked whether to throw Failure `temporary` while a process is working on a payment of
 * the account
 */
async function setMark(
  { database }: IdentifiedDatabase,
  move: Move,
  mark: Mark | undefined,
  isChecked = false,
): Promise<void> {
  await database
    .transaction((sql) => markIn(sql, move, mark, isChecked))
    .catch((error: unknown) => {
      throw error instanceof Failure && error.kind === 'authentication' ? notOwner(error) : error;
    });
}

async function markIn(
  sql: Sql,
  move: Move,
  mark: Mark | undefined,
  isChecked: boolean,
): Promise<void> {
  // Prevents other processes from opening, claiming or writing a payment of the account until the
  // transaction ends.
  await sql.run('LOCK TABLE payments IN SHARE ROW EXCLUSIVE MODE');
  if (isChecked) await checkNotHeld(sql, move);
  await sql.run('DELETE FROM moves WHERE account = ?', move.account);
  const name = `moved_${createHash('sha256').update(move.account).digest('hex').slice(0, 32)}`;
  const drops = guarded.map(([table]) => `DROP TRIGGER IF EXISTS ${name} ON ${table}`);
  await sql.script(drops.join(';'));
  if (mark === undefined) return;
  const { direction, other } = mark;
  await sql.run('INSERT INTO moves VALUES (?, ?, ?)', move.account, direction, other);
  const given = [move.account, direction, other].map(literal).join(', ');
  const statements = guarded.map(
    ([table, column]) => `CREATE TRIGGER ${name} BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW
        WHEN (NEW.${column} = ${literal(move[column])}) EXECUTE FUNCTION refuse_moved(${given})`,
  );
  await sql.script([refuse, ...statements].join(';'));
}

const notOwner = ({ kind, message, cause }: Failure): Failure =>
  new Failure(kind, message, { hint: 'Connect as the role that owns the tables.', cause });

/**
 * Quotes a value for `CREATE TRIGGER`, because PostgreSQL accepts no parameters in this statement.
 */
const literal = (text: string): string => pg.escapeLiteral(text);

const heldSchema = v.array(v.object({ owner: v.string() }));

async function checkNotHeld(sql: Sql, { scope, account, isAlive }: Move): Promise<void> {
  const at = await sql.now();
  const rows = await sql.all(
    `SELECT owner FROM payments
      WHERE scope = ? AND owner IS NOT NULL AND lease_until > ? AND lease_until <= ?`,
    scope,
    at,
    at + leaseMs,
  );
  if (!v.parse(heldSchema, rows).some(({ owner }) => isAlive(owner))) return;
  throw new Failure(
    'temporary',
    `Nothing was moved: another process is working on a payment of the account ${account}.`,
    { hint: 'Stop all programs of the account, wait 30 s, then run the same command again.' },
  );
}

/**
 * Moves payments in batches. svcpay commits each batch in the target before it deletes the batch
 * from the source.
 */
async function movePayments({ from, to, account, scope }: Move): Promise<number> {
  for (let count = 0; ;) {
    const { payments, attempts, now } = await from.database.read((sql) => readPayments(sql, scope));
    if (payments.length === 0) return count;
    await arrive(to, account, (sql) =>
      copyPayments(sql, payments, attempts, new Map([[account, now]])),
    );
    const ids = payments.map(({ id }) => String(id));
    const gone = `DELETE FROM payments WHERE id IN (${placeholders(ids.length)})`;
    await from.database.transaction((sql) => sql.run(gone, ...ids));
    count += payments.length;
  }
}

async function readPayments(sql: Sql, scope: string) {
  const text = `SELECT * FROM payments WHERE scope = ? ORDER BY ref LIMIT ${rowsAtOnce}`;
  const payments = v.parse(rowsSchema, await sql.all(text, scope));
  const ids = payments.map(({ id }) => String(id));
  const theirs = `SELECT * FROM attempts WHERE payment_id IN (${placeholders(ids.length)})`;
  const attempts = ids.length === 0 ? [] : v.parse(rowsSchema, await sql.all(theirs, ...ids));
  return { payments, attempts, now: await sql.now() };
}

/** Writes to the target database, which accepts rows of the account only from this transaction. */
const arrive = (
  { database }: IdentifiedDatabase,
  account: string,
  action: (sql: Sql) => Promise<unknown>,
): Promise<unknown> =>
  database.transaction(
    async (sql) => {
      await sql.all(`SELECT set_config('${movesSetting}', ?, true)`, account);
      return action(sql);
    },
    { isUnlimited: true },
  );

interface OtherTable {
  readonly table: string;
  readonly of: 'account' | 'scope';
  /** The columns of the table's primary key other than the column `of`. */
  readonly key: readonly string[];
  readonly conflict: string;
}

/**
 * The tables that svcpay moves after the payments. The account's limits in the source database
 * replace its limits in the target database. In every table other than `account_limits`, svcpay
 * keeps the rows that the target database already has, because they are as correct as the rows of
 * the source database.
 */
const otherTables: readonly OtherTable[] = [
  {
    table: 'account_limits',
    of: 'account',
    key: [],
    conflict: '(account) DO UPDATE SET limits = excluded.limits',
  },
  { table: 'settlement_rates', of: 'scope', key: ['txn_id'], conflict: 'DO NOTHING' },
  { table: 'book_entries', of: 'scope', key: ['id'], conflict: 'DO NOTHING' },
  { table: 'book_ties', of: 'scope', key: ['ccy'], conflict: 'DO NOTHING' },
  { table: 'book_closes', of: 'scope', key: ['month', 'correction'], conflict: 'DO NOTHING' },
];

async function moveTable(move: Move, { table, of, key, conflict }: OtherTable): Promise<void> {
  const columns = [of, ...key];
  const some = `SELECT * FROM ${table} WHERE ${of} = ? LIMIT ${rowsAtOnce}`;
  for (;;) {
    const rows = v.parse(
      rowsSchema,
      await move.from.database.read((sql) => sql.all(some, move[of])),
    );
    if (rows.length === 0) return;
    await arrive(move.to, move.account, (sql) => sql.run(...inserted(table, rows, conflict)));
    const tuple = `(${placeholders(columns.length)})`;
    const gone = `DELETE FROM ${table}
      WHERE (${columns.join(', ')}) IN (${placeholders(rows.length, tuple)})`;
    const keys = rows.flatMap((row: StoredRow) => columns.map((name) => row[name] ?? null));
    await move.from.database.transaction((sql) => sql.run(gone, ...keys));
  }
}
