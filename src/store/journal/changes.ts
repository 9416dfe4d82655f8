// Writes payments and their attempts. A transaction that writes an attempt also updates the stored
// sums of the account's spending.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import {
  inserted,
  placeholders,
  rowOf,
  TimeFromNow,
  type Sql,
  type SqlValue,
  type Statement,
} from '../database/sql.js';
import { leaseMs, LostClaim, type Begun, type Claim } from './journal.js';
import {
  alikeRef,
  changed,
  isUnfinished,
  latest,
  opened,
  replaced,
  type Attempt,
  type Payment,
  type PaymentChange,
  type PaymentDraft,
} from './payment.js';
import { attemptColumns, attemptValues, type PaymentRow } from './rows.js';
import { addSpending, spendingOf } from './spending.js';
import type { Actor } from './steps.js';
import { appendSteps, stepsOf } from './trail.js';

/** A change to a payment, with the other values that the same database transaction writes. */
export interface Write {
  readonly change: PaymentChange;
  /** Who makes the change. */
  readonly by: Actor;
  /** Whether svcpay enters a payment that the service reports. */
  readonly isImport?: boolean | undefined;
  /** The token that identifies the change if the response to its commit is lost. */
  readonly token: string;
  /**
   * If the change submits an attempt, the time of the submission in epoch ms, by the clock of the
   * daily limit.
   */
  readonly limitTime?: number | undefined;
  /**
   * Whether to record the submission as the latest of its account. A PostgreSQL database records
   * this, so that svcpay notices a restored backup.
   */
  readonly isLatest?: boolean | undefined;
}

type Columns = Readonly<Record<string, SqlValue>>;

/**
 * Inserts a payment, which `owner` claims if there is one, and commits the database transaction.
 */
export async function insertPayment(
  sql: Sql,
  draft: PaymentDraft,
  by: Actor,
  owner: string | undefined,
): Promise<Pick<Begun, 'payment' | 'claim'>> {
  const payment = opened(draft, await sql.now());
  const claimed =
    owner === undefined ? undefined : { owner, leaseUntil: new TimeFromNow(leaseMs), fence: 1 };
  await sql.last(
    insertRow(payment, claimed),
    ...payment.attempts.map((attempt) => insertAttempt(payment, attempt)),
    ...appendSteps(payment.id, null, [askedStep('asked', payment, draft)], by),
  );
  return { payment, claim: claimed && { payment, fence: claimed.fence, lastChange: null } };
}

const askedStep = (
  step: 'asked' | 'replaced',
  payment: Payment,
  { digest, detail }: PaymentDraft,
  before?: Payment,
) => ({
  step,
  attempt: latest(payment).number,
  detail: { ...detail, digest, before: before?.digest },
});

function insertRow(
  { id, scope, account, ref, openedAt, updatedAt, ...draft }: Payment,
  claimed: Columns = {},
): Statement {
  const columns = {
    id,
    scope,
    account,
    ref,
    refAlike: alikeRef(ref),
    ...askedColumns(draft),
    openedAt,
    updatedAt,
    ...claimed,
  };
  return inserted('payments', [columns]);
}

const insertAttempt = ({ id, account }: Payment, attempt: Attempt): Statement => [
  `INSERT INTO attempts (payment_id, account, ${attemptColumns.join(', ')})
   VALUES (${placeholders(attemptColumns.length + 2)})`,
  id,
  account,
  ...attemptValues(attempt),
];

/**
 * Replaces an abandoned payment with a payment for a different instruction under the same
 * reference, and commits the database transaction.
 */
export async function replacePayment(
  sql: Sql,
  before: Payment,
  draft: PaymentDraft,
  at: number,
  by: Actor,
): Promise<Payment> {
  const payment = replaced(before, draft, at);
  const token = randomUUID();
  const [set, values] = assignments({
    ...askedColumns(draft),
    abandoned: 0,
    unfinished: 1,
    opened_at: at,
    updated_at: at,
    last_change: token,
  });
  await sql.last(
    [`UPDATE payments SET ${set}, fence = fence + 1 WHERE id = ?`, ...values, payment.id],
    ['DELETE FROM attempts WHERE payment_id = ?', payment.id],
    ...payment.attempts.map((attempt) => insertAttempt(payment, attempt)),
    ...appendSteps(payment.id, token, [askedStep('replaced', payment, draft, before)], by),
  );
  return payment;
}

/** The columns that store what a payment asks for, such as its kind, instruction and terms. */
function askedColumns(
  draft: Omit<PaymentDraft, 'id' | 'scope' | 'account' | 'ref' | 'request' | 'detail'>,
): Columns {
  return {
    kind: draft.kind,
    instruction: draft.instruction,
    digest: draft.digest,
    idempotency_key: draft.idempotencyKey,
    terms: JSON.stringify(draft.terms),
    batch_run: draft.batch?.run ?? null,
    batch_row: draft.batch?.row ?? null,
  };
}

/** The assignments of an UPDATE statement, with their values. */
const assignments = (columns: Columns): readonly [text: string, values: SqlValue[]] => [
  Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(', '),
  Object.values(columns),
];

/**
 * Writes a change to a payment, and commits the database transaction. Resolves with undefined if
 * the claim is stale, or if the payment was changed after the caller read the claim. The write
 * under a valid claim needs no new read of the payment, because no other process can write under
 * the same claim.
 */
