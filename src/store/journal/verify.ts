// Compares stored payments with the ends of their trails, page by page, whatever the length of the
// history.
import * as v from 'valibot';
import { messageOf } from '../../formats/text.js';
import { placeholders, rowOf, type SqlDatabase } from '../database/sql.js';
import type { CheckedPayment } from './journal.js';
import { outcomeOf, type Payment } from './payment.js';
import { arrivalOf, readRows, selectPayments } from './rows.js';
import { differenceFrom, readTrail, replayed, selectTrails } from './trail.js';

const idsSchema = v.array(
  rowOf({ id: v.string(), ref: v.string(), txnId: v.nullable(v.string()) }),
);
type Named = v.InferOutput<typeof idsSchema>[number];

const pageText = `SELECT p.id, p.ref, (SELECT max(a.txn_id) FROM attempts a
    WHERE a.payment_id = p.id) AS txn_id
  FROM payments p WHERE p.id > ? AND p.updated_at >= ? ORDER BY p.id LIMIT ?`;

/** How often svcpay compares a payment again, because another process may have changed it. */
const most = 3;

/** Repeats a check that finds differences, because another process may change what it reads. */
export async function againIfAny<T>(check: () => Promise<readonly T[]>): Promise<readonly T[]> {
  let found = await check();
  for (let turn = 1; turn < most && found.length > 0; turn += 1) found = await check();
  return found;
}

/** Checks the payments of all accounts in the order of their ids, beginning after `after`. */
export async function checkedPage(
  database: SqlDatabase,
  after: string,
  since: number,
  atMost: number,
): Promise<CheckedPayment[]> {
  const page = v.parse(
    idsSchema,
    await database.read((sql) => sql.all(pageText, after, since, atMost)),
  );
  let found = await checked(database, page);
  for (let turn = 1; turn < most && found.some(differs); turn += 1) {
    const again = new Map(
      (await checked(database, found.filter(differs))).map((each) => [each.id, each]),
    );
    found = found.map((each) => again.get(each.id) ?? each);
  }
  return found;
}

const differs = (each: CheckedPayment): boolean => each.differs !== undefined;

async function checked(database: SqlDatabase, page: readonly Named[]): Promise<CheckedPayment[]> {
  const ids = page.map(({ id }) => id);
  if (ids.length === 0) return [];
  const condition = `p.id IN (${placeholders(ids.length)})`;
  const [stored, steps] = await database.read(
    async (sql) =>
      [
        byPayment(await sql.all(selectPayments(condition), ...ids), 'id'),
        byPayment(await sql.all(selectTrails(ids.length), ...ids), 'payment_id'),
      ] as const,
  );
  return page.map(({ id, ref, txnId }) => {
    const rows = steps.get(id) ?? [];
    const each = { id, ref, txnId, steps: rows.length };
    try {
      const [row] = readRows(stored.get(id) ?? []);
      if (row === undefined) return each;
      const { payment } = row;
      const differs =
        differenceFrom(payment, replayed(readTrail(rows))) ??
        derivedDifference(payment, stored.get(id));
      return { ...each, payment, differs };
    } catch (error) {
      return { ...each, differs: messageOf(error) };
    }
  });
}

function byPayment(rows: readonly unknown[], name: string): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const row of v.parse(v.array(v.record(v.string(), v.unknown())), rows)) {
    const id = String(row[name]);
    const same = found.get(id);
    if (same === undefined) found.set(id, [row]);
    else same.push(row);
  }
  return found;
}

const derivedSchema = v.array(
  rowOf({
    number: v.number(),
    outcome: v.string(),
    receivesCcy: v.nullable(v.string()),
    receivesTotal: v.nullable(v.string()),
  }),
);

/** Checks the columns from which the daily limits sum up what an account spent. */
function derivedDifference(
  { attempts }: Payment,
  rows: readonly unknown[] = [],
): string | undefined {
  const derived = v.parse(derivedSchema, rows);
  const wrong = attempts.find((attempt) => {
    const row = derived.find(({ number }) => number === attempt.number);
    const { ccy, total } = arrivalOf(attempt);
    return (
      row?.outcome !== outcomeOf(attempt) || row.receivesCcy !== ccy || row.receivesTotal !== total
    );
  });
  return wrong && `the daily limit counts attempt ${wrong.number} with other values`;
}
