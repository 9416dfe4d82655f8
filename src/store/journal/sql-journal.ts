// The journal in a database, safe with many concurrent processes, on one machine or on many. To
// pay, a process opens a payment in the journal, claims the payment, and writes and submits
// attempts under its claim. A transaction that writes an attempt also updates the stored sums of
// the account's spending.
import { randomUUID } from 'node:crypto';
import { Failure } from '../../formats/failure.js';
import { columnOf } from '../../formats/text.js';
import {
  TimeFromNow,
  type Sql,
  type SqlDatabase,
  type Statement,
  inserted,
  placeholders,
  rowOf,
  type SqlValue,
} from '../database/sql.js';
import {
  leaseMs,
  type Begun,
  type Claim,
  type Journal,
  type SpentBefore,
  LostClaim,
} from './journal.js';
import {
  lockedRow,
  paymentsIn,
  readRows,
  rowOfPayment,
  selectPayments,
  type PaymentRow,
  lookups,
  type SqlJournalDeps,
  comparable,
  attemptColumns,
  attemptValues,
} from './rows.js';
import {
  isReferenceFree,
  latest,
  mayHavePaid,
  type Payment,
  type PaymentChange,
  type PaymentDraft,
  checkPayment,
  opened,
  requested,
  type Attempt,
  alikeRef,
  changed,
  isUnfinished,
  replaced,
  withAttempt,
} from './payment.js';
import {
  accountLock,
  readBudget,
  chargedTo,
  limitTime,
  dayMs,
  spendsIn,
  spentSince,
  wrongTotals,
  addSpending,
  spendsOf,
} from './spending.js';
import { processOf, unnamedActor, type Actor } from './steps.js';
import { appendSteps, readTrail, selectTrails, againIf, checkedPage, stepsOf } from './trail.js';
import * as v from 'valibot';

/** Returns the journal, from which payments are refused for as long as `mayPay` rejects. */
export const guarded = (journal: Journal, mayPay: () => Promise<void>): Journal => ({
  ...journal,
  mayPay,
  begin: async (...draft) => {
    await mayPay();
    return journal.begin(...draft);
  },
  submit: async (...submission) => {
    await mayPay();
    return journal.submit(...submission);
  },
});

/**
 * @param isAlive whether the process of a claim's owner is running
 * @param by who makes the changes of this journal
 */
export function openSqlJournal(
  database: SqlDatabase,
  isAlive: (owner: string) => boolean,
  by: Actor = unnamedActor,
): Journal {
  const isHeld = ({ owner, leaseUntil }: PaymentRow, at: number): boolean =>
    owner !== null && leaseUntil > at && leaseUntil <= at + leaseMs && isAlive(owner);
  const deps: SqlJournalDeps = { database, isHeld, by };
  return {
    ...lookups(deps),
    ...opening(deps),
    ...claims(deps),
    ...changes(deps),
    trails: async (ids) =>
      readTrail(await database.read((sql) => sql.all(selectTrails(ids.length), ...ids))),
    wrongTotals: () =>
      againIf(
        ({ length }) => length > 0,
        () => database.transaction(wrongTotals, { isUnlimited: true }),
      ),
    checked: (after, since, atMost) => checkedPage(database, after, since, atMost),
    spent: (account, service) =>
      database.transaction(async (sql) => {
        const time = await limitTime(sql, database, account, service);
        const [rows = []] = await sql.last(spentSince(account, time - dayMs));
        return spendsIn(rows);
      }),
    mayPay: () => Promise.resolve(),
    close: () => database.close(),
  };
}

const refLock = ({ scope, ref }: PaymentDraft): string => `ref ${scope} ${ref}`;

/**
 * The lock for an idempotency key. svcpay opens and submits payments with the same idempotency key
 * one after the other, even if the references of the payments differ.
 */
const keyLock = ({ idempotencyKey }: Pick<Payment, 'idempotencyKey'>): string[] =>
  idempotencyKey === null ? [] : [`key ${idempotencyKey}`];

