// The journal in a database: durable before it answers, safe with many processes at once, on one machine or on many.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { places, rowOf } from '../database/rows.js';
import { Present, type Sql, type SqlDatabase, type SqlValue } from '../database/sql.js';
import {
  leaseMs,
  LostClaim,
  type Claim,
  type ImportedAttempt,
  type Journal,
  type Spend,
  type Window,
} from './journal.js';
import {
  attemptNamed,
  changed,
  checkPayment,
  isUnfinished,
  mayHavePaid,
  neverCreated,
  opened,
  type Attempt,
  type Payment,
  type PaymentChange,
  type PaymentDraft,
} from './payment.js';
import { unfinishedOf } from './figures.js';
import {
  arrivalOf,
  attemptColumns,
  attemptValues,
  readRows,
  selectPayments,
  type Row,
} from './rows.js';

/** @param isAlive whether the process of a claim's owner is running. */
export function openSqlJournal(
  database: SqlDatabase,
  isAlive: (owner: string) => boolean,
): Journal {
  const isHeld = ({ owner, leaseUntil }: Row, at: number): boolean =>
    owner !== null && leaseUntil > at && leaseUntil <= at + leaseMs && isAlive(owner);
  const take = 'UPDATE payments SET owner = ?, lease_until = ?, fence = fence + 1 WHERE id = ?';
  const read = (condition: string, ...values: SqlValue[]): Promise<Payment[]> =>
    database.read(async (sql) => paymentsIn(await sql.final(selectPayments(condition), ...values)));

  return {
    begin: (draft) =>
      database.transaction((sql) => begin(sql, database, draft, isHeld), {
        locks: [refLock(draft), ...keyLock(draft)],
      }),
    async claim(id, owner) {
      // A second statement, to see the writes of a process that the first one waited for.
      const free = `${take} AND (owner IS NULL OR owner = ?); ${selectPayments('p.id = ? AND p.owner = ?')}`;
      const claimed = await database.transaction(
        async (sql) =>
          readRows(await sql.final(free, owner, new Present(leaseMs), id, owner, id, owner))[0],
      );
      if (claimed !== undefined) return claimOf(claimed);
      return database.transaction(async (sql) => {
        const row = await lockedRow(sql, database, 'id = ?', [id]);
        const at = await sql.now();
        if (row === undefined || isHeld(row, at)) return undefined;
        const taken = await sql.final(
          `${take}; ${selectPayments('p.id = ?')}`,
          owner,
          at + leaseMs,
          id,
          id,
        );
        return claimOf(onlyRow(taken));
      });
    },
    async renew(claim) {
      const extend = 'UPDATE payments SET lease_until = ? WHERE id = ? AND fence = ? RETURNING 1';
      const renewed = await database.transaction((sql) =>
        sql.final(extend, new Present(leaseMs), claim.payment.id, claim.fence),
      );
      if (renewed.length !== 1) throw lost();
    },
    async write(claim, change) {
      const token = randomUUID();
      const options = { lasts: mustLast(change) };
      const written = await database.transaction(
        (sql) => writeChange(sql, claim, change, token),
        options,
      );
      if (written !== undefined) return written;
      // Taken over, written in a commit with a lost answer, or ahead of this claim.
      return database.transaction(
        async (sql) => update(sql, await rowOfPayment(sql, claim.payment.id), claim, change, token),
        options,
      );
    },
    submit: (claim, change, window, allow) => {
      const token = randomUUID();
      const { payment } = claim;
      return database.transaction(
        async (sql) => {
          const rows = readRows(
            await sql.all(
              selectPayments('p.id = ? OR p.idempotency_key = ?'),
              payment.id,
              payment.idempotencyKey,
            ),
          );
          const row = rows.find((each) => each.payment.id === payment.id);
          if (row?.fence === claim.fence && row.lastChange === token) return claimOf(row);
          const rival = rows
            .map((each) => each.payment)
            .find((each) => each.id !== payment.id && mayHavePaid(each));
          await allow({
            rival,
            latest: async (atMost) => {
              await sql.lock(`account ${payment.account}`);
              return newestFirst(
                paymentsIn(
                  await sql.all(selectPayments(`p.id IN (${latestIds})`), payment.account, atMost),
                ),
              );
            },
            spent: async () => {
              await sql.lock(`account ${payment.account}`);
              return summed(
                await sql.all(...(await spentQuery(sql, database, payment.account, window))),
              );
            },
          });
          const submittedAt = database.kind === 'postgres' ? await sql.now() : window.latest;
          return update(
            sql,
            row,
            claim,
            { ...change, attempt: { ...change.attempt, submittedAt } },
            token,
          );
        },
        { lasts: true, locks: keyLock(payment) },
      );
    },
    async release(claim) {
      const set = 'UPDATE payments SET owner = NULL, lease_until = 0 WHERE id = ? AND fence = ?';
      await database.transaction((sql) => sql.final(set, claim.payment.id, claim.fence));
    },
    enter: (draft, imported, window) =>
      database.transaction((sql) => enter(sql, database, draft, imported, window), {
        lasts: true,
        locks: [refLock(draft), ...keyLock(draft)],
      }),
    spent: (account, window) =>
      database.read(async (sql) =>
        summed(await sql.final(...(await spentQuery(sql, database, account, window)))),
      ),
    read: async (id) => (await read('p.id = ?', id))[0],
    async find(scope, name) {
      const [ref, number] = attemptNamed(name);
      const ids = `SELECT id FROM payments WHERE id = ? UNION ALL SELECT id FROM payments WHERE scope = ? AND ref IN (?, ?)
        UNION ALL SELECT payment_id FROM attempts WHERE txn_id = ?`;
      const everywhere = await read(`p.id IN (${ids})`, name, scope, name, ref, name);
      const found = everywhere.filter((payment) => payment.scope === scope);
      return (
        found.find(({ id }) => id === name) ??
        found.find(({ attempts }) => attempts.some(({ txnId }) => txnId === name)) ??
        found.find((payment) => payment.ref === name) ??
        found.find(({ attempts }) => attempts.some((each) => each.number === number))
      );
    },
    async beginning(scope, start) {
      const ids = `SELECT payment_id FROM attempts WHERE txn_id >= ? AND txn_id < ?
        AND (SELECT scope FROM payments WHERE id = payment_id) = ? GROUP BY payment_id LIMIT 2`;
      return read(`p.id IN (${ids})`, start, `${start}\u{10FFFF}`, scope);
    },
    latest: async (account, atMost) =>
      newestFirst(await read(`p.id IN (${latestIds})`, account, atMost)),
    open: async (scope) =>
      (await read('p.scope = ? AND p.unfinished = 1', scope)).filter(isUnfinished),
    openSince: (ms) =>
      database.read(async (sql) => {
        const rows = readRows(
          await sql.all(selectPayments('p.opened_at <= ? AND p.unfinished = 1'), new Present(-ms)),
        );
        return rows.flatMap(({ payment, owner }) =>
          isUnfinished(payment) ? { ...payment, owner } : [],
        );
      }),
    unfinished: () =>
      database.read(async (sql) =>
        unfinishedOf(
          paymentsIn(await sql.all(selectPayments('p.unfinished = 1'))),
          await sql.now(),
        ),
      ),
    close: () => database.close(),
  };
}

