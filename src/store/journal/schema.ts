// The tables of the journal, for SQLite and for PostgreSQL, and the SQLite file of a journal. Each
// SQL script in this file upgrades the tables of the journal to the next version, and must not
// change after its release.
import type { TableGroup } from '../database/postgres-schema.js';
import { inPostgres } from '../database/sql.js';
import type { SqliteFile } from '../files/sqlite-file.js';

/** The mark of a journal file: the letters `svjn`. */
const applicationId = 0x73766a6e;

/** The tables of both databases, as SQLite reads them. */
const tables = [
  `CREATE TABLE payments (
  id TEXT PRIMARY KEY,
  scope TEXT NOT NULL,
  account TEXT NOT NULL,
  ref TEXT NOT NULL,
  ref_alike TEXT NOT NULL, -- without case and blanks, which people confuse
  kind TEXT NOT NULL,
  instruction TEXT NOT NULL, -- what was asked, as it was asked
  digest TEXT NOT NULL, -- of the instruction: whether two requests are the same payment
  idempotency_key TEXT,
  terms TEXT NOT NULL,
  batch_run TEXT,
  batch_row TEXT, -- who is paid what
  abandoned INTEGER NOT NULL DEFAULT 0,
  unfinished INTEGER NOT NULL DEFAULT 1, -- isUnfinished, for the index
  opened_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  owner TEXT,
  lease_until INTEGER NOT NULL DEFAULT 0,
  fence INTEGER NOT NULL DEFAULT 0,
  last_change TEXT,
  UNIQUE (scope, ref)
) STRICT;
CREATE INDEX payments_unfinished ON payments (scope, opened_at) WHERE unfinished = 1;
CREATE INDEX payments_key ON payments (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX payments_batch ON payments (scope, batch_run) WHERE batch_run IS NOT NULL;
CREATE INDEX payments_alike ON payments (scope, ref_alike);`,
  `CREATE TABLE attempts (
  payment_id TEXT NOT NULL REFERENCES payments (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  account TEXT NOT NULL,
  request TEXT NOT NULL, -- the order of the attempt
  state TEXT NOT NULL,
  outcome TEXT NOT NULL, -- outcomeOf: the state, or the recorded answer
  txn_id TEXT,
  txn_state TEXT,
  approved_total TEXT,
  approved_receives TEXT,
  spend_ccy TEXT,
  budget TEXT, -- the budget that the submission charged
  submitted_at INTEGER,
  limit_time INTEGER, -- by the limit clock, set with submitted_at
  resolution TEXT, -- a person's answer, as JSON
  PRIMARY KEY (payment_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_txn ON attempts (txn_id) WHERE txn_id IS NOT NULL;
CREATE INDEX attempts_submitted ON attempts (account, limit_time) WHERE limit_time IS NOT NULL;
CREATE INDEX attempts_charged ON attempts (account, limit_time) WHERE budget IS NOT NULL;`,
  // The story of each payment. Rows are never changed.
  `CREATE TABLE trail (
  payment_id TEXT NOT NULL REFERENCES payments (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL, -- from 1, without a gap
  attempt INTEGER,
  at INTEGER NOT NULL,
  step TEXT NOT NULL,
  actor TEXT, -- who, where and through which door, as JSON, or null: as in the step before
  detail TEXT NOT NULL,
  PRIMARY KEY (payment_id, seq)
) STRICT, WITHOUT ROWID;`,
  // What people noted about transactions of either direction. Rows are never changed.
  `CREATE TABLE notes (
  scope TEXT NOT NULL,
  txn_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (scope, txn_id, seq)
) STRICT, WITHOUT ROWID;`,
  // What an account spent in each minute of the limit clock: the sum of its whole + trillionths.
  `CREATE TABLE spending (
  account TEXT NOT NULL,
  budget TEXT NOT NULL, -- the budget whose part this is, or empty for all of the account
  period INTEGER NOT NULL, -- -1 for the whole time of a budget
  ccy TEXT NOT NULL,
  whole INTEGER NOT NULL,
  trillionths INTEGER NOT NULL,
  PRIMARY KEY (account, budget, period, ccy)
) STRICT, WITHOUT ROWID;`,
  // The changes of budgets. Rows are never changed: the latest row of a name is in force.
  `CREATE TABLE budgets (
  account TEXT NOT NULL,
  name TEXT NOT NULL, -- or * for all budgets
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  stopped INTEGER NOT NULL,
  rules TEXT, -- as JSON, or null: removed
  PRIMARY KEY (account, name, seq)
) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE settlement_rates (
  scope TEXT NOT NULL,
  txn_id TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  settled_at INTEGER, -- null while the payment is in flight
  fiat TEXT NOT NULL,
  rates TEXT NOT NULL,
  PRIMARY KEY (scope, txn_id)
) STRICT, WITHOUT ROWID;`,
  // Money that no transaction explains. Rows are never changed.
  `CREATE TABLE book_entries (
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  ccy TEXT NOT NULL,
  amount TEXT NOT NULL,
  dated TEXT NOT NULL, -- a calendar day
  note TEXT,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;`,
  // When the transactions of each wallet last added up to its balance.
  `CREATE TABLE book_ties (
  scope TEXT NOT NULL,
  ccy TEXT NOT NULL,
  tied_at INTEGER NOT NULL,
  balance TEXT NOT NULL,
  PRIMARY KEY (scope, ccy)
) STRICT, WITHOUT ROWID;`,
  // When each transaction settled, as far as a statement needed the time. Rows are never changed.
  `CREATE TABLE book_times (
  scope TEXT NOT NULL,
  txn_id TEXT NOT NULL,
  settled_at INTEGER NOT NULL,
  PRIMARY KEY (scope, txn_id)
) STRICT, WITHOUT ROWID;`,
  // Differences that a person has accepted. Rows are never changed.
  `CREATE TABLE book_accepted (
  scope TEXT NOT NULL,
  txn_id TEXT NOT NULL,
  facts TEXT NOT NULL, -- what differs, as JSON
  note TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  accepted_by TEXT NOT NULL,
  PRIMARY KEY (scope, txn_id, facts)
) STRICT, WITHOUT ROWID;`,
  // The sealed statements of closed months. Rows are never changed.
  `CREATE TABLE book_closes (
  scope TEXT NOT NULL,
  month TEXT NOT NULL,
  zone TEXT NOT NULL,
  sealed TEXT NOT NULL, -- the statement as CSV
  closed_at INTEGER NOT NULL,
  closed_by TEXT NOT NULL,
  PRIMARY KEY (scope, month)
) STRICT, WITHOUT ROWID;`,
  // Proposals that the owner paid or refused, or that a run of a budget made.
  `CREATE TABLE proposals (
  scope TEXT NOT NULL,
  id TEXT NOT NULL,
  digests TEXT NOT NULL, -- of the instructions, joined by spaces
  text TEXT NOT NULL, -- the file, byte for byte
  refused_at INTEGER,
  note TEXT,
  PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;`,
].join('\n');

