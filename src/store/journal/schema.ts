// The journal's tables, by numbered steps from one version to the next.
import { accountLimitsStep } from './account-limits.js';
import { settlementRatesStep } from './settlement-rates.js';

/** Identifies a journal file: the letters `svpj`. */
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

/** Payments that version 1 abandoned after a confirmation stay open; a new attempt has not been submitted. */
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

/** Version 3 keeps earlier attempts that may have paid, as `doubts`. */
const version3 = `
  ALTER TABLE intents ADD COLUMN doubts TEXT NOT NULL DEFAULT '[]';
  CREATE INDEX intents_doubts ON intents (account) WHERE doubts <> '[]';`;

const tables = `
  CREATE TABLE payments (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    account TEXT NOT NULL,
    ref TEXT NOT NULL,
    kind TEXT NOT NULL,
    request TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    idempotency_key TEXT,
    terms TEXT NOT NULL,
    consent TEXT NOT NULL,
    receives_ccy TEXT,
    receives_total TEXT,
    abandoned INTEGER NOT NULL DEFAULT 0,
    unfinished INTEGER NOT NULL DEFAULT 1,
    opened_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    owner TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    last_change TEXT,
    UNIQUE (scope, ref)
  ) STRICT;
  CREATE TABLE attempts (
    payment_id TEXT NOT NULL REFERENCES payments (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    account TEXT NOT NULL,
    state TEXT NOT NULL,
    txn_id TEXT,
    txn_state TEXT,
    approved_total TEXT,
    approved_receives TEXT,
    spend_ccy TEXT,
    submitted_at INTEGER,
    PRIMARY KEY (payment_id, number)
  ) STRICT, WITHOUT ROWID;`;

/** The state of the current attempt of a row of version 3. */
const stateOf = `CASE step
    WHEN 'intent' THEN 'requested'
    WHEN 'created' THEN 'quoted'
    WHEN 'confirming' THEN CASE WHEN approved_total IS NULL OR spend_ccy IS NULL OR approved_at IS NULL THEN 'unknown' ELSE 'submitting' END
    WHEN 'confirmed' THEN CASE WHEN txn_state IN ('expired','usercanceled','canceled') THEN 'unknown' ELSE 'in-flight' END
    ELSE CASE
      WHEN txn_state = 'completed' THEN 'paid'
      WHEN txn_state IN ('failed','rejected') THEN 'failed'
      WHEN txn_state = 'error' THEN 'error'
      WHEN txn_state IN ('expired','usercanceled','canceled') AND approved_at IS NULL THEN 'lapsed'
      ELSE 'unknown' END
    END`;

/**
 * References belong to the account, no longer to a host name as well; the embedded sandbox is separate. If payments then
 * share a reference, the first that may have moved money gets it, and the others keep their host name.
 */
const splitRows = `
  INSERT INTO payments (id, scope, account, ref, kind, request, fingerprint, idempotency_key, terms, consent, receives_ccy, receives_total,
    abandoned, unfinished, opened_at, updated_at, owner, lease_until, fence, last_change)
  SELECT id, CASE place WHEN 1 THEN new_scope ELSE scope END, account, ref, kind, request, fingerprint, once_key, terms, consent, receives_ccy,
    receives_total, closed,
    CASE WHEN state = 'paid' THEN 0 WHEN has_moved = 1 AND state <> 'error' OR doubts <> '[]' THEN 1
      WHEN state IN ('requested','quoted') AND closed = 0 THEN 1 ELSE 0 END,
    opened_at, updated_at, owner, lease_until, fence, last_change
  FROM (
    SELECT moved.*, row_number() OVER (PARTITION BY new_scope, ref ORDER BY has_moved DESC, opened_at, id) AS place
    FROM (
      SELECT known.*, CASE WHEN state IN ('submitting','in-flight','paid','error','unknown') OR doubts <> '[]' THEN 1 ELSE 0 END AS has_moved
      FROM (
        SELECT intents.*, ${stateOf} AS state, CASE WHEN scope LIKE 'http://sandbox.localhost %' THEN scope ELSE account END AS new_scope
        FROM intents
      ) AS known
    ) AS moved
  ) AS ranked;
  INSERT INTO attempts (payment_id, number, account, state, txn_id, txn_state, approved_total, approved_receives, spend_ccy, submitted_at)
  SELECT id, attempt, account, state, txn_id, txn_state, approved_total, approved_receives, spend_ccy,
    CASE WHEN state IN ('requested','quoted','lapsed') THEN NULL ELSE approved_at END
  FROM (SELECT intents.*, ${stateOf} AS state FROM intents) AS known;`;

