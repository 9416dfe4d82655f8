// The log of webhook events in SQLite, and beside it the backlog: which event still has to reach which consumer.
import { fdatasync, openSync, closeSync } from 'node:fs';
import { promisify } from 'node:util';
import type Database from 'libsql';
import * as v from 'valibot';
import { closeSqlite, inTransaction, openSqlite } from '../files/sqlite.js';

/** What came over the wire, and what its payload says (specification: Events). */
export interface ReceivedEvent {
  /** Epoch ms by this machine's clock. */
  readonly receivedAt: number;
  /** The raw body, to the byte. */
  readonly body: Uint8Array;
  /** As it stood in the header. */
  readonly signature: string;
  /** Null when the body is not the payload of the specification. */
  readonly txnId: string | null;
  readonly txnState: string | null;
  readonly updatedAt: number | null;
}

/** Where an event stands among the others of its transaction. */
export interface EventPlace {
  /** Id of the first event that said the same. */
  readonly duplicateOf: number | null;
  /** A later state had been reported before. */
  readonly outOfOrder: boolean;
  /** States that must have been passed through and of which no event came. */
  readonly missing: readonly string[];
}

export interface StoredEvent extends ReceivedEvent, EventPlace {
  /** Ascending in the order of arrival. */
  readonly id: number;
}

/** An earlier event of the same transaction. */
export interface EarlierEvent {
  readonly id: number;
  readonly txnState: string;
  readonly updatedAt: number;
}

export type Placing = (event: ReceivedEvent, earlier: readonly EarlierEvent[]) => EventPlace;

/** An event that waits for a consumer; those of one lane must arrive in this order. */
export interface WaitingEvent {
  readonly eventId: number;
  readonly lane: string;
}

export interface EventStore {
  /**
   * Writes all of them, and into the backlog of each consumer, in one transaction: on disk when this resolves. Several
   * may be under way; they resolve in the order in which they were called.
   */
  append(events: readonly ReceivedEvent[], consumers: readonly string[], placing: Placing): Promise<StoredEvent[]>;
  /** Events after this id, oldest first. */
  after(id: number, limit: number): readonly StoredEvent[];
  read(id: number): StoredEvent | undefined;
  ofTransaction(txnId: string): readonly StoredEvent[];
  /** Events received at this time (epoch ms) or later, oldest first. */
  since(receivedAt: number): Iterable<StoredEvent>;
  /** The newest id; 0 when there is none. */
  lastId(): number;
  /** Transactions whose latest event, at this time (epoch ms) or later, was none of these states; newest first. */
  unfinished(receivedAt: number, finalStates: readonly string[], limit: number): readonly EarlierTransaction[];
  /** What waits for a consumer, after this id, in the order of arrival. */
  waiting(consumer: string, afterId: number, limit: number): readonly WaitingEvent[];
  /** How many events wait for each consumer that has a backlog. */
  backlog(): readonly Backlog[];
  /** Takes events off the backlog of a consumer; a loss of power may bring the last of them back. */
  settle(consumer: string, eventIds: readonly number[]): void;
  /** Drops events that were received before this time and wait for nobody. */
  prune(receivedBefore: number): void;
  close(): void;
}

export interface EarlierTransaction {
  readonly txnId: string;
  readonly txnState: string;
}

export interface Backlog {
  readonly consumer: string;
  readonly count: number;
}

const schema = `
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
  ) STRICT, WITHOUT ROWID;
`;

/** One of libsql's two ways to read hands out buffers, the other their bare memory. */
const bytes = v.pipe(
  v.union([v.instance(Uint8Array), v.instance(ArrayBuffer)]),
  v.transform((blob) => (blob instanceof Uint8Array ? blob : new Uint8Array(blob))),
);
const stateList = v.pipe(v.string(), v.transform((text) => (text === '' ? [] : text.split(','))));