/** Opens payments, and enters those that the service reports. */
const opening = ({ database, isHeld, by }: SqlJournalDeps): Pick<Journal, 'begin' | 'enter'> => ({
  begin: (draft, owner) =>
    database.transaction(
      async (sql) => {
        const { id, scope, ref, digest, idempotencyKey } = draft;
        const condition = '(p.scope = ? AND p.ref = ?) OR p.idempotency_key = ?';
        const payments = paymentsIn(
          await sql.all(selectPayments(condition), scope, ref, idempotencyKey),
        );
        const same = payments.find((each) => each.scope === scope && each.ref === ref);
        // An earlier run of this transaction was committed, and its response was lost.
        if (same?.id === id) return { payment: same, found: 'new' };
        const rival = payments.find((each) => each.id !== same?.id && mayHavePaid(each));
        if (rival !== undefined && (same === undefined || !mayHavePaid(same)))
          return { payment: rival, found: 'once' };
        if (same === undefined)
          return { ...(await insertPayment(sql, draft, by, owner)), found: 'new' };
        const found: Begun = { payment: same, found: 'ref' };
        if (same.digest === digest || !isReferenceFree(same)) return found;
        // The draft takes the reference, unless a process is working on the earlier payment.
        const row = await lockedRow(sql, database, 'id = ?', same.id);
        const at = await sql.now();
        if (row === undefined || !isReferenceFree(row.payment) || isHeld(row, at)) return found;
        const payment = await replacePayment(sql, row.payment, draft, at, by);
        return { payment, found: 'new', replaced: same };
      },
      { locks: [refLock(draft), ...keyLock(draft)] },
    ),
  enter: (draft, { ago, ...found }, service) =>
    database.transaction(
      async (sql) => {
        const row = await lockedRow(sql, database, 'scope = ? AND ref = ?', draft.scope, draft.ref);
        const at = await sql.now();
        const before = row?.payment ?? opened(draft, at);
        const earlier = row?.payment.attempts.find(({ number }) => number === found.number);
        if ((earlier?.submittedAt ?? null) !== null) return false;
        const time = await limitTime(sql, database, draft.account, service);
        const attempt: Attempt = {
          ...requested(found.number, draft.request),
          ...found,
          submittedAt: at - ago,
        };
        const attempts = withAttempt(row?.payment.attempts ?? [], attempt);
        const payment = checkPayment({ ...before, attempts, abandoned: false });
        if (row === undefined) await sql.run(...inserted('payments', [paymentColumns(payment)]));
        // A process that is working on the payment loses its claim.
        const columns = { abandoned: 0, owner: null, leaseUntil: 0, fence: (row?.fence ?? 0) + 1 };
        await writeRows(sql, row?.payment, payment, columns, ['id = ?', payment.id], {
          change: { attempt },
          by,
          isImport: true,
          token: randomUUID(),
          limitTime: time - ago,
          isLatest: database.kind === 'postgres',
        });
        return true;
      },
      { lasts: true, locks: [refLock(draft), ...keyLock(draft)] },
    ),
});

/** Inserts a payment, which `owner` claims if there is one, and commits the transaction. */
async function insertPayment(
  sql: Sql,
  draft: PaymentDraft,
  by: Actor,
  owner: string | undefined,
): Promise<Pick<Begun, 'payment' | 'claim'>> {
  const payment = opened(draft, await sql.now());
  const claim = owner === undefined ? undefined : { payment, fence: 1, lastChange: null };
  const lease = claim && { owner, leaseUntil: new TimeFromNow(leaseMs), fence: claim.fence };
  await sql.last(
    inserted('payments', [{ ...paymentColumns(payment), ...lease }]),
    ...payment.attempts.map((attempt) => upsertAttempt(payment.id, attempt, null)),
    ...appendSteps(payment.id, null, [askedStep('asked', payment, draft)], by),
  );
  return { payment, claim };
}

/**
 * Replaces an abandoned payment with a payment for a different instruction under the same
 * reference, and commits the transaction.
 */
