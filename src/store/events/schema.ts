// The tables of the inbox as numbered upgrade steps, and its rows as events.
import * as v from 'valibot';
import { flag, rowOf } from '../database/rows.js';

/** Marks a SQLite file as an inbox: the letters `svpe`. */
export const applicationId = 0x73767065;

const version1 = `
  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    received_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    signature TEXT NOT NULL,
    txn_id TEXT,
    txn_state TEXT,
    updated_at INTEGER,
    duplicate_of INTEGER,
    out_of_order INTEGER NOT NULL,
    missing TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_txn ON events (txn_id, updated_at) WHERE txn_id IS NOT NULL;
  CREATE TABLE backlog (
    consumer TEXT NOT NULL,
    event_id INTEGER NOT NULL REFERENCES events (id),
    lane TEXT NOT NULL,
    PRIMARY KEY (consumer, event_id)
  ) STRICT, WITHOUT ROWID;`;

/** In a file one worker holds the whole backlog of a consumer, because all workers run on one machine. */
const workers = `
  ALTER TABLE events ADD COLUMN batch TEXT;
  CREATE TABLE workers (
    consumer TEXT PRIMARY KEY,
    worker TEXT NOT NULL,
    lease_until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`;

/** One row per consumer and transaction that has waiting events. `taken_to` is the last event its worker was given. */
const lanes = `
  ALTER TABLE events ADD COLUMN batch TEXT;
  CREATE TABLE lanes (
    consumer TEXT NOT NULL,
    lane TEXT NOT NULL,
    first_event INTEGER NOT NULL,
    worker TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    taken_to INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (consumer, lane)
  ) STRICT;
  CREATE INDEX lanes_waiting ON lanes (consumer, first_event);
  CREATE INDEX backlog_lane ON backlog (consumer, lane, event_id);
  CREATE INDEX events_received ON events (received_at);`;

/** For the deletion of events. An event without a transaction has an empty `txn_id` in the backlog. */
const indexed = `
  ALTER TABLE backlog RENAME COLUMN lane TO txn_id;
  CREATE INDEX backlog_event ON backlog (event_id);`;

/** Rows of both tables are short-lived, so vacuum follows the number of dead rows, and leases are updated in their page. */
const leases = `${indexed}
  ALTER TABLE lanes RENAME TO leases;
  ALTER TABLE leases RENAME COLUMN lane TO txn_id;
  ALTER TABLE leases SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
  ALTER TABLE backlog SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);`;

export const eventSteps: readonly string[] = [version1, workers, indexed];
export const sharedEventSteps: readonly string[] = [version1, lanes, leases];

/** libsql returns buffers or their bare memory, depending on how rows are read. */
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
