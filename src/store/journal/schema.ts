// The journal's tables, by numbered steps from one version to the next, and its rows as intents.
import * as v from 'valibot';
import { flag, rowOf } from '../database/rows.js';
import type { Intent, IntentChange } from './journal.js';
import { accountLimitsStep } from './account-limits.js';
import { settlementRatesStep } from './settlement-rates.js';

/** Tells a journal from any other SQLite file: the letters `svpj`. */
export const applicationId = 0x7376706a;

const commonColumns = `
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
    approved_receives TEXT,
    spend_ccy TEXT,
    approved_at INTEGER,
    closed INTEGER NOT NULL DEFAULT 0,
    opened_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,`;

const indexes = `
  CREATE INDEX intents_open ON intents (scope, opened_at) WHERE step <> 'final' AND closed = 0;
  CREATE INDEX intents_txn ON intents (scope, txn_id) WHERE txn_id IS NOT NULL;`;

const version1 = `
  CREATE TABLE intents (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,${commonColumns}
    UNIQUE (scope, ref)
  ) STRICT;${indexes}
  CREATE INDEX intents_once ON intents (scope, once_key) WHERE once_key IS NOT NULL;
  CREATE INDEX intents_spent ON intents (scope, approved_at) WHERE approved_at IS NOT NULL;`;

const newTable = `
  CREATE TABLE intents_2 (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    account TEXT NOT NULL,${commonColumns}
    receives_ccy TEXT,
    receives_total TEXT,
    last_change TEXT,
    UNIQUE (scope, ref)
  ) STRICT;`;

const kept = `id, scope, ref, kind, request, fingerprint, once_key, terms, consent, attempt, step, txn_id, txn_state, approved_total,
  approved_receives, spend_ccy, opened_at, updated_at, owner, lease_until, fence`;

/** What version 1 gave up in doubt stays open, and a new attempt forgets when the one before it was let go. */
const moveRows = `
  INSERT INTO intents_2 (${kept}, account, approved_at, closed, receives_ccy, receives_total)
  SELECT ${kept}, substr(scope, instr(scope, ' ') + 1), CASE WHEN step = 'intent' THEN NULL ELSE approved_at END,
    CASE WHEN step IN ('intent', 'created') THEN closed ELSE 0 END,
    json_extract(request, '$.receives.ccy'), json_extract(request, '$.receives.value') FROM intents;`;

const rest = `
  DROP TABLE intents;
  ALTER TABLE intents_2 RENAME TO intents;${indexes}
  CREATE INDEX intents_once ON intents (once_key) WHERE once_key IS NOT NULL;
  CREATE INDEX intents_spent ON intents (account, approved_at) WHERE approved_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS seen_transactions (
    scope TEXT NOT NULL,
    txn_id TEXT NOT NULL,
    ext_ref_id TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, txn_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS seen_references ON seen_transactions (scope, ext_ref_id) WHERE ext_ref_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS seen_created ON seen_transactions (scope, created_at);
  CREATE TABLE IF NOT EXISTS read_spans (
    scope TEXT PRIMARY KEY,
    read_from INTEGER NOT NULL,
    read_to INTEGER NOT NULL
  ) STRICT;`;

/** Version 3 keeps attempts that may have paid, where a person asked for another. */
const version3 = `
  ALTER TABLE intents ADD COLUMN doubts TEXT NOT NULL DEFAULT '[]';
  CREATE INDEX intents_doubts ON intents (account) WHERE doubts <> '[]';`;

export const journalSteps: readonly string[] = [version1, `${newTable}${moveRows}${rest}`, version3, settlementRatesStep];

/** The same for a database that never held rows of version 1. */
export const emptyJournalSteps: readonly string[] = [version1, `${newTable}${rest}`, version3, `${settlementRatesStep}${accountLimitsStep}`];

const termsSchema = v.object({
  maxFee: v.optional(
    v.union([v.object({ amount: v.string(), ccy: v.string() }), v.object({ percent: v.string() })]),
  ),
  maxRateLoss: v.optional(v.string()),
});

export const spendSchema = v.object({ ccy: v.string(), total: v.string() });

const doubts = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(
    v.object({
      attempt: v.number(),
      txnId: v.nullable(v.string()),
      txnState: v.nullable(v.string()),
      approvedTotal: v.nullable(v.string()),
      approvedReceives: v.nullable(v.string()),
      spendCcy: v.nullable(v.string()),
      approvedAt: v.nullable(v.number()),
    }),
  ),
);

export const rowSchema = v.pipe(
  rowOf({
    id: v.string(),
    scope: v.string(),
    account: v.string(),
    ref: v.string(),
    kind: v.string(),
    request: v.string(),
    fingerprint: v.string(),
    onceKey: v.nullable(v.string()),
    terms: v.pipe(v.string(), v.parseJson(), termsSchema),
    consent: v.picklist(['none', 'quote', 'standing']),
    attempt: v.number(),
    step: v.picklist(['intent', 'created', 'confirming', 'confirmed', 'final']),
    txnId: v.nullable(v.string()),
    txnState: v.nullable(v.string()),
    approvedTotal: v.nullable(v.string()),
    approvedReceives: v.nullable(v.string()),
    spendCcy: v.nullable(v.string()),
    approvedAt: v.nullable(v.number()),
    doubts,
    closed: flag,
    openedAt: v.number(),
    updatedAt: v.number(),
    owner: v.nullable(v.string()),
    leaseUntil: v.number(),
    fence: v.number(),
    lastChange: v.nullable(v.string()),
  }),
  v.transform(({ owner, leaseUntil, fence, lastChange, ...intent }) =>
    ({ intent: intent satisfies Intent, owner, leaseUntil, fence, lastChange })),
);

export type Row = v.InferOutput<typeof rowSchema>;

export type ColumnChange = IntentChange & Partial<Pick<Intent, 'doubts'>>;

/** What was let go and has not come back, as `wasLetGo` says it: lapsed after a confirmation is no proof of that. */
export const letGo = `(step IN ('confirming','confirmed')
  OR (step = 'final' AND txn_state NOT IN ('failed','rejected')))`;