const paymentsIn = (rows: readonly unknown[]): Payment[] =>
  readRows(rows).map(({ payment }) => payment);

/** Of an account, the payments with the most recently submitted attempts. */
const latestIds = `SELECT payment_id FROM attempts a WHERE account = ? AND submitted_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM attempts later WHERE later.payment_id = a.payment_id AND later.submitted_at > a.submitted_at)
  ORDER BY submitted_at DESC LIMIT ?`;

const newestFirst = (payments: readonly Payment[]): Payment[] =>
  payments.toSorted((a, b) => lastSubmitted(b) - lastSubmitted(a));

const lastSubmitted = ({ attempts }: Payment): number =>
  Math.max(...attempts.map(({ submittedAt }) => submittedAt ?? 0));

const rowOfPayment = async (sql: Sql, id: string): Promise<Row | undefined> =>
  readRows(await sql.all(selectPayments('p.id = ?'), id))[0];

const idsSchema = v.array(v.object({ id: v.string() }));

/** Waits for other writers first: the second statement sees their writes. */
async function lockedRow(
  sql: Sql,
  { forUpdate }: SqlDatabase,
  condition: string,
  values: readonly SqlValue[],
): Promise<Row | undefined> {
  const [found] = v.parse(
    idsSchema,
    await sql.all(`SELECT id FROM payments WHERE ${condition}${forUpdate}`, ...values),
  );
  return found && rowOfPayment(sql, found.id);
}