/** Triggers of SQLite that keep the rows of a table as they are. */
const unchanged = (table: string, rows: string, kept = 'are never deleted', when = ''): string => `
  CREATE TRIGGER ${table}_update BEFORE UPDATE ON ${table}
  BEGIN SELECT RAISE(ABORT, '${rows} never change'); END;
  CREATE TRIGGER ${table}_delete BEFORE DELETE ON ${table} ${when}
  BEGIN SELECT RAISE(ABORT, '${rows} ${kept}'); END;`;

const withPayment = 'WHEN EXISTS (SELECT 1 FROM payments WHERE id = OLD.payment_id)';

/** The limit clock of each account, and the clocks of machine and service at its last reading. */
const limitClocks = `CREATE TABLE limit_clocks (
  account TEXT PRIMARY KEY,
  time INTEGER NOT NULL,
  machine INTEGER NOT NULL,
  service INTEGER
) STRICT, WITHOUT ROWID;`;

export const sqliteSteps: readonly string[] = [
  `${tables}
${limitClocks}
${unchanged('trail', 'steps of a trail', 'are deleted only with their payment', withPayment)}
${unchanged('notes', 'notes')}${unchanged('budgets', 'changes of budgets')}`,
];

/** The journal in a SQLite file. */
export const journalIn = (path: string, isKnown = false): SqliteFile => ({
  path,
  name: 'payment journal',
  applicationId,
  steps: sqliteSteps,
  advice: {
    hint: 'Restore the journal, or start a new journal without the earlier payments',
    next: { do: 'start-new-journal' },
  },
  // Few checkpoints, because each checkpoint blocks the process until the disk has written.
  checkpointPages: 8_000,
  isKnown,
});

/**
 * The limits of accounts in PostgreSQL apply to all homes that use the database, and the clock of
 * the daily limit is the clock of the database.
 */
const limits = `
  CREATE TABLE account_limits (
    account TEXT PRIMARY KEY,
    limits TEXT NOT NULL
  ) STRICT;`;

/** The search path of the function is fixed, so that a payment can be deleted on any connection. */
const postgresSteps: readonly string[] = [
  `${inPostgres(tables + limits)}
${['payments', 'attempts']
  .map(
    (table) => `ALTER TABLE ${table} SET (fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.01);`,
  )
  .join('\n')}
ALTER TABLE spending SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 10000);

CREATE FUNCTION never_changed() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'trail' THEN
    IF NOT EXISTS (SELECT 1 FROM payments WHERE id = OLD.payment_id) THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'rows of % never change', TG_TABLE_NAME;
END $$;
${['trail', 'notes', 'budgets']
  .map(
    (table) => `CREATE TRIGGER ${table}_unchanged BEFORE UPDATE OR DELETE ON ${table}
  FOR EACH ROW EXECUTE FUNCTION never_changed();`,
  )
  .join('\n')}`,
];

export const journalPart: TableGroup = { name: 'journal', table: 'payments', steps: postgresSteps };

/**
 * Makes a file refuse payments after its payments were moved into a database, including payments of
 * processes that still have the file open.
 */
export const closing = ['INSERT', 'UPDATE']
  .map(
    (change) => `CREATE TRIGGER IF NOT EXISTS moved_before_${change.toLowerCase()}
  BEFORE ${change} ON payments
  BEGIN SELECT RAISE(ABORT, 'its payments were moved into a database'); END;`,
  )
  .join('\n');
