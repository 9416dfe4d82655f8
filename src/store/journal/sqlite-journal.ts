// The journal in SQLite: durable before it answers, safe with many processes at once.
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import {
  leaseMs,
  LostClaim,
  type Claim,
  type Intent,
  type IntentChange,
  type IntentDraft,
  type Journal,
  type Spend,
} from './journal.js';
import { mayHavePaid, neverCreated, wasLetGo } from './rules.js';
import { referenceIndex } from './sqlite-references.js';
import { changed, checkIntent } from './steps.js';
import { journalFailure, openJournalFile } from './sqlite-file.js';
import { closeSqlite, inTransaction, synced, withStatementsKept, type Connection } from '../files/sqlite.js';
import { accountColumn, columns, letGo, rowSchema, spendSchema, type Row } from './sqlite-rows.js';

export interface SqliteJournalOptions {
  readonly path: string;
  /** Whether the process that a claim's owner names still runs. */
  readonly isAlive: (owner: string) => boolean;
  /** The machine's clock, epoch ms: read when the lock on the file is held, which may have taken long. */
  readonly now: () => number;
}

/** Throws Failure when the file is damaged, from a newer version, or cannot be written: nothing is sent then. */
export function openJournal({ path, isAlive, now }: SqliteJournalOptions): Journal {
  const db = withStatementsKept(openJournalFile(path));
  const guard = <T>(action: () => T): Promise<T> => guarded(path, action);
  const atomic = <T>(action: (at: number) => T): Promise<T> => guard(() => inTransaction(db, () => action(now())));
  const onDisk = <T>(action: (at: number) => T): Promise<T> =>
    guard(() => synced(db, () => inTransaction(db, () => action(now()))));
  const isHeld = ({ owner, leaseUntil }: Row, at: number): boolean =>
    owner !== null && leaseUntil > at && leaseUntil <= at + leaseMs && isAlive(owner);

  return {
    begin: (draft) =>
      atomic((at) => {
        const same = one(db, 'scope = ? AND ref = ?', draft.scope, draft.ref);
        const rival = rivals(db, draft, same?.intent.id).find(mayHavePaid);
        if (rival !== undefined && (same === undefined || !mayHavePaid(same.intent))) {
          return { intent: rival, found: 'once' as const };
        }
        if (same === undefined) return { intent: insert(db, draft, at), found: 'new' as const };
        const isUnused = neverCreated(same.intent) && !isHeld(same, at);
        if (same.intent.fingerprint === draft.fingerprint || !isUnused) return { intent: same.intent, found: 'ref' as const };
        return { intent: replace(db, same.intent.id, draft), found: 'ref' as const };
      }),
    claim: (id, owner) =>
      atomic((at) => {
        const row = byId(db, id);
        if (row === undefined || (row.owner !== owner && isHeld(row, at))) return undefined;
        const sql = 'UPDATE intents SET owner = ?, lease_until = ?, fence = fence + 1 WHERE id = ?';
        db.prepare(sql).run(owner, at + leaseMs, id);
        return { intent: row.intent, fence: row.fence + 1 };
      }),
    renew: (claim) =>
      atomic((at) => {
        const sql = 'UPDATE intents SET lease_until = ? WHERE id = ? AND fence = ?';
        if (db.prepare(sql).run(at + leaseMs, claim.intent.id, claim.fence).changes !== 1) throw lost();
      }),
    write: (claim, change) => (mustLast(change) ? onDisk : atomic)((at) => update(db, claim, change, at)),
    spend: (claim, change, { lengthMs, earliest, latest }, allow) =>
      onDisk((at) => {
        const { intent } = claim;
        allow({
          get spent() {
            return spentSince(db, intent.account, earliest - lengthMs, intent.id);
          },
          rival: rivals(db, intent, intent.id).find(wasLetGo),
        });
        return update(db, claim, { ...change, approvedAt: latest }, at);
      }),
    release: (claim) =>
      atomic(() => {
        const sql = 'UPDATE intents SET owner = NULL, lease_until = 0 WHERE id = ? AND fence = ?';
        db.prepare(sql).run(claim.intent.id, claim.fence);
      }),
    spent: (account, { lengthMs, earliest }) => guard(() => spentSince(db, account, earliest - lengthMs, '')),
    read: (id) => guard(() => byId(db, id)?.intent),
    find: (scope, name) =>
      guard(() => {
        // One by one, because each has an index of its own.
        const found = ['id', 'txn_id', 'ref'].map((column) => one(db, `scope = ? AND ${column} = ?`, scope, name));
        return found.find((row) => row !== undefined)?.intent;
      }),
    beginning: (scope, start) =>
      guard(() => {
        const rows = all(db, 'scope = ? AND txn_id >= ? AND txn_id < ? LIMIT 2', scope, start, `${start}\u{10FFFF}`);
        return rows.map(intentOf);
      }),
    open: (scope) =>
      guard(() => all(db, `scope = ? AND step <> 'final' AND closed = 0 ORDER BY opened_at`, scope).map(intentOf)),
    references: referenceIndex(db, guard),
    close: () => guard(() => closeSqlite(db)),
  };
}

