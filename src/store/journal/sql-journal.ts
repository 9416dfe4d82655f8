// The journal in a database, safe with many concurrent processes, on one machine or on many. To
// pay, a process opens a payment in the journal, claims the payment, and writes and submits
// attempts under its claim. A transaction that writes an attempt also updates the stored sums of
// the account's spending.
import { randomUUID } from 'node:crypto';
import { Failure } from '../../formats/failure.js';
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
  type ImportedAttempt,
  type ServiceTime,
  type Spend,
  type SpentBefore,
  LostClaim,
} from './journal.js';
import {
  keyLock,
  lockedRow,
  paymentsIn,
  readRows,
  refLock,
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
  spendingOf,
} from './spending.js';
import { processOf, unnamedActor, type Actor } from './steps.js';
import { appendSteps, readTrail, selectTrails, againIfAny, checkedPage, stepsOf } from './trail.js';
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
  const deps: SqlJournalDeps = { database, isHeld };

  return {
    ...lookups(deps),
    trails: async (ids) =>
      readTrail(await database.read((sql) => sql.all(selectTrails(ids.length), ...ids))),
    wrongTotals: () => againIfAny(() => database.read(wrongTotals)),
    checked: (after, since, atMost) => checkedPage(database, after, since, atMost),
    begin: (draft, owner) => begin(deps, draft, by, owner),
    claim: async (id, owner) =>
      (await claimFree(database, id, owner)) ?? takeOver(deps, id, owner, by),
    extendLease: (claim) => extendLease(database, claim),
    write: (claim, change) => write(database, claim, change, by),
    submit: (claim, change, service, allow) => submit(database, claim, change, service, allow, by),
    enter: (draft, imported, service) => enter(database, draft, imported, service, by),
    spent: (account, service) =>
      database.transaction((sql) => spent(sql, database, account, service)),
    release: async ({ payment, fence }) => {
      const free = 'UPDATE payments SET owner = NULL, lease_until = 0 WHERE id = ? AND fence = ?';
      await database.transaction((sql) => sql.last([free, payment.id, fence]), optional);
    },
    mayPay: () => Promise.resolve(),
    close: () => database.close(),
  };
}

/**
 * The options of a database transaction that extends or ends a lease. svcpay can do without this
 * database transaction, because a lease that svcpay neither extends nor ends expires after 30 s.
 */
const optional = { isOptional: true } as const;

/** Returns the payment row in the result of the last statement. */
function writtenRow(results: readonly (readonly unknown[])[]): PaymentRow {
  const [row] = readRows(results.at(-1) ?? []);
  if (row === undefined)
    throw new Failure('unexpected', 'The journal lost a row that it had just written.');
  return row;
}

const begin = (
  deps: SqlJournalDeps,
  draft: PaymentDraft,
  by: Actor,
  owner: string | undefined,
): Promise<Begun> =>
  deps.database.transaction((sql) => beginIn(sql, deps, draft, by, owner), {
    locks: [refLock(draft), ...keyLock(draft)],
  });

async function beginIn(
  sql: Sql,
  deps: SqlJournalDeps,
  draft: PaymentDraft,
  by: Actor,
  owner: string | undefined,
): Promise<Begun> {
  const condition = '(p.scope = ? AND p.ref = ?) OR p.idempotency_key = ?';
  const payments = paymentsIn(
    await sql.all(selectPayments(condition), draft.scope, draft.ref, draft.idempotencyKey),
  );
  const same = payments.find(({ scope, ref }) => scope === draft.scope && ref === draft.ref);
  // An earlier run of this transaction was committed, and its response was lost.
  if (same?.id === draft.id) return { payment: same, found: 'new' };
  const rival = payments.find((each) => each.id !== same?.id && mayHavePaid(each));
  if (rival !== undefined && (same === undefined || !mayHavePaid(same)))
    return { payment: rival, found: 'once' };
  if (same === undefined) return { ...(await insertPayment(sql, draft, by, owner)), found: 'new' };
  const isOther = same.digest !== draft.digest && isReferenceFree(same);
  const payment = isOther ? await takeReference(sql, deps, same, draft, by) : undefined;
  return payment === undefined
    ? { payment: same, found: 'ref' }
    : { payment, found: 'new', replaced: same };
}

