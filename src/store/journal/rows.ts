// Payments and their attempts as rows of two tables: read together, one row per attempt.
import * as v from 'valibot';
import { columnOf } from '../../formats/text.js';
import { flag, rowOf } from '../database/rows.js';
import type { SqlValue } from '../database/sql.js';
import { checkPayment, type Attempt, type Payment, type PaymentDraft } from './payment.js';

export interface Row {
  readonly payment: Payment;
  readonly owner: string | null;
  readonly leaseUntil: number;
  readonly fence: number;
  /** Identifies the last write, for when the answer to its commit is lost. */
  readonly lastChange: string | null;
}

const attemptFields = {
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
};

/** The columns of an attempt. */
export const attemptColumns = Object.keys(attemptFields).map(columnOf);

/** The values of these columns. */
export const attemptValues = ({
  number,
  state,
  txnId,
  txnState,
  approvedTotal,
  approvedReceives,
  spendCcy,
  submittedAt,
}: Attempt): SqlValue[] => [
  number,
  state,
  txnId,
  txnState,
  approvedTotal,
  approvedReceives,
  spendCcy,
  submittedAt,
];

/** @param condition on the payment, which is `p` */
export const selectPayments = (
  condition: string,
): string => `SELECT p.*, ${attemptColumns.map((name) => `a.${name}`).join(', ')}
  FROM payments p LEFT JOIN attempts a ON a.payment_id = p.id WHERE ${condition} ORDER BY p.opened_at, p.id, a.number`;

const termsSchema = v.object({
  maxFee: v.optional(
    v.union([v.object({ amount: v.string(), ccy: v.string() }), v.object({ percent: v.string() })]),
  ),
  maxRateLoss: v.optional(v.string()),
});

const rowsSchema = v.array(
  v.pipe(
    rowOf({
      ...attemptFields,
      id: v.string(),
      scope: v.string(),
      account: v.string(),
      ref: v.string(),
      kind: v.string(),
      request: v.string(),
      fingerprint: v.string(),
      idempotencyKey: v.nullable(v.string()),
      terms: v.pipe(v.string(), v.parseJson(), termsSchema),
      consent: v.picklist(['none', 'quote', 'standing']),
      abandoned: flag,
      openedAt: v.number(),
      updatedAt: v.number(),
      owner: v.nullable(v.string()),
      leaseUntil: v.number(),
      fence: v.number(),
      lastChange: v.nullable(v.string()),
    }),
    v.transform(({ owner, leaseUntil, fence, lastChange, ...columns }) => {
      const {
        number,
        state,
        txnId,
        txnState,
        approvedTotal,
        approvedReceives,
        spendCcy,
        submittedAt,
        ...payment
      } = columns;
      const attempt: Attempt = {
        number,
        state,
        txnId,
        txnState,
        approvedTotal,
        approvedReceives,
        spendCcy,
        submittedAt,
      };
      return { payment, attempt, owner, leaseUntil, fence, lastChange };
    }),
  ),
);

/** Throws Failure `unexpected` for an inconsistent payment. */
export function readRows(found: readonly unknown[]): Row[] {
  const byId = new Map<
    string,
    { row: Omit<Row, 'payment'>; payment: Omit<Payment, 'attempts'>; attempts: Attempt[] }
  >();
  for (const { payment, attempt, ...row } of v.parse(rowsSchema, found)) {
    const known = byId.get(payment.id);
    if (known === undefined) byId.set(payment.id, { row, payment, attempts: [attempt] });
    else known.attempts.push(attempt);
  }
  return [...byId.values()].map(({ row, payment, attempts }) => ({
    ...row,
    payment: checkPayment({ ...payment, attempts }),
  }));
}

const requestSchema = v.object({
  receives: v.optional(v.object({ ccy: v.string(), value: v.string() })),
  body: v.optional(v.object({ destReq: v.object({ ccy: v.string() }) })),
});

/** The received currency, and the amount if the order has it. */
export function arrivalOf({ request }: Pick<PaymentDraft, 'request'>): {
  readonly ccy: string | null;
  readonly total: string | null;
} {
  const { receives, body } = v.parse(requestSchema, JSON.parse(request));
  return { ccy: receives?.ccy ?? body?.destReq.ccy ?? null, total: receives?.value ?? null };
}