const eventSchema = v.pipe(
  v.object({
    id: v.number(),
    received_at: v.number(),
    body: bytes,
    signature: v.string(),
    txn_id: v.nullable(v.string()),
    txn_state: v.nullable(v.string()),
    updated_at: v.nullable(v.number()),
    duplicate_of: v.nullable(v.number()),
    out_of_order: v.number(),
    missing: stateList,
  }),
  v.transform(
    (row): StoredEvent => ({
      id: row.id,
      receivedAt: row.received_at,
      body: row.body,
      signature: row.signature,
      txnId: row.txn_id,
      txnState: row.txn_state,
      updatedAt: row.updated_at,
      duplicateOf: row.duplicate_of,
      outOfOrder: row.out_of_order === 1,
      missing: row.missing,
    }),
  ),
);

const eventsSchema = v.array(eventSchema);
const earlierSchema = v.array(v.object({ id: v.number(), txnState: v.string(), updatedAt: v.number() }));
const waitingSchema = v.array(v.object({ eventId: v.number(), lane: v.string() }));
const backlogSchema = v.array(v.object({ consumer: v.string(), count: v.number() }));
const unfinishedSchema = v.array(v.object({ txnId: v.string(), txnState: v.string() }));
const lastSchema = v.object({ id: v.number() });

/** No transaction of the specification has more states than this; what comes on top are repetitions. */
const earlierLimit = 32;
const rowsAtOnce = 200;
/** The index of transactions is written all over the file: the longer that waits, the less often. */
const checkpointPages = 8_000;

/** Throws Failure `usage` when the file is damaged, from a newer version, or cannot be written. */
export function openEventStore(path: string): EventStore {
  const db = openSqlite({ path, name: 'The event store', schema, synchronous: 'normal', checkpointPages });
  const statements = prepare(db);
  const log = openLog(path);
  const after = (id: number, limit: number): StoredEvent[] => v.parse(eventsSchema, statements.after.all(id, limit));
  return {
    async append(events, consumers, placing) {
      const stored = inTransaction(db, () => events.map((event) => add(statements, event, consumers, placing)));
      await log.sync();
      return stored;
    },
    after,
    read: (id) => {
      const row: unknown = statements.read.get(id);
      return row === undefined ? undefined : v.parse(eventSchema, row);
    },
    ofTransaction: (txnId) => v.parse(eventsSchema, statements.ofTransaction.all(txnId)),
    *since(receivedAt) {
      let last = 0;
      for (;;) {
        const rows = v.parse(eventsSchema, statements.since.all(receivedAt, last, rowsAtOnce));
        yield* rows;
        last = rows.at(-1)?.id ?? last;
        if (rows.length < rowsAtOnce) return;
      }
    },
    lastId: () => v.parse(lastSchema, statements.lastId.get()).id,
    unfinished: (receivedAt, finalStates, limit) =>
      v.parse(unfinishedSchema, statements.unfinished.all(receivedAt, JSON.stringify(finalStates), limit)),
    waiting: (consumer, afterId, limit) => v.parse(waitingSchema, statements.waiting.all(consumer, afterId, limit)),
    backlog: () => v.parse(backlogSchema, statements.backlog.all()),
    settle: (consumer, eventIds) =>
      inTransaction(db, () => {
        for (const id of eventIds) statements.settle.run(consumer, id);
      }),
    prune(receivedBefore) {
      const oldest = v.parse(v.nullish(v.object({ receivedAt: v.number() })), statements.oldest.get());
      if (oldest != null && oldest.receivedAt < receivedBefore) statements.prune.run(receivedBefore);
    },
    close: () => {
      log.close();
      closeSqlite(db);
    },
  };
}

/**
 * The write-ahead log of a database, where a commit is written before anywhere else. Syncing it here, off the main
 * thread, makes the commit durable while the next deliveries are received already. SQLite takes no lock on this file,
 * so opening it a second time disturbs none.
 */
