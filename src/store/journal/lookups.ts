// Finds payments in the journal, and lists them.
import * as v from 'valibot';
import { TimeFromNow, type SqlDatabase, type SqlValue } from '../database/sql.js';
import { unfinishedOf } from './figures.js';
import type { Journal } from './journal.js';
import { alikeRef, attemptNamed, isUnfinished, type Payment } from './payment.js';
import { paymentsIn, readRows, selectPayments, type PaymentRow } from './rows.js';

export interface SqlJournalDeps {
  readonly database: SqlDatabase;
  /** Whether a process works on the payment. */
  readonly isHeld: (row: PaymentRow, at: number) => boolean;
}

type Lookups = Pick<
  Journal,
  | 'read'
  | 'find'
  | 'named'
  | 'beginning'
  | 'latest'
  | 'page'
  | 'alike'
  | 'runs'
  | 'inRun'
  | 'paidInRun'
  | 'open'
  | 'openSince'
  | 'unfinished'
>;

export function lookups({ database, isHeld }: SqlJournalDeps): Lookups {
  const read = async (condition: string, ...values: SqlValue[]): Promise<Payment[]> =>
    paymentsIn(await selected(database, condition, values));
  return {
    read: async (id) => (await read('p.id = ?', id))[0],
    find: (scope, name) => find(database, scope, name),
    named: (name) => read(`p.id IN (${namedIds})`, name, attemptNamed(name)[0], name),
    beginning: (scope, start) => read(`p.id IN (${beginningIds})`, ...startingWith(start), scope),
    latest: async (account, atMost, only) => {
      const ids = `p.id IN (${latestIds})`;
      if (only === undefined) return newestFirst(await read(ids, account, atMost));
      const condition = `${ids} AND p.updated_at >= ? AND p.request LIKE ?`;
      const since = new TimeFromNow(-only.changedWithinMs);
      return newestFirst(await read(condition, account, atMost, since, `%${only.mentioning}%`));
    },
    page: async (scope, after, atMost) =>
      (await read(`p.id IN (${pageIds})`, scope, after, atMost)).toSorted((a, b) =>
        a.id < b.id ? -1 : 1,
      ),
    alike: (scope, ref) => read('p.scope = ? AND p.ref_alike = ?', scope, alikeRef(ref)),
    runs: async (scope, atMost) =>
      v.parse(runsSchema, await database.read((sql) => sql.all(latestRuns, scope, atMost))),
    inRun: (scope, run) => read('p.scope = ? AND p.batch_run = ?', scope, run),
    paidInRun: async (scope, run) => {
      const rows = await database.read((sql) => sql.all(paidRows, scope, run));
      return v.parse(paidSchema, rows).map(({ row }) => row);
    },
    open: async (scope) =>
      (await read('p.scope = ? AND p.unfinished = 1', scope)).filter(isUnfinished),
    openSince: async (ms) => {
      const condition = 'p.opened_at <= ? AND p.unfinished = 1';
      const rows = readRows(await selected(database, condition, [new TimeFromNow(-ms)]));
      return rows.flatMap(({ payment, owner }) =>
        isUnfinished(payment) ? { ...payment, owner } : [],
      );
    },
    unfinished: () =>
      database.read(async (sql) => {
        const rows = readRows(await sql.all(selectPayments('p.unfinished = 1')));
        const at = await sql.now();
        return unfinishedOf(
          rows.map((row) => ({ ...row, isHeld: isHeld(row, at) })),
          at,
        );
      }),
  };
}

const pageIds = 'SELECT id FROM payments WHERE scope = ? AND id > ? ORDER BY id LIMIT ?';

const latestRuns = `SELECT batch_run AS run, CAST(count(*) AS TEXT) AS payments FROM payments
  WHERE scope = ? AND batch_run IS NOT NULL GROUP BY batch_run ORDER BY batch_run DESC LIMIT ?`;
const runsSchema = v.array(
  v.object({ run: v.string(), payments: v.pipe(v.string(), v.transform(Number)) }),
);

const paidRows = `SELECT batch_row AS row FROM payments p WHERE scope = ? AND batch_run = ?
  AND EXISTS (SELECT 1 FROM attempts WHERE payment_id = p.id
    AND state IN ('submitting','in-flight','paid','error','unknown')) ORDER BY opened_at, id`;
const paidSchema = v.array(v.object({ row: v.string() }));

const selected = (
  database: SqlDatabase,
  condition: string,
  values: readonly SqlValue[],
): Promise<readonly unknown[]> =>
  database.read(
    async (sql) => (await sql.last([selectPayments(condition), ...values])).at(-1) ?? [],
  );

async function find(
  database: SqlDatabase,
  scope: string,
  name: string,
): Promise<Payment | undefined> {
  const [ref, number] = attemptNamed(name);
  const ids = `SELECT id FROM payments WHERE id = ? UNION ALL SELECT id FROM payments
    WHERE scope = ? AND ref IN (?, ?)
    UNION ALL SELECT payment_id FROM attempts WHERE txn_id = ?`;
  const rows = await selected(database, `p.id IN (${ids})`, [name, scope, name, ref, name]);
  const found = paymentsIn(rows).filter((payment) => payment.scope === scope);
  return (
    found.find(({ id }) => id === name) ??
    found.find(({ attempts }) => attempts.some(({ txnId }) => txnId === name)) ??
    found.find((payment) => payment.ref === name) ??
    found.find(({ attempts }) => attempts.some((each) => each.number === number))
  );
}

const namedIds = `SELECT id FROM payments WHERE ref IN (?, ?)
  UNION ALL SELECT payment_id FROM attempts WHERE txn_id = ?`;

const beginningIds = `SELECT payment_id FROM attempts WHERE txn_id >= ? AND txn_id < ?
  AND (SELECT scope FROM payments WHERE id = payment_id) = ? GROUP BY payment_id LIMIT 2`;
const startingWith = (start: string): [from: string, to: string] => [start, `${start}\u{10FFFF}`];

/** Selects the payments of an account with the most recently submitted attempts. */
export const latestIds = `SELECT payment_id FROM attempts a
  WHERE account = ? AND limit_time IS NOT NULL AND NOT EXISTS (SELECT 1 FROM attempts later
    WHERE later.payment_id = a.payment_id AND later.limit_time > a.limit_time)
  ORDER BY limit_time DESC LIMIT ?`;

export const newestFirst = (payments: readonly Payment[]): Payment[] =>
  payments.toSorted((a, b) => lastSubmitted(b) - lastSubmitted(a));

const lastSubmitted = ({ attempts }: Payment): number =>
  Math.max(...attempts.map(({ submittedAt }) => submittedAt ?? 0));
