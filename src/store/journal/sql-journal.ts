// The journal in a database: durable before it answers, safe with many processes at once, on one machine or on many.
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { columnOf } from '../../formats/text.js';
import { Failure } from '../../formats/failure.js';
import { places, rowOf } from '../database/rows.js';
import { Present, type Sql, type SqlDatabase, type SqlValue } from '../database/sql.js';
import {
  leaseMs,
  LostClaim,
  type Claim,
  type Intent,
  type IntentChange,
  type IntentDraft,
  type Journal,
  type LetGo,
  type Spend,
  type SpentBefore,
  type Window,
} from './journal.js';
import { unfinishedPayments } from './figures.js';
import { referenceIndex } from './references.js';
import { arrivalOf, isAccounted, mayHavePaid, neverCreated, spendsOf, wasEverLetGo } from './rules.js';
import { letGo, rowSchema, spendSchema, type ColumnChange, type Row } from './schema.js';
import { changed, checkIntent, doubtsAfter, opened } from './steps.js';

/** @param isAlive whether the process that a claim's owner names still runs. */
export function openSqlJournal(database: SqlDatabase, isAlive: (owner: string) => boolean): Journal {
  const { forUpdate } = database;
  const isHeld = ({ owner, leaseUntil }: Row, at: number): boolean =>
    owner !== null && leaseUntil > at && leaseUntil <= at + leaseMs && isAlive(owner);
  const take = 'UPDATE intents SET owner = ?, lease_until = ?, fence = fence + 1 WHERE id = ?';

  /** What has the reference, and what pays for the same thing: of both, one look. */
  const begin = async (sql: Sql, draft: IntentDraft): Promise<{ intent: Intent; found: 'new' | 'ref' | 'once' }> => {
    const condition = `(scope = ? AND ref = ?) OR once_key = ?${forUpdate}`;
    const rows = await all(sql, condition, [draft.scope, draft.ref, draft.onceKey]);
    const same = rows.find(({ intent }) => intent.scope === draft.scope && intent.ref === draft.ref);
    const others = rows.map(({ intent }) => intent).filter(({ id, onceKey }) => id !== same?.intent.id && onceKey === draft.onceKey);
    const rival = draft.onceKey === null ? undefined : others.find(mayHavePaid);
    // Its own row: the answer to a commit was lost, and this is the second try.
    if (same?.intent.id === draft.id) return { intent: same.intent, found: 'new' };
    if (rival !== undefined && (same === undefined || !mayHavePaid(same.intent))) return { intent: rival, found: 'once' };
    const at = await sql.now();
    if (same === undefined) return { intent: await insert(sql, draft, at, true), found: 'new' };
    const isUnused = neverCreated(same.intent) && !isHeld(same, at);
    if (same.intent.fingerprint === draft.fingerprint || !isUnused) return { intent: same.intent, found: 'ref' };
    return { intent: await replace(sql, same.intent.id, draft), found: 'ref' };
  };

  return {
    begin: (draft) => database.transaction((sql) => begin(sql, draft), { locks: [refLock(draft), ...onceLock(draft)] }),
    async claim(id, owner) {
      const free = await database.transaction(async (sql) => {
        const rows = await sql.final(`${take} AND (owner IS NULL OR owner = ?) RETURNING *`, owner, new Present(leaseMs), id, owner);
        return rows.length === 0 ? undefined : claimOf(writtenRow(rows));
      });
      if (free !== undefined) return free;
      return database.transaction(async (sql) => {
        const row = await one(sql, 'id = ?', [id], forUpdate);
        const at = await sql.now();
        if (row === undefined || isHeld(row, at)) return undefined;
        return claimOf(writtenRow(await sql.final(`${take} RETURNING *`, owner, at + leaseMs, id)));
      });
    },
    async renew(claim) {
      const lengthen = 'UPDATE intents SET lease_until = ? WHERE id = ? AND fence = ? RETURNING 1';
      const renewed = await database.transaction((sql) => sql.final(lengthen, new Present(leaseMs), claim.intent.id, claim.fence));
      if (renewed.length !== 1) throw lost();
    },
    async write(claim, change) {
      const token = randomUUID();
      const options = { lasts: mustLast(change) };
      const written = await database.transaction((sql) => setColumns(sql, claim, change, token), options);
      if (written !== undefined) return written;
      // Taken over, written in a commit whose answer was lost, or a step further than this claim knows.
      return database.transaction(async (sql) => update(sql, await one(sql, 'id = ?', [claim.intent.id]), claim, change, token), options);
    },
    spend: (claim, change, window, allow) => {
      const token = randomUUID();
      const { intent } = claim;
      return database.transaction(
        async (sql) => {
          const rows = await all(sql, 'id = ? OR once_key = ?', [intent.id, intent.onceKey]);
          const row = rows.find((each) => each.intent.id === intent.id);
          if (row?.fence === claim.fence && row.lastChange === token) return claimOf(row);
          const others = rows.map((each) => each.intent).filter(({ id }) => id !== intent.id);
          const rival = others.find(wasEverLetGo);
          await allowed(allow, rival, async () => {
            await sql.lock(`account ${intent.account}`);
            return spentIn(sql, database, intent.account, window, intent.id);
          });
          const approvedAt = database.kind === 'postgres' ? await sql.now() : window.latest;
          return update(sql, row, claim, { ...change, approvedAt }, token);
        },
        { lasts: true, locks: onceLock(intent) },
      );
    },
    async release(claim) {
      const set = 'UPDATE intents SET owner = NULL, lease_until = 0 WHERE id = ? AND fence = ?';
      await database.transaction((sql) => sql.final(set, claim.intent.id, claim.fence));
    },
    enter: (draft, letGo, window) =>
      database.transaction((sql) => enter(sql, database, draft, letGo, window), { lasts: true, locks: [refLock(draft), ...onceLock(draft)] }),
    spent: (account, window) => database.read((sql) => spentIn(sql, database, account, window, '')),
    read: (id) => database.read(async (sql) => (await one(sql, 'id = ?', [id]))?.intent),
    find: (scope, name) =>
      database.read(async (sql) => {
        // One by one, because each has an index of its own.
        for (const column of ['id', 'txn_id', 'ref']) {
          const found = await one(sql, `scope = ? AND ${column} = ?`, [scope, name]);
          if (found !== undefined) return found.intent;
        }
        const doubtful = await all(sql, `scope = ? AND doubts <> '[]'`, [scope]);
        return doubtful.map(({ intent }) => intent).find(({ doubts }) => doubts.some(({ txnId }) => txnId === name));
      }),
    beginning: (scope, start) =>
      database.read(async (sql) => {
        const rows = await all(sql, 'scope = ? AND txn_id >= ? AND txn_id < ? LIMIT 2', [scope, start, `${start}\u{10FFFF}`]);
        return rows.map(({ intent }) => intent);
      }),
    latest: (account, atMost) =>
      database.read(async (sql) => {
        const rows = await all(sql, 'account = ? AND approved_at IS NOT NULL ORDER BY approved_at DESC, id LIMIT ?', [account, atMost]);
        return rows.map(({ intent }) => intent);
      }),
    open: (scope) =>
      database.read(async (sql) => {
        const rows = await all(sql, `scope = ? AND step <> 'final' AND closed = 0 ORDER BY opened_at, id`, [scope]);
        return rows.map(({ intent }) => intent);
      }),
    openSince: (ms) =>
      database.read(async (sql) => {
        const rows = await all(sql, `opened_at <= ? AND step <> 'final' AND closed = 0 ORDER BY opened_at, id`, [new Present(-ms)]);
        return rows.map(({ intent, owner }) => ({ ...intent, owner }));
      }),
    unfinished: () => database.read(unfinishedPayments),
    references: referenceIndex(database),
    close: () => database.close(),
  };
}