/**
 * Stores the draft's instruction under the reference of the earlier payment, unless a process is
 * working on the earlier payment.
 */
async function takeReference(
  sql: Sql,
  { database, isHeld }: SqlJournalDeps,
  { id }: Payment,
  draft: PaymentDraft,
  by: Actor,
): Promise<Payment | undefined> {
  const row = await lockedRow(sql, database, 'id = ?', id);
  const at = await sql.now();
  if (row === undefined || !isReferenceFree(row.payment) || isHeld(row, at)) return undefined;
  return replacePayment(sql, row.payment, draft, at, by);
}

const take = 'UPDATE payments SET owner = ?, lease_until = ?, fence = fence + 1 WHERE id = ?';

/** Claims a payment, or resolves with undefined if another process holds a claim on the payment. */
async function claimFree(
  database: SqlDatabase,
  id: string,
  owner: string,
): Promise<Claim | undefined> {
  // If the UPDATE waits for another process, the following SELECT sees the writes of that process.
  const [, rows = []] = await database.transaction((sql) =>
    sql.last(
      [`${take} AND (owner IS NULL OR owner = ?)`, owner, new TimeFromNow(leaseMs), id, owner],
      [selectPayments('p.id = ? AND p.owner = ?'), id, owner],
    ),
  );
  const [row] = readRows(rows);
  return row && claimOf(row);
}

const takeOver = (
  { database, isHeld }: SqlJournalDeps,
  id: string,
  owner: string,
  by: Actor,
): Promise<Claim | undefined> =>
  database.transaction(async (sql) => {
    const row = await lockedRow(sql, database, 'id = ?', id);
    if (row === undefined || isHeld(row, await sql.now())) return undefined;
    const attempt = latest(row.payment).number;
    const taken = { step: 'taken over' as const, attempt, detail: processOf(row.owner) };
    const written = await sql.last(
      [take, owner, new TimeFromNow(leaseMs), id],
      ...appendSteps(id, row.lastChange, [taken], by),
      [selectPayments('p.id = ?'), id],
    );
    return claimOf(writtenRow(written));
  });

async function extendLease(database: SqlDatabase, { payment, fence }: Claim): Promise<void> {
  const extend = 'UPDATE payments SET lease_until = ? WHERE id = ? AND fence = ? RETURNING 1';
  const [extended = []] = await database.transaction(
    (sql) => sql.last([extend, new TimeFromNow(leaseMs), payment.id, fence]),
    optional,
  );
  if (extended.length !== 1) throw lost();
}

async function write(
  database: SqlDatabase,
  claim: Claim,
  change: PaymentChange,
  by: Actor,
): Promise<Claim> {
  const wanted = { change, token: randomUUID(), by };
  const options = { lasts: mustLast(change) };
  const written = await database.transaction((sql) => writeChange(sql, claim, wanted), options);
  if (written !== undefined) return written;
  // The write can fail for three reasons: another process took over the payment, the commit
  // succeeded and its response was lost, or the journal contains a change of the payment that this
  // claim has not seen.
  return database.transaction(
    async (sql) => writeToRow(sql, await rowOfPayment(sql, claim.payment.id), claim, wanted),
    options,
  );
}

/**
 * Whether a change must survive a power loss. Only a submission and a person's decision must
 * survive a power loss, because svcpay can restore every other change from the service. A change
 * that need not survive a power loss still survives the end of the process, and reaches the disk
 * with the next durable change.
 */
const mustLast = ({ attempt, abandoned }: PaymentChange): boolean =>
  attempt?.state === 'submitting' || abandoned === true || (attempt?.resolution ?? null) !== null;

type Submission = PaymentChange & { readonly attempt: Attempt };
type Allow = Parameters<Journal['submit']>[3];