const intentOf = (row: Row): Intent => row.intent;
function all(db: Connection, condition: string, ...values: unknown[]): Row[] {
  const rows = v.parse(v.array(rowSchema), db.prepare(`SELECT * FROM intents WHERE ${condition}`).all(...values));
  for (const { intent } of rows) checkIntent(intent);
  return rows;
}
const one = (db: Connection, condition: string, ...values: unknown[]): Row | undefined =>
  all(db, `${condition} LIMIT 1`, ...values)[0];
const byId = (db: Connection, id: string): Row | undefined => one(db, 'id = ?', id);

/** What left the wallet, and what arrived outside of it in another currency, of all payments but one. */
function spentSince(db: Connection, account: string, since: number, but: string): Spend[] {
  const which = `${accountColumn} = ? AND approved_at >= ? AND id <> ? AND spend_ccy IS NOT NULL AND ${letGo}`;
  const arrivedIn = `json_extract(request, '$.receives.ccy')`;
  const sql = `SELECT spend_ccy AS ccy, approved_total AS total FROM intents WHERE ${which}
    UNION ALL SELECT ${arrivedIn}, json_extract(request, '$.receives.value') FROM intents
    WHERE ${which} AND ${arrivedIn} <> spend_ccy AND kind <> 'swap'`;
  return v.parse(v.array(spendSchema), db.prepare(sql).all(account, since, but, account, since, but));
}

/** Other intents that pay for the same thing. */
function rivals(db: Connection, { onceKey }: IntentDraft, id: string | undefined): Intent[] {
  if (onceKey === null) return [];
  return all(db, 'once_key = ? AND id <> ?', onceKey, id ?? '').map(intentOf);
}

function update(db: Connection, claim: Claim, change: IntentChange, now: number): Claim {
  const row = byId(db, claim.intent.id);
  if (row?.fence !== claim.fence) throw lost();
  changed(row.intent, change);
  const entries = Object.entries(change).filter(([, value]) => value !== undefined);
  const sets = [...entries.map(([name]) => `${columns[name as keyof IntentChange]} = ?`), 'updated_at = ?', 'lease_until = ?'];
  const values = entries.map(([, value]) => toColumn(value));
  db.prepare(`UPDATE intents SET ${sets.join(', ')} WHERE id = ?`).run(...values, now, now + leaseMs, claim.intent.id);
  return { intent: written(db, claim.intent.id), fence: claim.fence };
}

const lost = (): LostClaim => new LostClaim('another process took the payment over');

function insert(db: Connection, draft: IntentDraft, now: number): Intent {
  const fields = { id: draft.id, scope: draft.scope, ref: draft.ref, ...draftFields(draft), opened_at: now };
  const names = [...Object.keys(fields), 'updated_at'];
  db.prepare(`INSERT INTO intents (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`).run(
    ...Object.values(fields),
    now,
  );
  return written(db, draft.id);
}

function replace(db: Connection, id: string, draft: IntentDraft): Intent {
  const fields = draftFields(draft);
  const sets = Object.keys(fields).map((name) => `${name} = ?`);
  db.prepare(`UPDATE intents SET ${sets.join(', ')}, fence = fence + 1 WHERE id = ?`).run(...Object.values(fields), id);
  return written(db, id);
}

const draftFields = (draft: IntentDraft): Record<string, string | null> => ({
  kind: draft.kind,
  request: draft.request,
  fingerprint: draft.fingerprint,
  once_key: draft.onceKey,
  terms: JSON.stringify(draft.terms),
  consent: draft.consent,
});

function written(db: Connection, id: string): Intent {
  const row = byId(db, id);
  if (row === undefined) throw new Failure('unexpected', 'The journal lost a row that it had just written.');
  return row.intent;
}

function toColumn(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

/**
 * What the service could not tell again after the power failed: that money may have been let go, and that a payment was
 * given up. All other steps outlive the process, which is what a crash takes; they are on the disk with the next of these.
 */
const mustLast = ({ step, closed }: IntentChange): boolean => step === 'confirming' || closed === true;

/** Runs a synchronous action as a promise; what SQLite throws becomes a Failure that says nothing was written. */
function guarded<T>(path: string, action: () => T): Promise<T> {
  try {
    return Promise.resolve(action());
  } catch (error) {
    return Promise.reject(error instanceof LostClaim ? error : journalFailure(path, error));
  }
}
