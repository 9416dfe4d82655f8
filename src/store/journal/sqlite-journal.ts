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
import { journalFailure, openJournalFile } from './sqlite-file.js';
import { inTransaction, synced, withStatementsKept, type Connection } from '../files/sqlite.js';
import { columns, letGo, rowSchema, spendSchema, type Row } from './sqlite-rows.js';

/**
 * @param isAlive whether the process that a claim's owner names still runs.
 * @throws Failure when the file is damaged, from a newer version, or cannot be written: nothing is sent then.
 */
export function openJournal(path: string, isAlive: (owner: string) => boolean): Journal {
  const db = withStatementsKept(openJournalFile(path));
  const guard = <T>(action: () => T): Promise<T> => guarded(path, action);
  const atomic = <T>(action: () => T): Promise<T> => guard(() => inTransaction(db, action));
  const onDisk = <T>(action: () => T): Promise<T> => guard(() => synced(db, () => inTransaction(db, action)));
  const isHeld = ({ owner, leaseUntil }: Row, now: number): boolean =>
    owner !== null && leaseUntil > now && leaseUntil <= now + leaseMs && isAlive(owner);

  return {
    begin: (draft) =>
      atomic(() => {
        const same = one(db, 'scope = ? AND ref = ?', draft.scope, draft.ref);
        const rival = rivals(db, draft, same?.intent.id).find(mayHavePaid);
        if (rival !== undefined && (same === undefined || !mayHavePaid(same.intent))) {
          return { intent: rival, found: 'once' as const };
        }
        if (same === undefined) return { intent: insert(db, draft), found: 'new' as const };
        const isUnused = neverCreated(same.intent) && !isHeld(same, draft.openedAt);
        if (same.intent.fingerprint === draft.fingerprint || !isUnused) return { intent: same.intent, found: 'ref' as const };
        return { intent: replace(db, same.intent.id, draft), found: 'ref' as const };
      }),
    claim: (id, owner, now) =>
      atomic(() => {
        const row = byId(db, id);
        if (row === undefined || (row.owner !== owner && isHeld(row, now))) return undefined;
        const sql = 'UPDATE intents SET owner = ?, lease_until = ?, fence = fence + 1 WHERE id = ?';
        db.prepare(sql).run(owner, now + leaseMs, id);
        return { intent: row.intent, fence: row.fence + 1 };
      }),
    write: (claim, change, now) => (mustLast(change) ? onDisk : atomic)(() => update(db, claim, change, now)),
    spend: (claim, change, { since, now }, allow) =>
      onDisk(() => {
        const { intent } = claim;
        allow({
          get spent() {
            return spentSince(db, intent.scope, since, intent.id);
          },
          rival: rivals(db, intent, intent.id).find(wasLetGo),
        });
        return update(db, claim, change, now);
      }),
    release: (claim) =>
      atomic(() => {
        const sql = 'UPDATE intents SET owner = NULL, lease_until = 0 WHERE id = ? AND fence = ?';
        db.prepare(sql).run(claim.intent.id, claim.fence);
      }),
    spent: (scope, since) => guard(() => spentSince(db, scope, since, '')),
    read: (id) => guard(() => byId(db, id)?.intent),
    find: (scope, name) =>
      guard(() => {
        // One by one, because each has an index of its own.
        const found = ['id', 'txn_id', 'ref'].map((column) => one(db, `scope = ? AND ${column} = ?`, scope, name));
        return found.find((row) => row !== undefined)?.intent;
      }),
    open: (scope) =>
      guard(() => all(db, `scope = ? AND step <> 'final' AND closed = 0 ORDER BY opened_at`, scope).map(intentOf)),
    close: () => guard(() => void db.close()),
  };
}

const intentOf = (row: Row): Intent => row.intent;
const all = (db: Connection, condition: string, ...values: unknown[]): Row[] =>
  v.parse(v.array(rowSchema), db.prepare(`SELECT * FROM intents WHERE ${condition}`).all(...values));
const one = (db: Connection, condition: string, ...values: unknown[]): Row | undefined =>
  all(db, `${condition} LIMIT 1`, ...values)[0];
const byId = (db: Connection, id: string): Row | undefined => one(db, 'id = ?', id);

/** What left the wallet, and what arrived outside of it in another currency, of all payments but one. */
function spentSince(db: Connection, scope: string, since: number, but: string): Spend[] {
  const which = `scope = ? AND approved_at >= ? AND id <> ? AND spend_ccy IS NOT NULL AND ${letGo}`;
  const arrivedIn = `json_extract(request, '$.receives.ccy')`;
  const sql = `SELECT spend_ccy AS ccy, approved_total AS total FROM intents WHERE ${which}
    UNION ALL SELECT ${arrivedIn}, json_extract(request, '$.receives.value') FROM intents
    WHERE ${which} AND ${arrivedIn} <> spend_ccy AND kind <> 'swap'`;
  return v.parse(v.array(spendSchema), db.prepare(sql).all(scope, since, but, scope, since, but));
}

/** Other intents that pay for the same thing. */
function rivals(db: Connection, { scope, onceKey }: IntentDraft, id: string | undefined): Intent[] {
  if (onceKey === null) return [];
  return all(db, 'scope = ? AND once_key = ? AND id <> ?', scope, onceKey, id ?? '').map(intentOf);
}

function update(db: Connection, claim: Claim, change: IntentChange, now: number): Claim {
  const entries = Object.entries(change).filter(([, value]) => value !== undefined);
  const sets = [...entries.map(([name]) => `${columns[name as keyof IntentChange]} = ?`), 'updated_at = ?', 'lease_until = ?'];
  const values = entries.map(([, value]) => toColumn(value));
  const result = db
    .prepare(`UPDATE intents SET ${sets.join(', ')} WHERE id = ? AND fence = ?`)
    .run(...values, now, now + leaseMs, claim.intent.id, claim.fence);
  if (result.changes !== 1) throw new LostClaim('another process took the payment over');
  return { intent: written(db, claim.intent.id), fence: claim.fence };
}

function insert(db: Connection, draft: IntentDraft): Intent {
  const fields = { id: draft.id, scope: draft.scope, ref: draft.ref, ...draftFields(draft), opened_at: draft.openedAt };
  const names = [...Object.keys(fields), 'updated_at'];
  db.prepare(`INSERT INTO intents (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`).run(
    ...Object.values(fields),
    draft.openedAt,
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