async function submit(
  database: SqlDatabase,
  claim: Claim,
  change: Submission,
  service: ServiceTime,
  allow: Allow,
  by: Actor,
): Promise<Claim> {
  const token = randomUUID();
  const submitted = await database.transaction(
    async (sql): Promise<Claim | Failure> => {
      const rows = await competing(sql, claim.payment);
      const row = rows.find(({ payment }) => payment.id === claim.payment.id);
      if (row?.fence === claim.fence && row.lastChange === token) return claimOf(row);
      const time = await limitTime(sql, database, claim.payment.account, service);
      try {
        await allow(spentBefore(sql, claim.payment, rows, time));
      } catch (error) {
        // The refusal is returned, not thrown, so that the database transaction commits the reading
        // of the clock of the daily limit.
        if (error instanceof Failure) return error;
        throw error;
      }
      const attempt = { ...change.attempt, submittedAt: await sql.now() };
      const isLatest = database.kind === 'postgres';
      const wanted: Write = {
        change: { ...change, attempt },
        token,
        by,
        limitTime: time,
        isLatest,
      };
      return writeToRow(sql, row, claim, wanted);
    },
    { lasts: true, locks: keyLock(claim.payment) },
  );
  if (submitted instanceof Failure) throw submitted;
  return submitted;
}

/** Locks the payment and all other payments with its idempotency key. */
const competing = async (sql: Sql, { id, idempotencyKey }: Payment): Promise<PaymentRow[]> =>
  readRows(await sql.all(selectPayments('p.id = ? OR p.idempotency_key = ?'), id, idempotencyKey));

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
    comparable: async (withinMs, atMost) => {
      const [condition, ...values] = comparable(scope, account, withinMs, atMost);
      return paymentsIn(await whileLocked(selectPayments(condition), ...values));
    },
    spent: async () => spendsIn(await whileLocked(...spentSince(account, time - dayMs))),
    budget: (name) => readBudget(whileLocked, account, name, time),
    charged: async (name) => spendsIn(await whileLocked(...chargedTo(account, name))),
    isRefused: async (proposal) => (await sql.all(refusal, scope, proposal)).length > 0,
  };
}

const refusal = 'SELECT 1 FROM proposals WHERE scope = ? AND id = ? AND refused_at IS NOT NULL';

async function spent(
  sql: Sql,
  database: SqlDatabase,
  account: string,
  service: ServiceTime,
): Promise<Spend[]> {
  const time = await limitTime(sql, database, account, service);
  const [rows = []] = await sql.last(spentSince(account, time - dayMs));
  return spendsIn(rows);
}

const enter = (
  database: SqlDatabase,
  draft: PaymentDraft,
  imported: ImportedAttempt,
  service: ServiceTime,
  by: Actor,
): Promise<boolean> =>
  database.transaction((sql) => enterIn(sql, database, draft, imported, service, by), {
    lasts: true,
    locks: [refLock(draft), ...keyLock(draft)],
  });

async function enterIn(
  sql: Sql,
  database: SqlDatabase,
  draft: PaymentDraft,
  { ago, ...found }: ImportedAttempt,
  service: ServiceTime,
  by: Actor,
): Promise<boolean> {
  const row = await lockedRow(sql, database, 'scope = ? AND ref = ?', draft.scope, draft.ref);
  const stored = row?.payment.attempts ?? [];
  if (stored.some(({ number, submittedAt }) => number === found.number && submittedAt !== null))
    return false;
  const at = await sql.now();
  const time = await limitTime(sql, database, draft.account, service);
  const { request } = draft;
  const attempt: Attempt = {
    ...requested(found.number, request),
    ...found,
    submittedAt: at - ago,
  };
  const attempts = [...stored.filter(({ number }) => number !== attempt.number), attempt].toSorted(
    (a, b) => a.number - b.number,
  );
  const before = row?.payment ?? opened(draft, at);
  const payment = checkPayment({ ...before, attempts, abandoned: false });
  const isLatest = database.kind === 'postgres';
  await writeImported(sql, row, payment, attempt, { limitTime: time - ago, isLatest, by });
  return true;
}

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