/** Earlier attempts that may have paid; one with the number of the current attempt completes it. */
const addDoubts = `
  INSERT INTO attempts (payment_id, number, account, state, txn_id, txn_state, approved_total, approved_receives, spend_ccy, submitted_at)
  SELECT intents.id, CAST(doubt.value ->> 'attempt' AS INTEGER), account, 'unknown', max(doubt.value ->> 'txnId'), max(doubt.value ->> 'txnState'),
    max(doubt.value ->> 'approvedTotal'), max(doubt.value ->> 'approvedReceives'), max(doubt.value ->> 'spendCcy'),
    max(CAST(doubt.value ->> 'approvedAt' AS INTEGER))
  FROM intents, json_each(doubts) AS doubt WHERE doubts <> '[]' GROUP BY intents.id, account, CAST(doubt.value ->> 'attempt' AS INTEGER)
  ON CONFLICT (payment_id, number) DO UPDATE SET
    state = CASE WHEN attempts.state IN ('requested','quoted','lapsed') THEN 'unknown' ELSE attempts.state END,
    txn_id = COALESCE(attempts.txn_id, excluded.txn_id), txn_state = COALESCE(attempts.txn_state, excluded.txn_state),
    approved_total = COALESCE(attempts.approved_total, excluded.approved_total),
    approved_receives = COALESCE(attempts.approved_receives, excluded.approved_receives),
    spend_ccy = COALESCE(attempts.spend_ccy, excluded.spend_ccy), submitted_at = COALESCE(attempts.submitted_at, excluded.submitted_at);`;

/** `unfinished` is set for every payment for which `isUnfinished` holds, as an index. */
const version4 = `${tables}${splitRows}${addDoubts}
  DROP TABLE intents;
  DROP TABLE seen_transactions;
  DROP TABLE read_spans;
  CREATE INDEX payments_unfinished ON payments (scope, opened_at) WHERE unfinished = 1;
  CREATE INDEX payments_key ON payments (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX attempts_txn ON attempts (txn_id) WHERE txn_id IS NOT NULL;
  CREATE INDEX attempts_submitted ON attempts (account, submitted_at) WHERE submitted_at IS NOT NULL;`;

/** Closes a file whose payments were moved into a database, for processes that still have it open. */
export const closing = ['INSERT', 'UPDATE']
  .map(
    (change) => `CREATE TRIGGER IF NOT EXISTS moved_before_${change} BEFORE ${change} ON payments
  BEGIN SELECT RAISE(ABORT, 'its payments were moved into a database'); END;`,
  )
  .join('\n');

const version4InFile = (names: readonly string[]): string =>
  version4 + (names.includes('moved_before_INSERT') ? closing : '');

export const journalSteps: readonly (string | ((names: readonly string[]) => string))[] = [
  version1,
  `${newTable}${moveRows}${rest}`,
  version3,
  version4InFile,
  settlementRatesStep,
];

/** The steps for a database, which never had rows of version 1. */
export const sharedJournalSteps: readonly string[] = [
  version1,
  `${newTable}${rest}`,
  version3,
  version4,
  `${settlementRatesStep}${accountLimitsStep}`,
];