async function all(sql: Sql, condition: string, values: readonly SqlValue[]): Promise<Row[]> {
  const rows = v.parse(v.array(rowSchema), await sql.all(`SELECT * FROM intents WHERE ${condition}`, ...values));
  for (const { intent } of rows) checkIntent(intent);
  return rows;
}

async function one(sql: Sql, condition: string, values: readonly SqlValue[], end = ''): Promise<Row | undefined> {
  const [row] = await all(sql, `${condition} LIMIT 1${end}`, values);
  return row;
}

const refLock = ({ scope, ref }: IntentDraft): string => `ref ${scope} ${ref}`;

/** Payments for the same thing are opened and let go one after the other, whatever they are called. */
const onceLock = ({ onceKey }: IntentDraft): string[] => (onceKey === null ? [] : [`once ${onceKey}`]);

/**
 * Asks whether the money may go. What was spent is summed up, with the account locked, only for one who looks at it: the
 * first look breaks off, and the second sees the sum.
 */
async function allowed(
  allow: (before: SpentBefore) => void,
  rival: Intent | undefined,
  sum: () => Promise<Spend[]>,
): Promise<void> {
  let isWanted = false;
  const untold = {
    rival,
    get spent(): readonly Spend[] {
      isWanted = true;
      throw new NotSummedYet();
    },
  };
  try {
    allow(untold);
  } catch (error) {
    if (!(error instanceof NotSummedYet)) throw error;
  }
  if (isWanted) allow({ rival, spent: await sum() });
}