const refLock = ({ scope, ref }: PaymentDraft): string => `ref ${scope} ${ref}`;

/** Payments with equal idempotency keys are opened and submitted one after the other, whatever their references. */
const keyLock = ({ idempotencyKey }: PaymentDraft): string[] =>
  idempotencyKey === null ? [] : [`key ${idempotencyKey}`];

async function begin(
  sql: Sql,
  database: SqlDatabase,
  draft: PaymentDraft,
  isHeld: (row: Row, at: number) => boolean,
): Promise<{ payment: Payment; found: 'new' | 'ref' | 'once' }> {
  const condition = '(p.scope = ? AND p.ref = ?) OR p.idempotency_key = ?';
  const rows = readRows(
    await sql.all(selectPayments(condition), draft.scope, draft.ref, draft.idempotencyKey),
  );
  const same = rows.find(
    ({ payment }) => payment.scope === draft.scope && payment.ref === draft.ref,
  )?.payment;
  // The answer to a commit was lost, and this is the repetition.
  if (same?.id === draft.id) return { payment: same, found: 'new' };
  const rival = rows.find(
    ({ payment }) => payment.id !== same?.id && mayHavePaid(payment),
  )?.payment;
  if (rival !== undefined && (same === undefined || !mayHavePaid(same)))
    return { payment: rival, found: 'once' };
  if (same === undefined) return { payment: await insert(sql, draft), found: 'new' };
  if (same.fingerprint === draft.fingerprint || !neverCreated(same))
    return { payment: same, found: 'ref' };
  const row = await lockedRow(sql, database, 'id = ?', [same.id]);
  const isUnused = row !== undefined && neverCreated(row.payment) && !isHeld(row, await sql.now());
  return { payment: isUnused ? await replace(sql, same.id, draft) : same, found: 'ref' };
}

const attemptsMoved = `a.state IN ('submitting','in-flight','paid','error','unknown')`;

/** The debited amount and, if it is received elsewhere in another currency, the received one. */
async function spentQuery(
  sql: Sql,
  { kind }: SqlDatabase,
  account: string,
  window: Window,
): Promise<[text: string, ...values: SqlValue[]]> {
  // A number: without one PostgreSQL expects a third of all attempts and reads the table.
  const since = (kind === 'postgres' ? await sql.now() : window.earliest) - window.lengthMs;
  const attempts = `FROM attempts a JOIN payments p ON p.id = a.payment_id
    WHERE a.account = ? AND a.submitted_at >= ? AND a.spend_ccy IS NOT NULL AND a.approved_total IS NOT NULL AND ${attemptsMoved}`;
  // If the order has only the debited amount, the approved quote has the received one.
  const arrives = 'COALESCE(p.receives_total, a.approved_receives)';
  const each = `SELECT a.spend_ccy AS ccy, a.approved_total AS total ${attempts}
    UNION ALL SELECT p.receives_ccy, ${arrives} ${attempts} AND p.receives_ccy <> a.spend_ccy AND ${arrives} IS NOT NULL AND p.kind <> 'swap'`;
  // SQLite cannot add exact decimals.
  const sums = `SELECT ccy, CAST(sum(CAST(total AS NUMERIC)) AS TEXT) AS total FROM (${each}) AS spends GROUP BY ccy`;
  return [kind === 'postgres' ? sums : each, account, since, account, since];
}

