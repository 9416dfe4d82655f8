// Copies payments and their attempts from another journal into a database, with the amounts that
// the payments spent.
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { readRows, selectPayments, type PaymentRow } from '../journal/rows.js';
import { addSpending, keyOf, spendingOf } from '../journal/spending.js';
import { inserted, placeholders, type Sql } from './sql.js';

export const rowsAtOnce = 200;
const value = v.union([v.string(), v.number(), v.null(), v.instance(Uint8Array)]);
const bytes = v.pipe(
  v.instance(ArrayBuffer),
  v.transform((memory) => new Uint8Array(memory)),
);
/** Database rows with all their columns. */
export const rowsSchema = v.array(v.record(v.string(), v.union([value, bytes])));
export type StoredRow = v.InferOutput<typeof rowsSchema>[number];

/**
 * Copies payments that the database lacks, with their attempts. Updates a payment in the target
 * database if the source has a later version of the payment.
 * @param clocks the current time on the daily-limit clock of each account in the source, with which
 * svcpay calculates how long ago each attempt was submitted
 */
export async function copyPayments(
  sql: Sql,
  payments: readonly StoredRow[],
  attempts: readonly StoredRow[],
  trail: readonly StoredRow[],
  clocks: ReadonlyMap<string, number>,
): Promise<void> {
  const own = await withoutOthers(sql, payments, attempts);
  const before = await lockedRows(sql, own);
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
  for (let at = 0; at < steps.length; at += rowsAtOnce)
    await sql.run(...inserted('trail', steps.slice(at, at + rowsAtOnce), 'ON CONFLICT DO NOTHING'));
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

/** The rows of the given payments in the database, locked until the end of the transaction. */
async function lockedRows(sql: Sql, payments: readonly StoredRow[]): Promise<PaymentRow[]> {
  const ids = payments.map(({ id }) => String(id));
  await sql.all(
    `SELECT 1 FROM payments WHERE id IN (${placeholders(ids.length)}) ORDER BY id FOR UPDATE`,
    ...ids,
  );
  return rowsWith(sql, ids);
}

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
  const groups = rows.flatMap(({ payment, lastChange }) =>
    payment.attempts.flatMap((attempt) =>
      spendingOf(payment, attempt).map((group) => ({
        key: keyOf(group),
        statement: addSpending([payment.id, attempt.number], group, sign, lastChange),
      })),
    ),
  );
  // Locks the rows of the stored sums in the same order as payments do, to prevent deadlocks.
  for (const { statement } of groups.toSorted((one, other) => (one.key < other.key ? -1 : 1)))
    await sql.run(...statement);
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
  const namesakes = (row: StoredRow) =>
    stored.filter(
      ({ id, scope, ref }) => scope === row['scope'] && ref === row['ref'] && id !== row['id'],
    );
  for (const row of payments) {
    const others = namesakes(row);
    const own = attempts.filter(
      (attempt) => attempt['payment_id'] === row['id'] && attempt['txn_id'] !== null,
    );
    if (
      others.length === 0 ||
      own.every((attempt) => others.some(({ txn_id: id }) => id === attempt['txn_id']))
    )
      continue;
    throw new Failure(
      'usage',
      'Nothing more was moved: the database has a different payment with the reference ' +
        `${String(row['ref'])}.`,
      {
        hint: 'Compare the two payments with the service before you move other payments.',
      },
    );
  }
  return payments.filter((row) => namesakes(row).length === 0);
}
