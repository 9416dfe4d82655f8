// Moves a local journal and inbox into a database, including unfinished payments. The move of a
// home's data can be interrupted and repeated safely.
import type Database from 'libsql';
import * as v from 'valibot';
import { Failure, invalid } from '../../formats/failure.js';
import { isThere } from '../files/home.js';
import { openSqlite, type SqliteFile } from '../files/sqlite-file.js';
import { addSpending, advanced, spendsOf } from '../journal/spending.js';
import { closing } from '../journal/schema.js';
import type { Postgres } from './postgres.js';
import { inserted, placeholders, type Sql } from './sql.js';
import { atomically } from './sqlite-database.js';
import { type PaymentRow, readRows, selectPayments } from '../journal/rows.js';

export interface MovedRows {
  readonly payments: number;
  readonly events: number;
}

export interface HomeFiles {
  readonly journal: SqliteFile;
  readonly inbox: SqliteFile;
}

/**
 * Copies the rows of a home's journal and inbox that the database lacks. If the home's journal has
 * a later version of a payment than the database, svcpay updates the payment in the database.
 * @param isAlive whether the named process is still running. svcpay refuses the move while a
 * process that has claimed a payment is running.
 * @param now the machine's clock, epoch ms
 */
export async function moveInto(
  database: Postgres,
  { journal, inbox }: HomeFiles,
  isAlive: (owner: string) => boolean,
  now: () => number,
): Promise<MovedRows> {
  const payments = await withFile(journal, async (db) => {
    checkNotHeld(db, isAlive);
    const count = await movePayments(database, db, now);
    for (const table of neverChanged) await moveTable(database, db, table);
    db.exec(closing);
    return count;
  });
  const events = await withFile(inbox, (db) => moveEvents(database, db));
  return { payments: payments ?? 0, events: events ?? 0 };
}

/**
 * Returns the result of the action on the file, or undefined if the file does not exist. While
 * `action` runs, no other process writes to the file.
 */
async function withFile<T>(
  file: SqliteFile,
  action: (db: Database.Database) => Promise<T>,
): Promise<T | undefined> {
  if (!isThere(file.path)) return undefined;
  const db = openSqlite(file);
  try {
    return await atomically(db, () => action(db));
  } finally {
    db.close();
  }
}

function checkNotHeld(db: Database.Database, isAlive: (owner: string) => boolean): void {
  const held = rowsIn(db, 'SELECT owner FROM payments WHERE owner IS NOT NULL');
  if (!held.some(({ owner }) => isAlive(String(owner)))) return;
  throw new Failure(
    'temporary',
    'Nothing was moved: another process is working on a payment of this home.',
    { hint: 'Wait until the other process ends, then run the same command again.' },
  );
}

/** Writes one batch of rows in a separate transaction. */
const move = <T>(database: Postgres, action: (sql: Sql) => Promise<T>): Promise<T> =>
  database.transaction(action, { locks: ['move'], isUnlimited: true });

async function movePayments(
  database: Postgres,
  db: Database.Database,
  now: () => number,
): Promise<number> {
  const clocks = limitClocksIn(db, now);
  let count = 0;
  for (let last = ''; ;) {
    const page = 'SELECT * FROM payments WHERE id > ? ORDER BY id LIMIT ?';
    const payments = rowsIn(db, page, last, rowsAtOnce);
    const ids = payments.map(({ id }) => String(id));
    if (ids.length === 0) return count;
    count += ids.length;
    last = ids.at(-1) ?? '';
    const of = (table: string): StoredRow[] =>
      rowsIn(
        db,
        `SELECT * FROM ${table} WHERE payment_id IN (${placeholders(ids.length)})`,
        ...ids,
      );
    const [attempts, trail] = [of('attempts'), of('trail')];
    await move(database, (sql) => copyPayments(sql, payments, attempts, trail, clocks));
  }
}

const clocksSchema = v.array(
  v.object({
    account: v.string(),
    time: v.number(),
    machine: v.number(),
    service: v.nullable(v.number()),
  }),
);

/**
 * Returns the current time on the daily-limit clock of each account. svcpay needs the current time
 * to convert the submission times of attempts to the database's clock.
 */
function limitClocksIn(db: Database.Database, now: () => number): Map<string, number> {
  const rows = v.parse(clocksSchema, rowsIn(db, 'SELECT * FROM limit_clocks'));
  return new Map(rows.map(({ account, ...clock }) => [account, advanced(clock, now(), null).time]));
}