const spendsSchema = v.array(v.object({ ccy: v.string(), total: v.string() }));
const summed = (rows: readonly unknown[]): Spend[] => v.parse(spendsSchema, rows);

/** @param token identifies this change if the answer to its commit is lost. */
async function update(
  sql: Sql,
  row: Row | undefined,
  claim: Claim,
  change: PaymentChange,
  token: string,
): Promise<Claim> {
  if (row?.fence !== claim.fence) throw lost();
  if (row.lastChange === token) return claimOf(row);
  const written = await writeChange(sql, claimOf(row), change, token);
  if (written === undefined) throw lost();
  return written;
}

async function enter(
  sql: Sql,
  database: SqlDatabase,
  draft: PaymentDraft,
  { ago, ...found }: ImportedAttempt,
  window: Window,
): Promise<boolean> {
  const row = await lockedRow(sql, database, 'scope = ? AND ref = ?', [draft.scope, draft.ref]);
  const known = row?.payment.attempts ?? [];
  if (known.some(({ number, submittedAt }) => number === found.number && submittedAt !== null))
    return false;
  const at = await sql.now();
  const attempt: Attempt = {
    ...found,
    submittedAt: (database.kind === 'postgres' ? at : window.latest) - ago,
  };
  const attempts = [...known.filter(({ number }) => number !== attempt.number), attempt].toSorted(
    (a, b) => a.number - b.number,
  );
  const payment = checkPayment({
    ...(row?.payment ?? opened(draft, at)),
    attempts,
    abandoned: false,
  });
  if (row === undefined) await sql.run(...insertPayment(draft, at));
  const columns = {
    abandoned: 0,
    unfinished: Number(isUnfinished(payment)),
    owner: null,
    lease_until: 0,
    fence: (row?.fence ?? 0) + 1,
  };
  await writeColumns(sql, columns, ['id = ?', payment.id], attempt, randomUUID());
  return true;
}

/**
 * Writes if the claim is valid and the journal has no later attempt than the claim; undefined otherwise. No other process
 * writes under a claim, so the payment need not be read again.
 */
async function writeChange(
  sql: Sql,
  { payment, fence }: Claim,
  { attempt, ...change }: PaymentChange,
  token: string,
): Promise<Claim | undefined> {
  const after = changed(payment, { ...change, attempt });
  const columns = {
    ...(change.consent !== undefined && { consent: change.consent }),
    ...(change.terms !== undefined && { terms: JSON.stringify(change.terms) }),
    ...(change.abandoned !== undefined && { abandoned: Number(change.abandoned) }),
    unfinished: Number(isUnfinished(after)),
    lease_until: new Present(leaseMs),
  };
  const shown = payment.attempts.flatMap(({ number, state }) => [number, state]);
  const condition = `id = ? AND fence = ? AND NOT EXISTS (SELECT 1 FROM attempts
    WHERE payment_id = id AND (number, state) NOT IN (VALUES ${places(payment.attempts.length, '(?, ?)')}))`;
  const updatedAt = await writeColumns(
    sql,
    columns,
    [condition, payment.id, fence, ...shown],
    attempt,
    token,
  );
  return updatedAt === undefined ? undefined : { payment: { ...after, updatedAt }, fence };
}

