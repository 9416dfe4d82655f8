// The journal in SQLite: durable before it answers, safe with many processes at once.
import Database from 'libsql';
import { existsSync, chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { Failure } from '../formats/failure.js';
import { openFolder } from './home.js';
import { leaseMs, LostClaim, type Claim, type Intent, type IntentChange, type Journal } from './journal.js';

const schemaVersion = 1;

const schema = `
  CREATE TABLE intents (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    ref TEXT NOT NULL,
    kind TEXT NOT NULL,
    request TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    once_key TEXT,
    terms TEXT NOT NULL,
    consent TEXT NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 1,
    step TEXT NOT NULL DEFAULT 'intent',
    txn_id TEXT,
    txn_state TEXT,
    approved_total TEXT,
    spend_ccy TEXT,
    approved_at INTEGER,
    closed INTEGER NOT NULL DEFAULT 0,
    opened_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, ref)
  ) STRICT;
  CREATE INDEX intents_open ON intents (scope, opened_at) WHERE step <> 'final' AND closed = 0;
  CREATE INDEX intents_once ON intents (scope, once_key) WHERE once_key IS NOT NULL;
  CREATE INDEX intents_txn ON intents (scope, txn_id) WHERE txn_id IS NOT NULL;
  CREATE INDEX intents_spent ON intents (scope, approved_at) WHERE approved_at IS NOT NULL;
  PRAGMA user_version = ${schemaVersion};
`;

const termsSchema = v.object({
  maxFee: v.optional(
    v.union([v.object({ amount: v.string(), ccy: v.string() }), v.object({ percent: v.string() })]),
  ),
});

const rowSchema = v.pipe(
  v.object({
    id: v.string(),
    scope: v.string(),
    ref: v.string(),
    kind: v.string(),
    request: v.string(),
    fingerprint: v.string(),
    once_key: v.nullable(v.string()),
    terms: v.pipe(v.string(), v.parseJson(), termsSchema),
    consent: v.picklist(['none', 'quote', 'standing']),
    attempt: v.number(),
    step: v.picklist(['intent', 'created', 'confirming', 'confirmed', 'final']),
    txn_id: v.nullable(v.string()),
    txn_state: v.nullable(v.string()),
    approved_total: v.nullable(v.string()),
    spend_ccy: v.nullable(v.string()),
    approved_at: v.nullable(v.number()),
    closed: v.number(),
    opened_at: v.number(),
    updated_at: v.number(),
    owner: v.nullable(v.string()),
    lease_until: v.number(),
    fence: v.number(),
  }),
  v.transform((row) => ({
    intent: {
      id: row.id,
      scope: row.scope,
      ref: row.ref,
      kind: row.kind,
      request: row.request,
      fingerprint: row.fingerprint,
      onceKey: row.once_key,
      terms: row.terms,
      consent: row.consent,
      attempt: row.attempt,
      step: row.step,
      txnId: row.txn_id,
      txnState: row.txn_state,
      approvedTotal: row.approved_total,
      spendCcy: row.spend_ccy,
      approvedAt: row.approved_at,
      closed: row.closed === 1,
      openedAt: row.opened_at,
      updatedAt: row.updated_at,
    } satisfies Intent,
    owner: row.owner,
    leaseUntil: row.lease_until,
    fence: row.fence,
  })),
);

type Row = v.InferOutput<typeof rowSchema>;

const spendSchema = v.object({ ccy: v.string(), total: v.string() });

const columns: Readonly<Record<keyof IntentChange, string>> = {
  attempt: 'attempt',
  step: 'step',
  txnId: 'txn_id',
  txnState: 'txn_state',
  consent: 'consent',
  approvedTotal: 'approved_total',
  spendCcy: 'spend_ccy',
  approvedAt: 'approved_at',
  closed: 'closed',
  terms: 'terms',
};

/** What may stand in the way of a second payment of the same invoice: anything that paid or still may. */
const notOverUnpaid = `NOT (closed = 1 AND step <> 'confirming')
  AND (txn_state IS NULL OR txn_state NOT IN ('failed','rejected','expired','usercanceled'))`;

/** What counts against a limit: all that was let go and has not come back. */
const wasSpent = `spend_ccy IS NOT NULL AND step IN ('confirming','confirmed','final')
  AND (txn_state IS NULL OR txn_state NOT IN ('failed','rejected','expired','usercanceled'))`;

/**
 * @param isAlive whether the process that a claim's owner names still runs.
 * @throws Failure when the file is damaged, from a newer version, or cannot be written: nothing is sent then.
 */
export function openJournal(path: string, isAlive: (owner: string) => boolean): Journal {
  const db = openDatabase(path);
  const one = (sql: string, ...values: unknown[]): Row | undefined => {
    const row: unknown = db.prepare(sql).get(...values);
    return row === undefined ? undefined : v.parse(rowSchema, row);
  };
  const byId = (id: string): Row | undefined => one('SELECT * FROM intents WHERE id = ?', id);

  const update = (claim: Claim, change: IntentChange, now: number): Claim => {
    const entries = Object.entries(change).filter(([, value]) => value !== undefined);
    const sets = entries.map(([name]) => `${columns[name as keyof IntentChange]} = ?`);
    const values = entries.map(([, value]) => toColumn(value));
    const result = db
      .prepare(
        `UPDATE intents SET ${[...sets, 'updated_at = ?', 'lease_until = ?'].join(', ')} WHERE id = ? AND fence = ?`,
      )
      .run(...values, now, now + leaseMs, claim.intent.id, claim.fence);
    if (result.changes !== 1) throw new LostClaim('another process took the payment over');
    return { intent: byId(claim.intent.id)?.intent ?? claim.intent, fence: claim.fence };
  };

  return {
    begin: (draft) =>
      atomically(db, () => {
        const sameRef = one('SELECT * FROM intents WHERE scope = ? AND ref = ?', draft.scope, draft.ref);
        if (sameRef !== undefined) return { intent: sameRef.intent, found: 'ref' as const };
        const once = one(
          `SELECT * FROM intents WHERE scope = ? AND once_key = ? AND ${notOverUnpaid} LIMIT 1`,
          draft.scope,
          draft.onceKey,
        );
        if (once !== undefined) return { intent: once.intent, found: 'once' as const };
        db.prepare(
          `INSERT INTO intents (id, scope, ref, kind, request, fingerprint, once_key, terms, consent, opened_at, updated_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ).run(
          draft.id,
          draft.scope,
          draft.ref,
          draft.kind,
          draft.request,
          draft.fingerprint,
          draft.onceKey,
          JSON.stringify(draft.terms),
          draft.consent,
          draft.openedAt,
          draft.openedAt,
        );
        return { intent: found(byId(draft.id)).intent, found: 'new' as const };
      }),
    claim: (id, owner, now) =>
      atomically(db, () => {
        const row = byId(id);
        if (row === undefined) return undefined;
        const taken = row.owner !== null && row.owner !== owner && row.leaseUntil > now && row.leaseUntil <= now + leaseMs;
        if (taken && isAlive(row.owner ?? '')) return undefined;
        db.prepare('UPDATE intents SET owner = ?, lease_until = ?, fence = fence + 1 WHERE id = ?').run(
          owner,
          now + leaseMs,
          id,
        );
        return { intent: row.intent, fence: row.fence + 1 };
      }),
    write: (claim, change, now) => atomically(db, () => update(claim, change, now)),
    spend: (claim, change, { since, now }, allow) =>
      atomically(db, () => {
        const spent = db
          .prepare(
            `SELECT spend_ccy AS ccy, approved_total AS total FROM intents
             WHERE scope = ? AND approved_at >= ? AND id <> ? AND ${wasSpent}`,
          )
          .all(claim.intent.scope, since, claim.intent.id);
        allow(v.parse(v.array(spendSchema), spent));
        return update(claim, change, now);
      }),
    release: (claim) =>
      atomically(db, () => {
        db.prepare('UPDATE intents SET owner = NULL, lease_until = 0 WHERE id = ? AND fence = ?').run(
          claim.intent.id,
          claim.fence,
        );
      }),
    read: (id) => guarded(() => byId(id)?.intent),
    find: (scope, name) =>
      guarded(
        () =>
          one('SELECT * FROM intents WHERE scope = ? AND (id = ? OR txn_id = ? OR ref = ?) LIMIT 1', scope, name, name, name)
            ?.intent,
      ),
    open: (scope) =>
      guarded(() =>
        v
          .parse(
            v.array(rowSchema),
            db
              .prepare(`SELECT * FROM intents WHERE scope = ? AND step <> 'final' AND closed = 0 ORDER BY opened_at`)
              .all(scope),
          )
          .map((row) => row.intent),
      ),
    close: () => guarded(() => void db.close()),
  };
}

function toColumn(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

function found<T>(row: T | undefined): T {
  if (row === undefined) throw new Failure('unexpected', 'The journal lost a row that it had just written.');
  return row;
}

function openDatabase(path: string): Database.Database {
  openFolder(dirname(path));
  const existed = existsSync(path);
  try {
    const db = new Database(path, { timeout: 10_000 });
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('busy_timeout = 10000');
    prepareSchema(db, path);
    if (!existed) chmodSync(path, 0o600);
    return db;
  } catch (cause) {
    throw journalFailure(path, cause);
  }
}

function prepareSchema(db: Database.Database, path: string): void {
  const version = v.parse(v.object({ user_version: v.number() }), db.prepare('PRAGMA user_version').get()).user_version;
  if (version > schemaVersion) {
    throw new Failure('usage', `Nothing was sent: the journal ${path} was written by a newer svcpay.`, {
      hint: 'Use that version, or set SVCPAY_HOME to another folder.',
    });
  }
  if (version === schemaVersion) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    const again = v.parse(v.object({ user_version: v.number() }), db.prepare('PRAGMA user_version').get()).user_version;
    if (again === 0) db.exec(schema);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

function atomically<T>(db: Database.Database, action: () => T): Promise<T> {
  return guarded(() => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = action();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  });
}

/** Runs a synchronous action as a promise; what SQLite throws becomes a Failure that says nothing was written. */
function guarded<T>(action: () => T): Promise<T> {
  try {
    return Promise.resolve(action());
  } catch (error) {
    return Promise.reject(
      error instanceof Failure || error instanceof LostClaim ? error : journalFailure('', error),
    );
  }
}

function journalFailure(path: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Failure('usage', `The payment journal ${path} cannot be used: ${reason}.`.replace('  ', ' '), {
    hint: 'svcpay doctor',
    cause,
  });
}
