// The tables of the inbox, for SQLite and for PostgreSQL, and the conversion of their rows to
// events. Each SQL script in this file upgrades the tables of the inbox to the next version, and
// must not change after its release.
import * as v from 'valibot';
import { flag, inPostgres, rowOf } from '../database/sql.js';

/** The mark of an inbox file: the letters `svce`. */
export const applicationId = 0x73766365;

/** The tables of both databases, as SQLite reads them. */
const tables = `CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    signature TEXT NOT NULL,
    txn_id TEXT,
    txn_state TEXT,
    updated_at INTEGER,
    duplicate_of INTEGER,
    out_of_order INTEGER NOT NULL,
    missing TEXT NOT NULL,
    batch TEXT
  ) STRICT;
  CREATE INDEX events_txn ON events (txn_id, updated_at) WHERE txn_id IS NOT NULL;

  -- Undelivered events; txn_id is empty for an event that names no transaction.
  CREATE TABLE backlog (
    consumer TEXT NOT NULL,
    event_id INTEGER NOT NULL REFERENCES events (id),
    txn_id TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    PRIMARY KEY (consumer, event_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX backlog_event ON backlog (event_id);

  -- When a receiver last served each consumer.
  CREATE TABLE consumers (
    consumer TEXT PRIMARY KEY,
    served_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`;

/**
 * In a SQLite file, one worker leases all waiting events of a consumer, because all workers run on
 * one machine.
 */
export const sqliteSteps: readonly string[] = [
  `${tables}

  CREATE TABLE workers (
    consumer TEXT PRIMARY KEY,
    worker TEXT NOT NULL,
    lease_until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`,
];

/**
 * In PostgreSQL, each consumer has one lease per transaction with waiting events. A lease covers
 * the events of its transaction up to the last event that the worker took.
 */
const leases = `
  CREATE INDEX events_received ON events (received_at);
  CREATE INDEX backlog_transaction ON backlog (consumer, txn_id, event_id);

  CREATE TABLE leases (
    consumer TEXT NOT NULL,
    txn_id TEXT NOT NULL,
    first_event INTEGER NOT NULL,
    worker TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    taken_to INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (consumer, txn_id)
  ) STRICT;
  CREATE INDEX leases_waiting ON leases (consumer, first_event);`;

/**
 * Because rows of the backlog and of leases are short-lived, vacuum starts after a fixed number of
 * dead rows. Half of each page of leases stays free, so that an updated lease stays in its page.
 */
export const postgresSteps: readonly string[] = [
  `${inPostgres(tables + leases)}
  ALTER TABLE backlog SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
  ALTER TABLE leases SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 10000);`,
];

/**
 * The schema of bytes from libsql, which returns buffers or plain memory, depending on how rows are
 * read.
 */
const bytes = v.pipe(
  v.union([v.instance(Uint8Array), v.instance(ArrayBuffer)]),
  v.transform((blob) =>
    blob instanceof ArrayBuffer
      ? new Uint8Array(blob)
      : new Uint8Array(blob.buffer, blob.byteOffset, blob.length),
  ),
);
const stateList = v.pipe(
  v.string(),
  v.transform((text) => (text === '' ? [] : text.split(','))),
);

export const eventsSchema = v.array(
  rowOf({
    id: v.number(),
    receivedAt: v.number(),
    body: bytes,
    signature: v.string(),
    txnId: v.nullable(v.string()),
    txnState: v.nullable(v.string()),
    updatedAt: v.nullable(v.number()),
    duplicateOf: v.nullable(v.number()),
    outOfOrder: flag,
    missing: stateList,
  }),
);

export const waitingSchema = v.array(rowOf({ eventId: v.number(), txnId: v.string() }));
