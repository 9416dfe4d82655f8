// The tables of the sandbox. The tables store amounts as whole numbers of the currency's smallest
// unit (satoshi, cent, dong).
import type { Database } from 'libsql';

export interface DatabaseFile {
  readonly path: string;
  /** The name of the file in error messages. */
  readonly name: string;
  /** The application id, which distinguishes the file from other SQLite files. */
  readonly applicationId: number;
  /**
   * The SQL scripts that upgrade the tables of the sandbox, one script per version. The first SQL
   * script creates version 1 of the tables.
   */
  readonly steps: readonly string[];
  readonly advice: { readonly hint: string; readonly next: undefined };
}

/**
 * Opens the file and upgrades its tables to the latest version. Throws a Failure if the upgrade is
 * impossible.
 */
export type OpenFile = (file: DatabaseFile) => Database;

/** The application id of a sandbox file: the letters `svcs`. */
const applicationId = 0x73766373;

/**
 * The SQL scripts that upgrade the tables of the sandbox, one script per version. The SQL script of
 * a released version never changes.
 */
export const sandboxSteps: readonly string[] = [
  `CREATE TABLE setting (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE account (
  id TEXT PRIMARY KEY,
  parent_id TEXT REFERENCES account (id),
  display_name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_key (
  key TEXT PRIMARY KEY,
  secret TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES account (id)
) STRICT;

CREATE TABLE used_signature (
  signature TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE wallet (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  ccy TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (account_id, ccy)
) STRICT;

-- Double entry: a book per owner, role and currency. Only the world outside and the currency desk
-- may owe.
CREATE TABLE book (
  id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('available', 'reserved', 'fees', 'desk', 'outside')),
  ccy TEXT NOT NULL,
  balance INTEGER NOT NULL CHECK (balance >= 0 OR role IN ('desk', 'outside')),
  changed_at INTEGER NOT NULL,
  UNIQUE (owner, role, ccy)
) STRICT;

-- One movement of money; a subject makes each step once.
CREATE TABLE posting (
  id INTEGER PRIMARY KEY,
  subject TEXT NOT NULL,
  step TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (subject, step)
) STRICT;

CREATE TABLE entry (
  posting_id INTEGER NOT NULL REFERENCES posting (id),
  book_id INTEGER NOT NULL REFERENCES book (id),
  amount INTEGER NOT NULL,
  PRIMARY KEY (posting_id, book_id)
) STRICT, WITHOUT ROWID;

-- number: in the order of creation.
CREATE TABLE txn (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES account (id),
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  ext_ref_id TEXT,
  note TEXT,
  source_ccy TEXT NOT NULL,
  source_method TEXT NOT NULL,
  source_amount INTEGER NOT NULL,
  source_details TEXT NOT NULL,
  dest_ccy TEXT NOT NULL,
  dest_method TEXT NOT NULL,
  dest_amount INTEGER NOT NULL,
  dest_details TEXT NOT NULL,
  extra TEXT NOT NULL,
  charge INTEGER NOT NULL,
  arrives INTEGER NOT NULL,
  service_fee INTEGER NOT NULL,
  network_fee INTEGER NOT NULL,
  fx_rate TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
-- Everything that a list is filtered and ordered by: pages are counted and skipped in the index
-- alone.
CREATE INDEX txn_listed ON txn (account_id, created_at, number, state, source_method, dest_method);
CREATE INDEX txn_by_reference ON txn (account_id, ext_ref_id) WHERE ext_ref_id IS NOT NULL;

-- With the transaction's values at that time.
CREATE TABLE state_change (
  id INTEGER PRIMARY KEY,
  txn_id TEXT NOT NULL REFERENCES txn (id),
  state TEXT NOT NULL,
  msg TEXT NOT NULL,
  at INTEGER NOT NULL,
  source_details TEXT NOT NULL,
  charge INTEGER NOT NULL,
  arrives INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX state_change_by_txn ON state_change (txn_id, id);

-- While a process posts what is ready for a webhook it holds a numbered claim, until a moment of
-- the machine's clock.
CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL UNIQUE REFERENCES account (id),
  callback TEXT NOT NULL,
  secret TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  claim INTEGER NOT NULL DEFAULT 0,
  claimed_until INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One event for one webhook, kept as the raw text that is signed and posted.
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY,
  webhook_id TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES account (id),
  txn_id TEXT NOT NULL,
  txn_state TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('scheduled', 'sending', 'delivered', 'failed',
    'canceled')),
  tries INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX delivery_sending ON delivery (webhook_id, due_at, id) WHERE status = 'sending';

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  delivery_id INTEGER NOT NULL REFERENCES delivery (id),
  at INTEGER NOT NULL,
  callback TEXT NOT NULL,
  signature TEXT NOT NULL,
  status INTEGER,
  error TEXT,
  duration INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_by_delivery ON attempt (delivery_id, id);

-- Snapshots; each has a copy of every table, named by its number.
CREATE TABLE snapshot (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  saved_at INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  frozen INTEGER NOT NULL,
  transactions INTEGER NOT NULL
) STRICT;

-- Injected faults; spent once applied as often as requested.
CREATE TABLE fault (
  id INTEGER PRIMARY KEY,
  rule TEXT NOT NULL,
  seen INTEGER NOT NULL DEFAULT 0,
  applied INTEGER NOT NULL DEFAULT 0,
  spent INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX fault_waiting ON fault (id) WHERE spent = 0;

-- Scheduled actions, run in the order of (at, id).
CREATE TABLE due (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL
) STRICT;
CREATE INDEX due_by_time ON due (at, id);
CREATE INDEX due_by_subject ON due (subject);

-- Every Lightning invoice known here: own ones (txn_id is the receive), those from outside, and
-- foreign ones once paid.
CREATE TABLE invoice (
  payment_hash TEXT PRIMARY KEY,
  origin TEXT NOT NULL CHECK (origin IN ('own', 'outside', 'foreign')),
  invoice TEXT NOT NULL,
  preimage TEXT,
  txn_id TEXT REFERENCES txn (id),
  amount_msat TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  paid_at INTEGER
) STRICT;

-- Addresses of the service: an account's permanent ones (no txn_id), and one for each on-chain
-- receive.
CREATE TABLE address (
  address TEXT PRIMARY KEY,
  chain TEXT NOT NULL CHECK (chain IN ('bitcoin', 'tron', 'ethereum')),
  account_id TEXT NOT NULL REFERENCES account (id),
  txn_id TEXT REFERENCES txn (id)
) STRICT;
CREATE INDEX address_by_account ON address (account_id, chain) WHERE txn_id IS NULL;

-- Money that came in without a transaction.
CREATE TABLE deposit (
  id TEXT PRIMARY KEY,
  address TEXT NOT NULL REFERENCES address (address),
  amount INTEGER NOT NULL
) STRICT;

-- What was broadcast on a blockchain, by the id of its transaction or deposit.
CREATE TABLE transfer (
  id TEXT PRIMARY KEY,
  chain TEXT NOT NULL CHECK (chain IN ('bitcoin', 'tron', 'ethereum')),
  confirmations INTEGER NOT NULL DEFAULT 0 CHECK (confirmations <= needed),
  needed INTEGER NOT NULL
) STRICT;
CREATE INDEX transfer_pending ON transfer (id) WHERE confirmations < needed;

CREATE TABLE request_log (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  status INTEGER NOT NULL,
  request_body TEXT NOT NULL,
  response_body TEXT NOT NULL,
  fault TEXT
) STRICT;`,
];

export const sandboxFileIn = (path: string): DatabaseFile => ({
  path,
  name: 'sandbox file',
  applicationId,
  steps: sandboxSteps,
  advice: {
    hint: 'Move the file to a different folder. The sandbox then starts empty.',
    next: undefined,
  },
});