class NotSummedYet extends Error {}

/**
 * What left the wallet, and what arrived outside of it in another currency, of all payments but one; and of attempts that
 * may have paid before another was made, that one's too.
 */
async function spentIn(sql: Sql, { kind }: SqlDatabase, account: string, window: Window, but: string): Promise<Spend[]> {
  const since = (kind === 'postgres' ? await sql.now() : window.earliest) - window.lengthMs;
  const which = `account = ? AND approved_at >= ? AND id <> ? AND spend_ccy IS NOT NULL AND ${letGo}`;
  // Where the order fixes only what leaves, the quote that was agreed to says what arrives.
  const arrives = 'COALESCE(receives_total, approved_receives)';
  const each = `SELECT spend_ccy AS ccy, approved_total AS total FROM intents WHERE ${which}
    UNION ALL SELECT receives_ccy, ${arrives} FROM intents
    WHERE ${which} AND receives_ccy <> spend_ccy AND ${arrives} IS NOT NULL AND kind <> 'swap'`;
  // SQLite has no exact decimals to add.
  const sums = `SELECT ccy, CAST(sum(CAST(total AS NUMERIC)) AS TEXT) AS total FROM (${each}) AS spends GROUP BY ccy`;
  const values = [account, since, but];
  const spent = v.parse(v.array(spendSchema), await sql.all(kind === 'postgres' ? sums : each, ...values, ...values));
  const doubtful = await all(sql, `account = ? AND doubts <> '[]'`, [account]);
  const attempts = doubtful.flatMap(({ intent }) => intent.doubts.map((doubt) => ({ ...intent, ...doubt })));
  return [...spent, ...attempts.filter(({ approvedAt }) => approvedAt !== null && approvedAt >= since).flatMap(spendsOf)];
}

/** @param token tells this change from any other, for when the answer to its commit is lost. */
async function update(sql: Sql, row: Row | undefined, claim: Claim, change: IntentChange, token: string): Promise<Claim> {
  if (row?.fence !== claim.fence) throw lost();
  if (row.lastChange === token) return claimOf(row);
  const written = await setColumns(sql, claimOf(row), change, token);
  if (written === undefined) throw lost();
  return written;
}

async function enter(sql: Sql, { kind, forUpdate }: SqlDatabase, draft: IntentDraft, { ago, ...letGo }: LetGo, window: Window): Promise<boolean> {
  const same = (await one(sql, 'scope = ? AND ref = ?', [draft.scope, draft.ref], forUpdate))?.intent;
  if (same !== undefined && isAccounted(same)) return false;
  const at = await sql.now();
  const intent = same ?? (await insert(sql, draft, at, false));
  const approvedAt = (kind === 'postgres' ? at : window.latest) - ago;
  const change: IntentChange = { ...letGo, approvedAt, closed: false };
  const entered = checkIntent({ ...intent, ...change });
  const { fence } = writtenRow(await sql.all('UPDATE intents SET owner = NULL, fence = fence + 1 WHERE id = ? RETURNING *', intent.id));
  await setValues(sql, { intent, fence }, { ...change, doubts: doubtsAfter(intent, entered) }, randomUUID());
  return true;
}