function openLog(path: string) {
  let file: number | undefined;
  let before: Promise<unknown> = Promise.resolve();
  return {
    sync(): Promise<unknown> {
      file ??= openSync(`${path}-wal`, 'r');
      const both = Promise.all([before, sync(file)]);
      // One that fails is its own caller's to hear of.
      before = both.catch(() => undefined);
      return both;
    },
    close: (): void => {
      if (file !== undefined) closeSync(file);
    },
  };
}

const sync = promisify(fdatasync);

type Statements = ReturnType<typeof prepare>;

function prepare(db: Database.Database) {
  return {
    insert: db.prepare(
      `INSERT INTO events
         (received_at, body, signature, txn_id, txn_state, updated_at, duplicate_of, out_of_order, missing)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    known: db.prepare('SELECT 1 FROM events WHERE txn_id = ? LIMIT 1'),
    earlier: db.prepare(
      `SELECT id, txn_state AS txnState, updated_at AS updatedAt FROM events
       WHERE txn_id = ? AND updated_at IS NOT NULL AND duplicate_of IS NULL ORDER BY updated_at DESC, id LIMIT ${earlierLimit}`,
    ),
    queue: db.prepare('INSERT INTO backlog (consumer, event_id, lane) VALUES (?, ?, ?)'),
    after: db.prepare('SELECT * FROM events WHERE id > ? ORDER BY id LIMIT ?'),
    read: db.prepare('SELECT * FROM events WHERE id = ?'),
    ofTransaction: db.prepare('SELECT * FROM events WHERE txn_id = ? ORDER BY id'),
    since: db.prepare('SELECT * FROM events WHERE received_at >= ? AND id > ? ORDER BY id LIMIT ?'),
    lastId: db.prepare('SELECT coalesce(max(id), 0) AS id FROM events'),
    unfinished: db.prepare(
      `SELECT txn_id AS txnId, txn_state AS txnState FROM events AS latest
       WHERE received_at >= ? AND txn_id IS NOT NULL AND id = (
         SELECT id FROM events WHERE txn_id = latest.txn_id ORDER BY updated_at DESC, id DESC LIMIT 1
       ) AND txn_state NOT IN (SELECT value FROM json_each(?))
       ORDER BY id DESC LIMIT ?`,
    ),
    waiting: db.prepare(
      'SELECT event_id AS eventId, lane FROM backlog WHERE consumer = ? AND event_id > ? ORDER BY event_id LIMIT ?',
    ),
    backlog: db.prepare('SELECT consumer, count(*) AS count FROM backlog GROUP BY consumer'),
    settle: db.prepare('DELETE FROM backlog WHERE consumer = ? AND event_id = ?'),
    oldest: db.prepare('SELECT received_at AS receivedAt FROM events ORDER BY id LIMIT 1'),
    // The newest event stays, so that no id is ever given twice.
    prune: db.prepare(
      `DELETE FROM events WHERE received_at < ? AND id < (SELECT max(id) FROM events)
       AND id NOT IN (SELECT event_id FROM backlog)`,
    ),
  };
}

function earlierOf({ known, earlier }: Statements, { txnId }: ReceivedEvent): EarlierEvent[] {
  if (txnId === null || known.get(txnId) === undefined) return [];
  return v.parse(earlierSchema, earlier.all(txnId));
}

function add(
  statements: Statements,
  event: ReceivedEvent,
  consumers: readonly string[],
  placing: Placing,
): StoredEvent {
  const place = placing(event, earlierOf(statements, event));
  const { lastInsertRowid } = statements.insert.run(
    event.receivedAt,
    event.body,
    event.signature,
    event.txnId,
    event.txnState,
    event.updatedAt,
    place.duplicateOf,
    place.outOfOrder ? 1 : 0,
    place.missing.join(','),
  );
  const id = Number(lastInsertRowid);
  for (const consumer of consumers) statements.queue.run(consumer, id, event.txnId ?? '');
  return Object.assign({ id }, event, place);
}
