// Payments and their attempts as rows of two tables. They are read together, one row per attempt.
import * as v from 'valibot';
import { columnOf } from '../../formats/text.js';
import { flag, namedFields, type Sql, type SqlDatabase, type SqlValue } from '../database/sql.js';
import type { Claim } from './journal.js';
import {
  checkPayment,
  type Attempt,
  type BatchMark,
  type Payment,
  type PaymentDraft,
} from './payment.js';

export interface PaymentRow extends Claim {
  readonly owner: string | null;
  readonly leaseUntil: number;
}

const attemptSchema = v.object({
  number: v.number(),
  state: v.picklist([
    'requested',
    'quoted',
    'submitting',
    'in-flight',
    'paid',
    'failed',
    'lapsed',
    'error',
    'unknown',
  ]),
  txnId: v.nullable(v.string()),
  txnState: v.nullable(v.string()),
  approvedTotal: v.nullable(v.string()),
  approvedReceives: v.nullable(v.string()),
  spendCcy: v.nullable(v.string()),
  submittedAt: v.nullable(v.number()),
  resolution: v.nullable(
    v.pipe(
      v.string(),
      v.parseJson(),
      v.object({ moved: v.boolean(), note: v.string(), at: v.number() }),
    ),
  ),
});

const attemptNames = [
  'number',
  'state',
  'txnId',
  'txnState',
  'approvedTotal',
  'approvedReceives',
  'spendCcy',
  'submittedAt',
  'resolution',
] as const satisfies readonly (keyof Attempt)[];

export const attemptColumns = attemptNames.map(columnOf);

/** The values of these columns. */
export const attemptValues = (attempt: Attempt): SqlValue[] =>
  attemptNames.map((name) =>
    name === 'resolution'
      ? attempt.resolution && JSON.stringify(attempt.resolution)
      : attempt[name],
  );

/** @param condition a condition on the payment, which is `p` */
export const selectPayments = (
  condition: string,
): string => `SELECT p.*, ${attemptColumns.map((name) => `a.${name}`).join(', ')}
  FROM payments p LEFT JOIN attempts a ON a.payment_id = p.id WHERE ${condition}
    ORDER BY p.opened_at, p.id, a.number`;

const termsSchema = v.object({
  maxFee: v.optional(
    v.union([v.object({ amount: v.string(), ccy: v.string() }), v.object({ percent: v.string() })]),
  ),
  maxRateLoss: v.optional(v.string()),
});

const paymentSchema = v.object({
  id: v.string(),
  scope: v.string(),
  account: v.string(),
  ref: v.string(),
  kind: v.string(),
  request: v.string(),
  fingerprint: v.string(),
  idempotencyKey: v.nullable(v.string()),
  terms: v.pipe(v.string(), v.parseJson(), termsSchema),
  abandoned: flag,
  openedAt: v.number(),
  updatedAt: v.number(),
});

const batchSchema = v.object({
  batchRun: v.nullable(v.string()),
  batchRow: v.nullable(v.string()),
});

/** The batch of a row, or undefined for a payment outside a batch. */
function batchOf(fields: Record<string, unknown>): { batch?: BatchMark } {
  const { batchRun, batchRow } = v.parse(batchSchema, fields);
  return batchRun === null || batchRow === null ? {} : { batch: { run: batchRun, row: batchRow } };
}

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
      payment: { ...v.parse(paymentSchema, fields), ...batchOf(fields) },
      attempt: v.parse(attemptSchema, fields),
      claim: v.parse(claimSchema, fields),
    })),
  ),
);

/** Throws Failure `unexpected` for an inconsistent payment. */
export function readRows(rows: readonly unknown[]): PaymentRow[] {
  const byId = new Map<string, v.InferOutput<typeof rowsSchema>>();
  for (const row of v.parse(rowsSchema, rows))
    byId.set(row.payment.id, [...(byId.get(row.payment.id) ?? []), row]);
  return [...byId.values()].flatMap((same) => {
    const attempts = same.map(({ attempt }) => attempt);
    return same
      .slice(0, 1)
      .map(({ payment, claim }) => ({ ...claim, payment: checkPayment({ ...payment, attempts }) }));
  });
}

export const paymentsIn = (rows: readonly unknown[]): Payment[] =>
  readRows(rows).map(({ payment }) => payment);

const requestSchema = v.object({
  receives: v.optional(v.object({ ccy: v.string(), value: v.string() })),
  body: v.optional(v.object({ destReq: v.object({ ccy: v.string() }) })),
});

/** The received currency, and the amount if the order states it. */
export function arrivalOf({ request }: Pick<PaymentDraft, 'request'>): {
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
 * Reads and locks a row. The first statement waits for other writers, so the second sees their
 * writes.
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

export const refLock = ({ scope, ref }: PaymentDraft): string => `ref ${scope} ${ref}`;

/**
 * The lock for an idempotency key. Payments with equal keys are opened and submitted one after the
 * other, whatever their references.
 */
export const keyLock = ({ idempotencyKey }: PaymentDraft): string[] =>
  idempotencyKey === null ? [] : [`key ${idempotencyKey}`];
