// Reads payments and their attempts from the rows of two tables. Contains the queries that find,
// list and count payments. Each query of payments reads both tables together, with one row per
// attempt.
import * as v from 'valibot';
import { columnOf } from '../../formats/text.js';
import {
  flag,
  namedFields,
  placeholders,
  type Sql,
  type SqlDatabase,
  type SqlValue,
  TimeFromNow,
  jsonOf,
} from '../database/sql.js';
import {
  type Claim,
  type Journal,
  unfinishedStatuses,
  type UnfinishedPayments,
} from './journal.js';
import {
  attemptOf,
  checkPayment,
  type Attempt,
  type Payment,
  alikeRef,
  attemptNamed,
  attemptStates,
  mayHavePaid,
  movedInSql,
  outcomeOf,
  status,
} from './payment.js';
import type { Actor } from './steps.js';

export interface PaymentRow extends Claim {
  readonly owner: string | null;
  readonly leaseUntil: number;
}

export const attemptSchema = v.object({
  number: v.number(),
  request: v.string(),
  state: v.picklist(attemptStates),
  txnId: v.nullable(v.string()),
  txnState: v.nullable(v.string()),
  approvedTotal: v.nullable(v.string()),
  approvedReceives: v.nullable(v.string()),
  spendCcy: v.nullable(v.string()),
  budget: v.nullable(v.string()),
  submittedAt: v.nullable(v.number()),
  resolution: v.nullable(
    jsonOf(v.object({ moved: v.boolean(), note: v.string(), at: v.number() })),
  ),
});

const attemptNames = v.keyof(attemptSchema).options;

/** The columns of an attempt, with its outcome for conditions in SQL. */
export const attemptColumns = [...attemptNames.map(columnOf), 'outcome'];

/** The values of an attempt, in the order of `attemptColumns`. */
export const attemptValues = (attempt: Attempt): SqlValue[] => [
  ...attemptNames.map((name) =>
    name === 'resolution'
      ? attempt.resolution && JSON.stringify(attempt.resolution)
      : attempt[name],
  ),
  outcomeOf(attempt),
];

/** @param condition an SQL condition, in which `p` is the row of the payment */
export const selectPayments = (
  condition: string,
): string => `SELECT p.*, ${attemptColumns.map((name) => `a.${name}`).join(', ')}
  FROM payments p LEFT JOIN attempts a ON a.payment_id = p.id WHERE ${condition}
    ORDER BY p.opened_at, p.id, a.number`;

const termsSchema = v.object({
  maxFee: v.optional(
    v.union([
      v.object({ amount: v.string(), ccy: v.string() }),
      v.object({ percent: v.string(), floor: v.optional(v.string()) }),
    ]),
  ),
  maxRateLoss: v.optional(v.string()),
  maxTotal: v.optional(v.object({ amount: v.string(), ccy: v.string() })),
});

const paymentSchema = v.pipe(
  v.object({
    id: v.string(),
    scope: v.string(),
    account: v.string(),
    ref: v.string(),
    kind: v.string(),
    instruction: v.string(),
    digest: v.string(),
    idempotencyKey: v.nullable(v.string()),
    terms: jsonOf(termsSchema),
    batchRun: v.nullable(v.string()),
    batchRow: v.nullable(v.string()),
    abandoned: flag,
    openedAt: v.number(),
    updatedAt: v.number(),
  }),
  v.transform(({ batchRun: run, batchRow: row, ...payment }) => ({
    ...payment,
    ...(run !== null && row !== null && { batch: { run, row } }),
  })),
);

const claimSchema = v.object({
  owner: v.nullable(v.string()),
  leaseUntil: v.number(),
  fence: v.number(),
  lastChange: v.nullable(v.string()),
});

const rowsSchema = v.array(
  v.pipe(
    namedFields,
    v.transform((fields) => ({
      payment: v.parse(paymentSchema, fields),
      attempt: v.parse(attemptSchema, fields),
      claim: v.parse(claimSchema, fields),
    })),
  ),
);

/** Reads payments from rows. Throws Failure `unexpected` if a payment is inconsistent. */
export function readRows(rows: readonly unknown[]): PaymentRow[] {
  const found = new Map<string, Omit<PaymentRow, 'payment'> & { payment: Payment }>();
  for (const { payment, attempt, claim } of v.parse(rowsSchema, rows)) {
    const { attempts = [] } = found.get(payment.id)?.payment ?? {};
    found.set(payment.id, { ...claim, payment: { ...payment, attempts: [...attempts, attempt] } });
  }
  return [...found.values()].map((row) => ({ ...row, payment: checkPayment(row.payment) }));
}

export const paymentsIn = (rows: readonly unknown[]): Payment[] =>
  readRows(rows).map(({ payment }) => payment);

const requestSchema = v.object({
  receives: v.optional(v.object({ ccy: v.string(), value: v.string() })),
  body: v.optional(v.object({ destReq: v.object({ ccy: v.string() }) })),
});

