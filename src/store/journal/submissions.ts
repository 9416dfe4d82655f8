// Submits attempts, and enters attempts that the service reports. Both count against the limits of
// the account, by the limit clock.
import { randomUUID } from 'node:crypto';
import { Failure } from '../../formats/failure.js';
import type { Sql, SqlDatabase, Statement } from '../database/sql.js';
import { claimOf, writeImported, writeToRow, type Write } from './changes.js';
import type {
  Claim,
  ImportedAttempt,
  Journal,
  ServiceTime,
  Spend,
  SpentBefore,
} from './journal.js';
import { limitTime, dayMs, spendsIn, spentSince } from './spending.js';
import {
  keyLock,
  lockedRow,
  paymentsIn,
  readRows,
  refLock,
  selectPayments,
  type PaymentRow,
} from './rows.js';
import { latestIds, newestFirst } from './lookups.js';
import {
  checkPayment,
  mayHavePaid,
  opened,
  type Attempt,
  type Payment,
  type PaymentChange,
  type PaymentDraft,
} from './payment.js';

export const submissions = (
  database: SqlDatabase,
): Pick<Journal, 'submit' | 'enter' | 'spent'> => ({
  submit: (claim, change, service, allow) => submit(database, claim, change, service, allow),
  enter: (draft, imported, service) => enter(database, draft, imported, service),
  spent: (account, service) =>
    database.transaction((sql) => spent(sql, database, account, service)),
});

type Submission = PaymentChange & { readonly attempt: Attempt };
type Allow = Parameters<Journal['submit']>[3];

async function submit(
  database: SqlDatabase,
  claim: Claim,
  change: Submission,
  service: ServiceTime,
  allow: Allow,
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
        // Returns the refusal, so that the transaction commits the reading of the limit clock.
        if (error instanceof Failure) return error;
        throw error;
      }
      const attempt = { ...change.attempt, submittedAt: await sql.now() };
      const isCounted = database.kind === 'postgres';
      const wanted: Write = { change: { ...change, attempt }, token, limitTime: time, isCounted };
      return writeToRow(sql, row, claim, wanted);
    },
    { lasts: true, locks: keyLock(claim.payment) },
  );
  if (submitted instanceof Failure) throw submitted;
  return submitted;
}

/** The payment, and others with its idempotency key. */
const competing = async (sql: Sql, { id, idempotencyKey }: Payment): Promise<PaymentRow[]> =>
  readRows(await sql.all(selectPayments('p.id = ? OR p.idempotency_key = ?'), id, idempotencyKey));

/** The spending of an account before a submission. The account is locked until the end. */
function spentBefore(
  sql: Sql,
  { id, account }: Payment,
  rows: readonly PaymentRow[],
  time: number,
): SpentBefore {
  const whileLocked = (...statement: Statement): Promise<readonly unknown[]> =>
    sql.whileLocked(`account ${account}`, ...statement);
  return {
    rival: rows.map(({ payment }) => payment).find((each) => each.id !== id && mayHavePaid(each)),
    latest: async (atMost) =>
      newestFirst(
        paymentsIn(await whileLocked(selectPayments(`p.id IN (${latestIds})`), account, atMost)),
      ),
    spent: async () => spendsIn(await whileLocked(...spentSince(account, time - dayMs))),
  };
}

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
): Promise<boolean> =>
  database.transaction((sql) => enterIn(sql, database, draft, imported, service), {
    lasts: true,
    locks: [refLock(draft), ...keyLock(draft)],
  });

async function enterIn(
  sql: Sql,
  database: SqlDatabase,
  draft: PaymentDraft,
  { ago, ...found }: ImportedAttempt,
  service: ServiceTime,
): Promise<boolean> {
  const row = await lockedRow(sql, database, 'scope = ? AND ref = ?', draft.scope, draft.ref);
  const known = row?.payment.attempts ?? [];
  if (known.some(({ number, submittedAt }) => number === found.number && submittedAt !== null))
    return false;
  const at = await sql.now();
  const time = await limitTime(sql, database, draft.account, service);
  const attempt: Attempt = { ...found, submittedAt: at - ago, resolution: null };
  const attempts = [...known.filter(({ number }) => number !== attempt.number), attempt].toSorted(
    (a, b) => a.number - b.number,
  );
  const before = row?.payment ?? opened(draft, at);
  const payment = checkPayment({ ...before, attempts, abandoned: false });
  const isCounted = database.kind === 'postgres';
  await writeImported(sql, row, payment, attempt, { limitTime: time - ago, isCounted });
  return true;
}