/**
 * Tables from which svcpay copies only missing rows, because rows that the database already has are
 * equally correct.
 */
const neverChanged = [
  'settlement_rates',
  'book_entries',
  'book_ties',
  'book_times',
  'book_accepted',
  'book_closes',
  'notes',
  'proposals',
  'budgets',
] as const;

const moveTable = (database: Postgres, db: Database.Database, table: string): Promise<void> =>
  move(database, (sql) => insertMissing(sql, table, rowsIn(db, `SELECT * FROM ${table}`)));

async function insertMissing(sql: Sql, table: string, rows: readonly StoredRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsAtOnce)
    await sql.run(...inserted(table, rows.slice(at, at + rowsAtOnce), 'ON CONFLICT DO NOTHING'));
}

/** Copies events, which get new ids in the database. Returns their number. */
async function moveEvents(database: Postgres, db: Database.Database): Promise<number> {
  await moveTable(database, db, 'consumers');
  const numbers = new Map<unknown, number>();
  for (const { id: own, ...row } of rowsIn(db, 'SELECT * FROM events ORDER BY id')) {
    const backlog = 'SELECT consumer, txn_id FROM backlog WHERE event_id = ?';
    const waiting = rowsIn(db, backlog, Number(own));
    const batch = `moved ${own} ${row['received_at']} ${row['signature']}`;
    const event = { ...row, duplicate_of: numbers.get(row['duplicate_of']), batch };
    numbers.set(own, await move(database, (sql) => copyEvent(sql, event, waiting)));
  }
  return numbers.size;
}

/** Returns the id of the event, which the database may have already with the same `batch`. */
async function copyEvent(
  sql: Sql,
  event: Partial<StoredRow>,
  waiting: readonly StoredRow[],
): Promise<number> {
  const { received_at: receivedAt = null, batch = null } = event;
  const known = 'SELECT id FROM events WHERE received_at = ? AND batch = ?';
  const [moved] = v.parse(idsSchema, await sql.all(known, receivedAt, batch));
  if (moved !== undefined) return moved.id;
  const [added] = v.parse(idsSchema, await sql.all(...inserted('events', [event], 'RETURNING id')));
  const id = added?.id ?? 0;
  for (const { consumer, txn_id: txnId } of waiting) {
    const row = { consumer, eventId: id, txnId, queuedAt: receivedAt };
    await sql.run(...inserted('backlog', [row]));
    const lease = { consumer, txnId, firstEvent: id };
    await sql.run(...inserted('leases', [lease], 'ON CONFLICT DO NOTHING'));
  }
  return id;
}

const idsSchema = v.array(v.object({ id: v.number() }));
const rowsAtOnce = 200;
const value = v.union([v.string(), v.number(), v.null(), v.instance(Uint8Array)]);
const bytes = v.pipe(
  v.instance(ArrayBuffer),
  v.transform((memory) => new Uint8Array(memory)),
);
/** Database rows with all their columns. */
const rowsSchema = v.array(v.record(v.string(), v.union([value, bytes])));
type StoredRow = v.InferOutput<typeof rowsSchema>[number];

const rowsIn = (
  db: Database.Database,
  text: string,
  ...values: readonly (string | number)[]
): StoredRow[] => v.parse(rowsSchema, db.prepare(text).all(...values));

/**
 * Copies payments that the database lacks, with their attempts. Updates a payment in the target
 * database if the source has a later version of the payment.
 * @param clocks the current time on the daily-limit clock of each account in the source, with which
 * svcpay calculates how long ago each attempt was submitted
 */
async function copyPayments(
  sql: Sql,
  payments: readonly StoredRow[],
  attempts: readonly StoredRow[],
  trail: readonly StoredRow[],
  clocks: ReadonlyMap<string, number>,
): Promise<void> {
  const own = await withoutOthers(sql, payments, attempts);
  if (own.length === 0) return;
  const known = own.map(({ id }) => String(id));
  // Locks the payments until the end of the transaction.
  const lock = `SELECT 1 FROM payments WHERE id IN (${placeholders(known.length)})
    ORDER BY id FOR UPDATE`;
  await sql.all(lock, ...known);
  const before = await rowsWith(sql, known);
  const updatedAt = new Map(before.map(({ payment }) => [payment.id, payment.updatedAt]));
  const later = own.filter(
    (row) => Number(row['updated_at']) > (updatedAt.get(String(row['id'])) ?? 0),
  );
  if (later.length === 0) return;
  const ids = new Set(later.map(({ id }) => String(id)));
  const at = await sql.now();
  const theirs = attempts
    .filter((row) => ids.has(String(row['payment_id'])))
    .map((row) => timedByDatabase(row, at, clocks));
  await addAll(
    sql,
    before.filter(({ payment }) => ids.has(payment.id)),
    -1,
  );
  await sql.run(
    ...inserted('payments', later, `ON CONFLICT (id) DO UPDATE SET ${overwritten(later, ['id'])}`),
  );
  const key = ['payment_id', 'number'];
  const conflict = `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${overwritten(theirs, key)}`;
  await sql.run(...inserted('attempts', theirs, conflict));
  const steps = trail.filter((row) => ids.has(String(row['payment_id'])));
  await insertMissing(sql, 'trail', steps);
  await addAll(sql, await rowsWith(sql, [...ids]), 1);
  const fresh = [...ids].filter((id) => !updatedAt.has(id));
  if (fresh.length > 0) await sql.run(recordSubmissions(fresh.length), at, ...fresh);
}