export async function writeChange(
  sql: Sql,
  { payment, fence, lastChange }: Claim,
  write: Write,
): Promise<Claim | undefined> {
  const after = changed(payment, write.change);
  const { terms, abandoned } = write.change;
  const columns = {
    ...(terms !== undefined && { terms: JSON.stringify(terms) }),
    ...(abandoned !== undefined && { abandoned: Number(abandoned) }),
    lease_until: new TimeFromNow(leaseMs),
  };
  const condition: Statement = [
    'id = ? AND fence = ? AND last_change IS NOT DISTINCT FROM ?',
    payment.id,
    fence,
    lastChange,
  ];
  const updatedAt = await writeRows(sql, payment, after, columns, condition, write);
  return updatedAt === undefined
    ? undefined
    : { payment: { ...after, updatedAt }, fence, lastChange: write.token };
}

/**
 * Writes a change to a payment row that this transaction has read. Rejects with LostClaim if the
 * claim is stale.
 */
export async function writeToRow(
  sql: Sql,
  row: PaymentRow | undefined,
  { fence }: Claim,
  write: Write,
): Promise<Claim> {
  if (row?.fence !== fence) throw lost();
  if (row.lastChange === write.token) return claimOf(row);
  const written = await writeChange(sql, row, write);
  if (written === undefined) throw lost();
  return written;
}

/**
 * Writes a payment that the service reports, with its attempt, removes the claim of a process that
 * is working on the payment, and commits the database transaction.
 */
export async function writeImported(
  sql: Sql,
  row: PaymentRow | undefined,
  payment: Payment,
  attempt: Attempt,
  given: Pick<Write, 'limitTime' | 'isLatest' | 'by'>,
): Promise<void> {
  if (row === undefined) await sql.run(...insertRow(payment));
  const columns = {
    abandoned: Number(payment.abandoned),
    owner: null,
    lease_until: 0,
    fence: (row?.fence ?? 0) + 1,
  };
  const write = { ...given, change: { attempt }, token: randomUUID(), isImport: true };
  await writeRows(sql, row?.payment, payment, columns, ['id = ?', payment.id], write);
}

const writtenSchema = v.array(rowOf({ updatedAt: v.number() }));

/**
 * Writes the rows of a payment. Resolves with the time of the write, or with undefined if the row
 * of the payment does not meet the condition.
 */
async function writeRows(
  sql: Sql,
  before: Payment | undefined,
  after: Payment,
  columns: Columns,
  [condition, ...values]: Statement,
  write: Write,
): Promise<number | undefined> {
  const [set, given] = assignments({
    ...columns,
    unfinished: Number(isUnfinished(after)),
    updated_at: new TimeFromNow(),
    last_change: write.token,
  });
  const [updated = []] = await sql.last(
    [`UPDATE payments SET ${set} WHERE ${condition} RETURNING updated_at`, ...given, ...values],
    ...attemptStatements(before, after, write),
    ...appendSteps(
      after.id,
      write.token,
      stepsOf(before, after, write.change, write.isImport),
      write.by,
    ),
    ...(write.isLatest === true ? [recordSubmission(after.id, write.token)] : []),
  );
  return v.parse(writtenSchema, updated)[0]?.updatedAt;
}

/**
 * The statement that records the payment as the latest of its account, if the payment's last change
 * has the token `token`.
 */
const recordSubmission = (id: string, token: string): Statement => [
  `INSERT INTO submissions (account, latest, submitted_at)
   SELECT account, id, updated_at FROM payments WHERE id = ? AND last_change = ?
   ON CONFLICT (account) DO UPDATE
     SET latest = excluded.latest, submitted_at = excluded.submitted_at`,
  id,
  token,
];

/**
 * Writes the attempt that a change contains. The attempt's earlier spending is subtracted from the
 * sum of its earlier period, and the new spending is added to the sum of its new period.
 */
function attemptStatements(
  before: Payment | undefined,
  after: Payment,
  { change: { attempt }, token, limitTime }: Write,
): Statement[] {
  if (attempt === undefined) return [];
  const earlier = before?.attempts.find(({ number }) => number === attempt.number);
  const spent = before === undefined || earlier === undefined ? [] : spendingOf(before, earlier);
  const spends = spendingOf(after, attempt);
  const isSame = JSON.stringify(spent) === JSON.stringify(spends);
  // If the change does not alter the spending of the attempt, the attempt keeps its submission
  // time, so that its spending still counts in the same ten-minute period.
  const time = isSame && spent.length > 0 ? null : (limitTime ?? null);
  const id = [after.id, attempt.number] as const;
  return [
    ...(isSame ? [] : spent.map((group) => addSpending(id, group, -1, token))),
    [upsertAttempt, time, ...attemptValues(attempt), after.id, token],
    ...(isSame ? [] : spends.map((group) => addSpending(id, group, 1, token))),
  ];
}

const settable = attemptColumns.filter((name) => name !== 'number');
const upsertAttempt = `INSERT INTO attempts (payment_id, account, limit_time,
  ${attemptColumns.join(', ')})
  SELECT id, account, ${placeholders(attemptColumns.length + 1)} FROM payments WHERE id = ?
    AND last_change = ?
  ON CONFLICT (payment_id, number) DO UPDATE
    SET ${settable.map((name) => `${name} = excluded.${name}`).join(', ')},
  limit_time = CASE WHEN excluded.submitted_at IS NULL THEN NULL
    ELSE COALESCE(excluded.limit_time, attempts.limit_time) END`;

export const claimOf = ({ payment, fence, lastChange }: PaymentRow): Claim => ({
  payment,
  fence,
  lastChange,
});

export const lost = (): LostClaim => new LostClaim('another process took over the payment');