/**
 * Writes as long as the claim holds and the step is the one that is known; undefined where it was not. Nobody else writes
 * under a claim, so that what the row says now is known without reading it.
 */
async function setColumns(sql: Sql, { intent, fence }: Claim, change: IntentChange, token: string): Promise<Claim | undefined> {
  const after = changed(intent, change);
  const written = after.doubts === intent.doubts ? change : { ...change, doubts: after.doubts };
  const updatedAt = await setValues(sql, { intent, fence }, written, token);
  return updatedAt === undefined ? undefined : { intent: { ...after, updatedAt }, fence };
}

const updatedSchema = v.array(rowOf({ updatedAt: v.number() }));

/** Nothing follows in its transaction. Resolves with when it was written. */
async function setValues(sql: Sql, { intent, fence }: Claim, change: ColumnChange, token: string): Promise<number | undefined> {
  const entries = Object.entries(change).filter(([, value]) => value !== undefined);
  const names = entries.map(([name]) => columnOf(name));
  const sets = [...names, 'updated_at', 'lease_until', 'last_change'].map((name) => `${name} = ?`).join(', ');
  const values = [...entries.map(([, value]) => toColumn(value)), new Present(), new Present(leaseMs), token, intent.id, fence, intent.step];
  const text = `UPDATE intents SET ${sets} WHERE id = ? AND fence = ? AND step = ? RETURNING updated_at`;
  return v.parse(updatedSchema, await sql.final(text, ...values))[0]?.updatedAt;
}

const claimOf = ({ intent, fence }: Row): Claim => ({ intent, fence });

const lost = (): LostClaim => new LostClaim('another process took the payment over');

async function insert(sql: Sql, draft: IntentDraft, at: number, isLast: boolean): Promise<Intent> {
  const { id, scope, account, ref } = draft;
  const fields = { id, scope, account, ref, ...draftFields(draft), opened_at: at, updated_at: at };
  const names = Object.keys(fields);
  const text = `INSERT INTO intents (${names.join(', ')}) VALUES (${places(names.length)}) RETURNING 1`;
  await (isLast ? sql.final : sql.all)(text, ...Object.values(fields));
  return opened(draft, at);
}

async function replace(sql: Sql, id: string, draft: IntentDraft): Promise<Intent> {
  const fields = draftFields(draft);
  const sets = Object.keys(fields).map((name) => `${name} = ?`);
  const text = `UPDATE intents SET ${sets.join(', ')}, fence = fence + 1 WHERE id = ? RETURNING *`;
  return writtenRow(await sql.final(text, ...Object.values(fields), id)).intent;
}

function draftFields(draft: IntentDraft): Record<string, string | null> {
  const arrival = arrivalOf(draft);
  return {
    kind: draft.kind,
    request: draft.request,
    fingerprint: draft.fingerprint,
    once_key: draft.onceKey,
    terms: JSON.stringify(draft.terms),
    consent: draft.consent,
    receives_ccy: arrival.ccy,
    receives_total: arrival.total,
  };
}

function writtenRow(rows: readonly unknown[]): Row {
  const [row] = v.parse(v.array(rowSchema), rows);
  if (row === undefined) throw new Failure('unexpected', 'The journal lost a row that it had just written.');
  checkIntent(row.intent);
  return row;
}

function toColumn(value: unknown): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  return JSON.stringify(value);
}

/**
 * What the service could not tell again after the power failed: that money may have been let go, and that a payment was
 * given up. All other steps outlive the process, which is what a crash takes; they are on the disk with the next of these.
 */
const mustLast = ({ step, closed }: IntentChange): boolean => step === 'confirming' || closed === true;