async function replacePayment(
  sql: Sql,
  before: Payment,
  draft: PaymentDraft,
  at: number,
  by: Actor,
): Promise<Payment> {
  const payment = replaced(before, draft, at);
  const token = randomUUID();
  const columns = { ...paymentColumns(payment), lastChange: token };
  const [set, values] = assignments(columns);
  await sql.last(
    [`UPDATE payments SET ${set}, fence = fence + 1 WHERE id = ?`, ...values, payment.id],
    ['DELETE FROM attempts WHERE payment_id = ?', payment.id],
    ...payment.attempts.map((attempt) => upsertAttempt(payment.id, attempt, token)),
    ...appendSteps(payment.id, token, [askedStep('replaced', payment, draft, before)], by),
  );
  return payment;
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

type Columns = Readonly<Record<string, SqlValue>>;

/** The columns of a payment that no claim changes. */
function paymentColumns(payment: Payment) {
  const { attempts: _attempts, batch, terms, abandoned, ...columns } = payment;
  return {
    ...columns,
    refAlike: alikeRef(columns.ref),
    terms: JSON.stringify(terms),
    batchRun: batch?.run ?? null,
    batchRow: batch?.row ?? null,
    abandoned: Number(abandoned),
    unfinished: Number(isUnfinished(payment)),
  };
}

/** The assignments of an UPDATE statement, with their values. */
const assignments = (columns: Columns): readonly [text: string, values: SqlValue[]] => [
  Object.keys(columns)
    .map((name) => `${columnOf(name)} = ?`)
    .join(', '),
  Object.values(columns),
];

const take = 'UPDATE payments SET owner = ?, lease_until = ?, fence = fence + 1 WHERE id = ?';

/**
 * The options of a database transaction that extends or ends a lease. svcpay can do without this
 * database transaction, because a lease that svcpay neither extends nor ends expires after 30 s.
 */
const optional = { isOptional: true } as const;

const claims = ({
  database,
  isHeld,
  by,
}: SqlJournalDeps): Pick<Journal, 'claim' | 'extendLease' | 'release'> => ({
  async claim(id, owner) {
    const lease = [owner, new TimeFromNow(leaseMs), id] as const;
    // If the UPDATE waits for another process, the SELECT after it sees that process's writes.
    const [, rows = []] = await database.transaction((sql) =>
      sql.last(
        [`${take} AND (owner IS NULL OR owner = ?)`, ...lease, owner],
        [selectPayments('p.id = ? AND p.owner = ?'), id, owner],
      ),
    );
    const [free] = readRows(rows);
    if (free !== undefined) return claimOf(free);
    return database.transaction(async (sql) => {
      const row = await lockedRow(sql, database, 'id = ?', id);
      if (row === undefined || isHeld(row, await sql.now())) return undefined;
      const attempt = latest(row.payment).number;
      const step = { step: 'taken over' as const, attempt, detail: processOf(row.owner) };
      const results = await sql.last(
        [take, ...lease],
        ...appendSteps(id, row.lastChange, [step], by),
        [selectPayments('p.id = ?'), id],
      );
      const [taken] = readRows(results.at(-1) ?? []);
      return taken && claimOf(taken);
    });
  },
  async extendLease({ payment, fence }) {
    const extend = 'UPDATE payments SET lease_until = ? WHERE id = ? AND fence = ? RETURNING 1';
    const [extended = []] = await database.transaction(
      (sql) => sql.last([extend, new TimeFromNow(leaseMs), payment.id, fence]),
      optional,
    );
    if (extended.length !== 1) throw lost();
  },
  async release({ payment, fence }) {
    const free = 'UPDATE payments SET owner = NULL, lease_until = 0 WHERE id = ? AND fence = ?';
    await database.transaction((sql) => sql.last([free, payment.id, fence]), optional);
  },
});

const claimOf = ({ payment, fence, lastChange }: PaymentRow): Claim => ({
  payment,
  fence,
  lastChange,
});

const lost = (): LostClaim => new LostClaim('another process took over the payment');

/** A change to a payment, with the other values that the same database transaction writes. */
interface Write {
  readonly change: PaymentChange;
  /** Who makes the change. */
  readonly by: Actor;
  /** Whether svcpay enters a payment that the service reports. */
  readonly isImport?: boolean;
  /** The token that identifies the change if the response to its commit is lost. */
  readonly token: string;
  /**
   * If the change submits an attempt, the time of the submission in epoch ms, by the clock of the
   * daily limit.
   */
  readonly limitTime?: number;
  /**
   * Whether to record the submission as the latest of its account. A PostgreSQL database records
   * this, so that svcpay notices a restored backup.
   */
  readonly isLatest?: boolean;
}

/** Writes changes of claimed payments. */
const changes = ({ database, by }: SqlJournalDeps): Pick<Journal, 'write' | 'submit'> => ({
  async write(claim, change) {
    const wanted = { change, token: randomUUID(), by };
    const options = { lasts: mustLast(change) };
    const written = await database.transaction((sql) => writeChange(sql, claim, wanted), options);
    if (written !== undefined) return written;
    // The write can fail for three reasons: another process took over the payment, the commit
    // succeeded and its response was lost, or the journal contains a change of the payment that
    // this claim has not seen.
    return database.transaction(
      async (sql) => writeToRow(sql, await rowOfPayment(sql, claim.payment.id), claim, wanted),
      options,
    );
  },
  async submit(claim, change, service, allow) {
    const { id, account, idempotencyKey } = claim.payment;
    const token = randomUUID();
    const submitted = await database.transaction(
      async (sql): Promise<Claim | Failure> => {
        // Locks the payment and all other payments with its idempotency key.
        const condition = 'p.id = ? OR p.idempotency_key = ?';
        const rows = readRows(await sql.all(selectPayments(condition), id, idempotencyKey));
        const row = rows.find(({ payment }) => payment.id === id);
        if (row?.fence === claim.fence && row.lastChange === token) return claimOf(row);
        const time = await limitTime(sql, database, account, service);
        try {
          await allow(spentBefore(sql, claim.payment, rows, time));
        } catch (error) {
          // The refusal is returned, not thrown, so that the database transaction commits the
          // reading of the clock of the daily limit.
          if (error instanceof Failure) return error;
          throw error;
        }
        const attempt = { ...change.attempt, submittedAt: await sql.now() };
        return writeToRow(sql, row, claim, {
          change: { ...change, attempt },
          token,
          by,
          limitTime: time,
          isLatest: database.kind === 'postgres',
        });
      },
      { lasts: true, locks: keyLock(claim.payment) },
    );
    if (submitted instanceof Failure) throw submitted;
    return submitted;
  },
});

/**
 * Whether a change must survive a power loss. Only a submission and a person's decision must
 * survive a power loss, because svcpay can restore every other change from the service. A change
 * that need not survive a power loss still survives the end of the process, and reaches the disk
 * with the next durable change.
 */
const mustLast = ({ attempt, abandoned }: PaymentChange): boolean =>
  attempt?.state === 'submitting' || abandoned === true || (attempt?.resolution ?? null) !== null;

/**
 * The spending of an account before a submission. Reading the account's spending locks the account
 * until the database transaction ends.
 */
function spentBefore(
  sql: Sql,
  { id, scope, account }: Payment,
  rows: readonly PaymentRow[],
  time: number,
): SpentBefore {
  const whileLocked = (...statement: Statement): Promise<readonly unknown[]> =>
    sql.whileLocked(accountLock(account), ...statement);
  return {
    rival: rows.map(({ payment }) => payment).find((each) => each.id !== id && mayHavePaid(each)),
    comparable: async (...wanted) => {
      const [condition, ...values] = comparable(scope, account, ...wanted);
      return paymentsIn(await whileLocked(selectPayments(condition), ...values));
    },
    spent: async () => spendsIn(await whileLocked(...spentSince(account, time - dayMs))),
    budget: (name) => readBudget(whileLocked, account, name, time),
    charged: async (name) => spendsIn(await whileLocked(...chargedTo(account, name))),
    isRefused: async (proposal) => (await sql.all(refusal, scope, proposal)).length > 0,
  };
}

const refusal = 'SELECT 1 FROM proposals WHERE scope = ? AND id = ? AND refused_at IS NOT NULL';

/**
 * Writes a change to a payment, and commits the database transaction. Resolves with undefined if
 * the claim is stale, or if the payment was changed after the caller read the claim. The write
 * under a valid claim needs no new read of the payment, because no other process can write under
 * the same claim.
 */
async function writeChange(
  sql: Sql,
  { payment, fence, lastChange }: Claim,
  write: Write,
): Promise<Claim | undefined> {
  const after = changed(payment, write.change);
  const { terms, abandoned } = write.change;
  const columns = {
    ...(terms !== undefined && { terms: JSON.stringify(terms) }),
    ...(abandoned !== undefined && { abandoned: Number(abandoned) }),
    leaseUntil: new TimeFromNow(leaseMs),
  };
  const condition = 'id = ? AND fence = ? AND last_change IS NOT DISTINCT FROM ?';
  const where: Statement = [condition, payment.id, fence, lastChange];
  const updatedAt = await writeRows(sql, payment, after, columns, where, write);
  return updatedAt === undefined
    ? undefined
    : { payment: { ...after, updatedAt }, fence, lastChange: write.token };
}

/**
 * Writes a change to a payment row that this transaction has read. Rejects with LostClaim if the
 * claim is stale.
 */
async function writeToRow(
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
  const { change, by, isImport, token, isLatest } = write;
  const [set, given] = assignments({
    ...columns,
    unfinished: Number(isUnfinished(after)),
    updatedAt: new TimeFromNow(),
    lastChange: token,
  });
  const [updated = []] = await sql.last(
    [`UPDATE payments SET ${set} WHERE ${condition} RETURNING updated_at`, ...given, ...values],
    ...attemptStatements(before, after, write),
    ...appendSteps(after.id, token, stepsOf(before, after, change, isImport), by),
    ...(isLatest === true ? [[recordSubmission, after.id, token] as const] : []),
  );
  return v.parse(writtenSchema, updated)[0]?.updatedAt;
}

/**
 * The statement that records the payment as the latest of its account, if the payment's last change
 * has the given token.
 */
const recordSubmission = `INSERT INTO submissions (account, latest, submitted_at)
  SELECT account, id, updated_at FROM payments WHERE id = ? AND last_change = ?
  ON CONFLICT (account) DO UPDATE
    SET latest = excluded.latest, submitted_at = excluded.submitted_at`;

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
  const spent = before === undefined || earlier === undefined ? [] : spendsOf(before, earlier);
  const spends = spendsOf(after, attempt);
  const isSame = JSON.stringify(spent) === JSON.stringify(spends);
  // If the change does not alter the spending of the attempt, the attempt keeps its submission
  // time, so that its spending still counts in the same minute.
  const time = isSame && spent.length > 0 ? null : limitTime;
  const id = [after.id, attempt.number] as const;
  return [
    ...(isSame ? [] : spent.map((each) => addSpending(id, each, -1, token))),
    upsertAttempt(after.id, attempt, token, time),
    ...(isSame ? [] : spends.map((each) => addSpending(id, each, 1, token))),
  ];
}

const upsertAttempt = (
  id: string,
  attempt: Attempt,
  token: string | null,
  limitTime: number | null = null,
): Statement => [upsert, limitTime, ...attemptValues(attempt), id, token];

const upsert = `INSERT INTO attempts (payment_id, account, limit_time,
  ${attemptColumns.join(', ')})
  SELECT id, account, ${placeholders(attemptColumns.length + 1)} FROM payments WHERE id = ?
    AND last_change IS NOT DISTINCT FROM ?
  ON CONFLICT (payment_id, number) DO UPDATE
    SET ${attemptColumns
      .filter((name) => name !== 'number')
      .map((name) => `${name} = excluded.${name}`)
      .join(', ')},
  limit_time = CASE WHEN excluded.submitted_at IS NULL THEN NULL
    ELSE COALESCE(excluded.limit_time, attempts.limit_time) END`;