/**
 * Records the copied payments as submitted, so that svcpay notices a backup that was made before
 * the move (see `Identity.latest`).
 */
const recordSubmissions = (payments: number): string =>
  `INSERT INTO submissions (account, latest, submitted_at)
   SELECT account, max(payment_id), ? FROM attempts
     WHERE submitted_at IS NOT NULL AND payment_id IN (${placeholders(payments)}) GROUP BY account
   ON CONFLICT (account) DO UPDATE
     SET latest = excluded.latest, submitted_at = excluded.submitted_at`;

const rowsWith = async (sql: Sql, ids: readonly string[]): Promise<PaymentRow[]> =>
  readRows(await sql.all(selectPayments(`p.id IN (${placeholders(ids.length)})`), ...ids));

/**
 * Converts the submission time of an attempt to the clock of the target database, so that the
 * attempt still counts against daily limits for 24 hours after its submission.
 */
function timedByDatabase(
  row: StoredRow,
  at: number,
  clocks: ReadonlyMap<string, number>,
): StoredRow {
  const time = row['limit_time'];
  const ago = (clocks.get(String(row['account'])) ?? at) - Number(time);
  return typeof time === 'number' ? { ...row, limit_time: at - ago } : row;
}

/** Adds the amounts of payments to the stored sums, or subtracts the amounts if the sign is -1. */
async function addAll(sql: Sql, rows: readonly PaymentRow[], sign: 1 | -1): Promise<void> {
  for (const { payment, lastChange } of rows)
    for (const attempt of payment.attempts)
      for (const spend of spendsOf(payment, attempt))
        await sql.run(...addSpending([payment.id, attempt.number], spend, sign, lastChange));
}

const overwritten = (rows: readonly StoredRow[], key: readonly string[]): string =>
  Object.keys(rows[0] ?? {})
    .filter((name) => !key.includes(name))
    .map((name) => `${name} = excluded.${name}`)
    .join(', ');

const knownSchema = v.array(
  v.object({ id: v.string(), scope: v.string(), ref: v.string(), txn_id: v.nullable(v.string()) }),
);

/**
 * Returns the given payments without those that another home has already stored in the database
 * with the same reference and transaction. Throws Failure `usage` if payments with the same
 * reference have different transactions.
 */
async function withoutOthers(
  sql: Sql,
  payments: readonly StoredRow[],
  attempts: readonly StoredRow[],
): Promise<readonly StoredRow[]> {
  const values = payments.flatMap((row) => [row['scope'] ?? null, row['ref'] ?? null]);
  const text =
    'SELECT id, scope, ref, txn_id FROM payments JOIN attempts ON payment_id = id ' +
    `WHERE (scope, ref) IN (${placeholders(payments.length, '(?, ?)')})`;
  const stored = v.parse(knownSchema, await sql.all(text, ...values));
  return payments.filter((row) => {
    const others = stored.filter(
      ({ id, scope, ref }) => scope === row['scope'] && ref === row['ref'] && id !== row['id'],
    );
    const theirs = new Set<unknown>(others.map(({ txn_id: txnId }) => txnId));
    const isTheirs = attempts.every(
      ({ payment_id: id, txn_id: txnId }) =>
        id !== row['id'] || txnId === null || theirs.has(txnId),
    );
    if (others.length > 0 && !isTheirs)
      throw invalid(
        'Nothing more was moved: the database has a different payment with the reference ' +
          `${String(row['ref'])}.`,
        { hint: 'Compare the two payments with the service before you move other payments.' },
      );
    return others.length === 0;
  });
}