/**
 * The currency that the recipient receives, and the received amount if the order states this
 * amount.
 */
export function arrivalOf({ request }: Pick<Attempt, 'request'>): {
  readonly ccy: string | null;
  readonly total: string | null;
} {
  const { receives, body } = v.parse(requestSchema, JSON.parse(request));
  return { ccy: receives?.ccy ?? body?.destReq.ccy ?? null, total: receives?.value ?? null };
}

export const rowOfPayment = async (sql: Sql, id: string): Promise<PaymentRow | undefined> =>
  readRows(await sql.all(selectPayments('p.id = ?'), id))[0];

const idsSchema = v.array(v.object({ id: v.string() }));

/**
 * Locks the row of a payment with one statement, which waits for other writers, and then reads the
 * row with another statement, which sees the writes of the other writers.
 */
export async function lockedRow(
  sql: Sql,
  { forUpdate }: SqlDatabase,
  condition: string,
  ...values: SqlValue[]
): Promise<PaymentRow | undefined> {
  const text = `SELECT id FROM payments WHERE ${condition}${forUpdate}`;
  const [found] = v.parse(idsSchema, await sql.all(text, ...values));
  return found && rowOfPayment(sql, found.id);
}

export interface SqlJournalDeps {
  readonly database: SqlDatabase;
  /** Whether a process is working on the payment of a row. */
  readonly isHeld: (row: PaymentRow, at: number) => boolean;
  /** Who makes the changes of the journal. */
  readonly by: Actor;
}