const writtenSchema = v.array(rowOf({ updatedAt: v.number() }));
const settable = attemptColumns.filter((name) => name !== 'number');
const writeAttempt = `INSERT INTO attempts (payment_id, account, ${attemptColumns.join(', ')})
  SELECT id, account, ${places(attemptColumns.length)} FROM payments WHERE last_change = ? AND id = ?
  ON CONFLICT (payment_id, number) DO UPDATE SET ${settable.map((name) => `${name} = excluded.${name}`).join(', ')}
  RETURNING (SELECT updated_at FROM payments WHERE id = payment_id) AS updated_at`;

/** Nothing follows in its transaction. Resolves with when it was written, or with undefined if the condition does not hold. */
async function writeColumns(
  sql: Sql,
  columns: Readonly<Record<string, SqlValue>>,
  [condition, id, ...values]: readonly [condition: string, id: string, ...values: SqlValue[]],
  attempt: Attempt | undefined,
  token: string,
): Promise<number | undefined> {
  const all = { ...columns, updated_at: new Present(), last_change: token };
  const set = `UPDATE payments SET ${Object.keys(all)
    .map((name) => `${name} = ?`)
    .join(', ')} WHERE ${condition}`;
  const given = [...Object.values(all), id, ...values];
  const rows =
    attempt === undefined
      ? await sql.final(`${set} RETURNING updated_at`, ...given)
      : await sql.final(`${set}; ${writeAttempt}`, ...given, ...attemptValues(attempt), token, id);
  return v.parse(writtenSchema, rows)[0]?.updatedAt;
}

const claimOf = ({ payment, fence }: Row): Claim => ({ payment, fence });

const lost = (): LostClaim => new LostClaim('another process took the payment over');

async function insert(sql: Sql, draft: PaymentDraft): Promise<Payment> {
  const payment = opened(draft, await sql.now());
  const [text, ...values] = insertPayment(draft, payment.openedAt);
  const first = payment.attempts.flatMap(attemptValues);
  const attempt = `INSERT INTO attempts (payment_id, account, ${attemptColumns.join(', ')}) VALUES (${places(first.length + 2)})`;
  await sql.final(`${text}; ${attempt}`, ...values, draft.id, draft.account, ...first);
  return payment;
}

function insertPayment(draft: PaymentDraft, at: number): [text: string, ...values: SqlValue[]] {
  const { id, scope, account, ref } = draft;
  const columns = {
    id,
    scope,
    account,
    ref,
    ...orderColumns(draft),
    opened_at: at,
    updated_at: at,
  };
  return [
    `INSERT INTO payments (${Object.keys(columns).join(', ')}) VALUES (${places(Object.keys(columns).length)})`,
    ...Object.values(columns),
  ];
}

async function replace(sql: Sql, id: string, draft: PaymentDraft): Promise<Payment> {
  const columns = orderColumns(draft);
  const sets = Object.keys(columns).map((name) => `${name} = ?`);
  const text = `UPDATE payments SET ${sets.join(', ')}, fence = fence + 1 WHERE id = ?; ${selectPayments('p.id = ?')}`;
  return onlyRow(await sql.final(text, ...Object.values(columns), id, id)).payment;
}

function orderColumns(draft: PaymentDraft): Record<string, string | null> {
  const arrival = arrivalOf(draft);
  return {
    kind: draft.kind,
    request: draft.request,
    fingerprint: draft.fingerprint,
    idempotency_key: draft.idempotencyKey,
    terms: JSON.stringify(draft.terms),
    consent: draft.consent,
    receives_ccy: arrival.ccy,
    receives_total: arrival.total,
  };
}

function onlyRow(rows: readonly unknown[]): Row {
  const [row] = readRows(rows);
  if (row === undefined)
    throw new Failure('unexpected', 'The journal lost a row that it had just written.');
  return row;
}

/**
 * The service can restore every change except a possible submission and an abandonment. The other changes survive
 * the process and reach the disk with the next of these.
 */
const mustLast = ({ attempt, abandoned }: PaymentChange): boolean =>
  attempt?.state === 'submitting' || abandoned === true;