type Lookups = Pick<
  Journal,
  | 'read'
  | 'find'
  | 'named'
  | 'beginning'
  | 'latest'
  | 'comparable'
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
  const rowsWith = async (condition: string, ...values: SqlValue[]): Promise<PaymentRow[]> =>
    readRows(
      await database.read(
        async (sql) => (await sql.last([selectPayments(condition), ...values])).at(-1) ?? [],
      ),
    );
  const read = async (condition: string, ...values: SqlValue[]): Promise<Payment[]> =>
    (await rowsWith(condition, ...values)).map(({ payment }) => payment);
  return {
    read: async (id) => (await read('p.id = ?', id))[0],
    async find(scope, name) {
      const [ref, number] = attemptNamed(name);
      const all = await read(`p.id IN (${anyIds})`, name, scope, name, ref, name, name);
      const found = all.filter((payment) => payment.scope === scope);
      return (
        found.find((payment) => payment.ref === name) ??
        found.find(({ id }) => id === name) ??
        found.find((each) => attemptOf(each, name) !== undefined) ??
        found.find(({ attempts }) => attempts.some((each) => each.number === number)) ??
        found.find((payment) => payment.idempotencyKey === name && mayHavePaid(payment))
      );
    },
    named: (name) => read(`p.id IN (${namedIds})`, name, attemptNamed(name)[0], name),
    beginning: (scope, start) =>
      read(`p.id IN (${beginningIds})`, start, `${start}\u{10FFFF}`, scope),
    latest: async (account, atMost) =>
      (await read(`p.id IN (${latestIds})`, account, atMost)).toSorted(
        (a, b) => lastSubmitted(b) - lastSubmitted(a),
      ),
    comparable: async (...wanted) => read(...comparable(...wanted)),
    page: async (scope, after, atMost) =>
      (await read(`p.id IN (${pageIds})`, scope, after, atMost)).toSorted((a, b) =>
        a.id < b.id ? -1 : 1,
      ),
    async alike(scope, refs) {
      const found: Payment[] = [];
      for (let from = 0; from < refs.length; from += refsAtOnce) {
        const some = refs.slice(from, from + refsAtOnce).map(alikeRef);
        const condition = `p.scope = ? AND p.ref_alike IN (${placeholders(some.length)})`;
        found.push(...(await read(condition, scope, ...some)));
      }
      return found;
    },
    runs: async (scope, atMost) =>
      v.parse(runsSchema, await database.read((sql) => sql.all(latestRuns, scope, atMost))),
    inRun: (scope, run) => read('p.scope = ? AND p.batch_run = ?', scope, run),
    async paidInRun(scope, run) {
      const rows = await database.read((sql) => sql.all(paidRows, scope, run));
      return v.parse(paidSchema, rows).map(({ row }) => row);
    },
    open: (scope) => read('p.scope = ? AND p.unfinished = 1', scope),
    openSince: async (ms) =>
      (await rowsWith('p.opened_at <= ? AND p.unfinished = 1', new TimeFromNow(-ms))).map(
        ({ payment, owner }) => ({ ...payment, owner }),
      ),
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

/** The number of references in one statement. */
const refsAtOnce = 500;

const pageIds = 'SELECT id FROM payments WHERE scope = ? AND id > ? ORDER BY id LIMIT ?';

const latestRuns = `SELECT batch_run AS run, count(*) AS payments FROM payments
  WHERE scope = ? AND batch_run IS NOT NULL GROUP BY batch_run ORDER BY batch_run DESC LIMIT ?`;
const runsSchema = v.array(v.object({ run: v.string(), payments: v.number() }));

const paidRows = `SELECT batch_row AS row FROM payments p WHERE scope = ? AND batch_run = ?
  AND EXISTS (SELECT 1 FROM attempts WHERE payment_id = p.id
    AND outcome IN (${movedInSql})) ORDER BY opened_at, id`;
const paidSchema = v.array(v.object({ row: v.string() }));

const anyIds = `SELECT id FROM payments WHERE id = ?
  UNION ALL SELECT id FROM payments WHERE scope = ? AND ref IN (?, ?)
  UNION ALL SELECT id FROM payments WHERE idempotency_key = ?
  UNION ALL SELECT payment_id FROM attempts WHERE txn_id = ?`;

const namedIds = `SELECT id FROM payments WHERE ref IN (?, ?)
  UNION ALL SELECT payment_id FROM attempts WHERE txn_id = ?`;

const beginningIds = `SELECT payment_id FROM attempts WHERE txn_id >= ? AND txn_id < ?
  AND (SELECT scope FROM payments WHERE id = payment_id) = ? GROUP BY payment_id LIMIT 2`;

/** Selects the ids of the account's payments whose attempts were submitted most recently. */
const latestIds = `SELECT payment_id FROM attempts a
  WHERE account = ? AND limit_time IS NOT NULL AND NOT EXISTS (SELECT 1 FROM attempts later
    WHERE later.payment_id = a.payment_id AND later.limit_time > a.limit_time)
  ORDER BY limit_time DESC LIMIT ?`;

/** The condition of {@link Journal.comparable}, with its values. */
export const comparable = (
  ...[scope, account, keys, withinMs, atMost]: Parameters<Journal['comparable']>
): [condition: string, ...values: SqlValue[]] => [
  `((p.scope = ? AND p.unfinished = 1) OR (p.id IN (${latestIds}) AND p.updated_at >= ?))
   AND p.instruction <> ${keys.reduce((text) => `replace(${text}, ?, '')`, 'p.instruction')}`,
  scope,
  account,
  atMost,
  new TimeFromNow(-withinMs),
  ...keys.map((key) => JSON.stringify(key)),
];

const lastSubmitted = ({ attempts }: Payment): number =>
  Math.max(...attempts.map(({ submittedAt }) => submittedAt ?? 0));

export interface DrivenPayment {
  readonly payment: Payment;
  /** The process that works on the payment, or that left the payment unfinished. */
  readonly owner: string | null;
  /** Whether the owner is still working on the payment. */
  readonly isHeld: boolean;
}

/**
 * Counts payments by status and age. Within each status, the age group with the oldest payment
 * comes first.
 * @param now the journal's clock
 */
export function unfinishedOf(
  payments: readonly DrivenPayment[],
  now: number,
): readonly UnfinishedPayments[] {
  const groups = new Map<string, UnfinishedPayments>();
  for (const driven of payments) {
    const is = statusOf(driven);
    if (is === undefined) continue;
    const since = sinceOf(driven.payment, is);
    const age = ageOf(now - since);
    const { count = 0, oldest = since } = groups.get(`${is} ${age}`) ?? {};
    const first = Math.min(oldest, since);
    groups.set(`${is} ${age}`, {
      status: is,
      age,
      count: count + 1,
      oldest: first,
      oldestSeconds: Math.max(0, now - first) / 1_000,
    });
  }
  return [...groups.values()].toSorted((a, b) =>
    a.status === b.status ? a.oldest - b.oldest : a.status < b.status ? -1 : 1,
  );
}

function statusOf({ payment, owner, isHeld }: DrivenPayment) {
  const is = status(payment);
  if (is !== 'in-flight') return unfinishedStatuses.find((each) => each === is);
  const isAcknowledged = payment.attempts.every(({ state }) => state !== 'submitting');
  return isHeld || (isAcknowledged && owner === null) ? is : 'unattended';
}

/**
 * Returns the time at which svcpay submitted the oldest unfinished attempt. If no unfinished
 * attempt was submitted, returns the time at which the payment was opened. A reopened payment may
 * have been submitted much later than it was opened.
 */
function sinceOf({ attempts, openedAt }: Payment, is: UnfinishedPayments['status']): number {
  const isThese = (state: string): boolean =>
    is === 'unknown' || is === 'error' ? state === is : ['submitting', 'in-flight'].includes(state);
  const times = attempts.flatMap(({ state, submittedAt }) =>
    isThese(state) && submittedAt !== null ? submittedAt : [],
  );
  return times.length === 0 ? openedAt : Math.min(...times);
}

const ageOf = (ms: number): UnfinishedPayments['age'] =>
  ms < 60_000 ? '1m' : ms < 600_000 ? '10m' : ms < 3_600_000 ? '1h' : 'older';
